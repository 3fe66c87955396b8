import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceFile } from '../packages/testing/src/import-rules.ts';

export const root: string = join(import.meta.dirname, '..');

/** Folders of everything that has a package.json of its own. */
export function packageFolders(): string[] {
  return [...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`), 'bench'];
}

/** Every TypeScript file below a folder of the repository, with its path from the root. */
export function readSources(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    if (entry.isDirectory()) return readSources(path);
    return /\.tsx?$/.test(entry.name) ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
  });
}
