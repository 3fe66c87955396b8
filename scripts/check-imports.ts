// Runs the import rules over every source file of the packages.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { findBrokenImports, type SourceFile } from '../packages/testing/src/import-rules.ts';

function readSources(folder: string, root: string, into: SourceFile[]): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) readSources(path, root, into);
    else if (/\.tsx?$/.test(entry.name))
      into.push({ path: relative(root, path), text: readFileSync(path, 'utf8') });
  }
}

const root = join(import.meta.dirname, '..');
const files: SourceFile[] = [];
readSources(join(root, 'packages'), root, files);
const problems = findBrokenImports(files);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${files.length} files follow the import rules`);
