import { compareTimestamps } from '@svc/encoding';
import type { Commit } from '../face/model.ts';
import { Heap } from './heap.ts';

/** Commits of which the one furthest from the root comes first, so that none comes before its children. */
export function commitsByGeneration(...commits: readonly Commit[]): Heap<Commit> {
  const queue = new Heap<Commit>(
    (a, b) =>
      a.generation > b.generation ||
      (a.generation === b.generation && compareTimestamps(a.creationDate, b.creationDate) > 0),
  );
  for (const commit of commits) queue.push(commit);
  return queue;
}
