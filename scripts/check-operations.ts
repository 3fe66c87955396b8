// No protocol decides by the name of an operation: what sets an operation apart is a fact of the operation.
import { operations } from '../packages/contract/src/operations.ts';
import { findDecisionsByName } from '../packages/testing/src/operation-rules.ts';
import { readSources } from './sources.ts';

const problems = findDecisionsByName(readSources('packages'), Object.keys(operations));
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
console.log('no protocol decides by the name of an operation');
