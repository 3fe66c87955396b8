import { EngineError, type Moved } from '../errors.ts';

const namedPaths = 10;

/** A resolution is for other versions than those that meet now. */
export function movedPaths(paths: readonly string[]): EngineError {
  const more = paths.length > 1 ? ` and ${paths.length - 1} more` : '';
  return moved(`the conflict at "${paths[0] ?? ''}"${more} is another one now: look at it again`, {
    paths: paths.slice(0, namedPaths),
  });
}

/** Refuses a side that is not where the caller saw it. */
export function checkStands(
  side: 'source' | 'destination',
  expected: string | undefined,
  actual: string,
): void {
  if (expected === undefined || expected === actual) return;
  throw moved(`the ${side} moved to ${actual}: look at the conflicts again`, {
    [side]: { expected, actual },
  });
}

function moved(message: string, facts: Moved): EngineError {
  return new EngineError('precondition_failed', message, { subject: 'branch', facts: { moved: facts } });
}
