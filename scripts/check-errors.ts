// Runs the rule about errors over every source file of the packages.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findWordedErrors } from '../packages/testing/src/error-rules.ts';

const root = join(import.meta.dirname, '..');
const paths = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root });
const problems = findWordedErrors(
  paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${paths.length} files tell errors by class, kind or code`);
