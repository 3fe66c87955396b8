import { compileGlob, PatternError } from '@svc/patterns';

/** The rules that protect a branch, matched as the server matches them. */
export function rulesFor(branch: string, patterns: readonly string[]): string[] {
  return patterns.filter((pattern) => matches(pattern, branch));
}

function matches(pattern: string, branch: string): boolean {
  try {
    return compileGlob(pattern).test(branch);
  } catch (error) {
    // This server refuses such a rule, but an older one may have stored it.
    if (error instanceof PatternError) return false;
    throw error;
  }
}
