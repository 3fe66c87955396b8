// The source files of the packages, as the rules over texts read them.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { SourceFile } from '../packages/testing/src/import-rules.ts';

/** Every TypeScript file below `packages/`; paths are relative to `root`. */
export function readSources(root: string): SourceFile[] {
  const files: SourceFile[] = [];
  readFolder(join(root, 'packages'), root, files);
  return files;
}

function readFolder(folder: string, root: string, into: SourceFile[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) readFolder(path, root, into);
    else if (/\.tsx?$/.test(entry.name))
      into.push({ path: relative(root, path), text: readFileSync(path, 'utf8') });
  }
}
