import { EngineError } from '../../errors.ts';
import { loadedShards } from './find-garbage.ts';
import type { Marks } from './marks.ts';

/** With what threads remember of ranges. */
const baseBytes = 96 * 1024 ** 2;
/** What is remembered of each, with its id. */
const bytesOfCommit = 200;
const bytesOfRange = 300;

export interface Needs {
  readonly commits: number;
  readonly ranges: number;
  readonly marks: Pick<Marks, 'largestSet'>;
}

/** Rather no run than one that takes the server's memory. */
export function checkMemory(most: number, { commits, ranges, marks }: Needs): void {
  const needed =
    baseBytes + loadedShards * marks.largestSet + commits * bytesOfCommit + ranges * bytesOfRange;
  if (needed <= most) return;
  throw new EngineError(
    'conflict',
    `needs more than gc.memory_bytes (${most}) for ${commits} commits and ${ranges} ranges`,
    { subject: 'repository' },
  );
}
