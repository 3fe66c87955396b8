import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..');
const library = dirname(createRequire(import.meta.url).resolve('@mantine/core/styles.css'));

/** The components that our sources import. */
function importedComponents(): string[] {
  const names = new Set<string>();
  for (const path of readdirSync(src, { recursive: true, encoding: 'utf8' })) {
    if (!/\.tsx?$/.test(path)) continue;
    for (const [, list = ''] of readFileSync(join(src, path), 'utf8').matchAll(
      /import \{([^}]*)\} from '@mantine\/(?:core|spotlight|notifications)'/g,
    )) {
      for (const name of list.split(',')) names.add(name.trim().split(' ')[0] ?? '');
    }
  }
  return [...names];
}

/** The style files of a module and of everything it is built of. */
function stylesOf(file: string, seen: Set<string>, styles: Set<string>): void {
  if (seen.has(file) || !existsSync(file)) return;
  seen.add(file);
  const style = /([^/]+)\.module\.mjs$/.exec(file)?.[1];
  if (style !== undefined) styles.add(style);
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from "(\.[^"]+)"/g)) {
    stylesOf(join(dirname(file), path), seen, styles);
  }
}

const components = join(library, 'esm', 'components');
const filesOf = Map.groupBy(
  readdirSync(components, { recursive: true, encoding: 'utf8' }).map((path) => join(components, path)),
  (path) => basename(path),
);

test('exactly the styles of the components in use are loaded', () => {
  const styles = new Set<string>();
  const seen = new Set<string>();
  // The palette and the notices of the library are built of these.
  for (const name of [...importedComponents(), 'Highlight', 'Notification']) {
    for (const file of filesOf.get(`${name}.mjs`) ?? []) stylesOf(file, seen, styles);
  }
  const needed = [...styles].filter((name) => existsSync(join(library, 'styles', `${name}.layer.css`)));
  const main = readFileSync(join(src, 'styles', 'components.ts'), 'utf8');
  const loaded = [...main.matchAll(/@mantine\/core\/styles\/([\w-]+)\.layer\.css/g)].map(
    ([, name = '']) => name,
  );
  expect(loaded.toSorted()).toEqual([...needed, 'baseline', 'default-css-variables', 'global'].toSorted());
});
