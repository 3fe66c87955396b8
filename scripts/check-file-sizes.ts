// No file that is written by hand is longer than one thing needs.
import { findLongFiles } from '../packages/testing/src/file-sizes.ts';
import { readSources } from './sources.ts';

const files = ['packages', 'bench', 'scripts'].flatMap((folder) => readSources(folder));
const problems = findLongFiles(files);
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log(`${files.length} files are short enough`);
