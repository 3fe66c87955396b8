import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const pages = [
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('*.md', { cwd: root }),
  ...globSync('{deploy,bench,packages/*}/README.md', { cwd: root }),
];

/** What stands in code is no link. */
function proseOf(page: string): string {
  return readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$|`[^`\n]*`(?!\])/gms, '');
}

/** The anchors of a page, made of its headings as GitHub and the site make them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  return new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each(pages)('links lead somewhere: %s', (page) => {
  const dead = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^(https?|mailto):/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#', 2);
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, file))) return true;
      if (anchor === undefined) return false;
      const target = statSync(join(root, file)).isDirectory() ? join(file, 'README.md') : file;
      return target.endsWith('.md') && !anchorsOf(target).has(anchor);
    });
  expect(dead).toEqual([]);
});
