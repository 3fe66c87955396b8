import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('screens are styled by classes: what is computed is computed in the kit', () => {
  const root = join(import.meta.dirname, '..');
  const files = globSync('features/**/*.tsx', { cwd: root });
  expect(files.length).toBeGreaterThan(50);
  const inline = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\sstyle=\{(.*)/g)].map(
      ([, text]) => `${file}: ${text}`,
    ),
  );
  expect(inline).toEqual([
    // The depth of a folder, from which the style sheet computes its indentation.
    "features/changes/diff-tree.tsx: { '--depth': depth } as CSSProperties}",
  ]);
});
