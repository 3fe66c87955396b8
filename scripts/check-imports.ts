// Runs the import rules over every source file of the packages.
import { findBrokenImports } from '../packages/testing/src/import-rules.ts';
import { readSources } from './sources.ts';

const files = readSources('packages');
const problems = findBrokenImports(files);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${files.length} files follow the import rules`);
