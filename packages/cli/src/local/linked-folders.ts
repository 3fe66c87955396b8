import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasIndex } from './folder-index.ts';

/** Linked folders below a start, itself included; neither hidden folders nor linked ones are entered. */
export function* linkedFolders(start: string): Generator<string> {
  const folder = resolve(start);
  if (hasIndex(folder)) {
    yield folder;
    return;
  }
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.'),
  );
  for (const { name } of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    yield* linkedFolders(join(folder, name));
  }
}
