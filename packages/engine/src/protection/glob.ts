import { compileGlob, PatternError, type Glob } from '@svc/patterns';
import { invalid } from '../context/refusals.ts';

export type BranchPattern = Glob;

/** Compiles the pattern of a rule; a malformed one is refused. */
export function compileBranchPattern(pattern: string): BranchPattern {
  try {
    return compileGlob(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw invalid(`invalid branch pattern '${pattern}': ${error.message}`, 'rules');
  }
}
