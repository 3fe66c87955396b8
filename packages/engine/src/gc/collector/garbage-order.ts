import type { FoundGarbage } from './find-garbage.ts';

/** Both come in the order of their addresses; so does what comes out. */
export async function* inOrder(
  stored: AsyncIterable<FoundGarbage>,
  commits: readonly FoundGarbage[],
): AsyncGenerator<FoundGarbage> {
  let next = 0;
  for await (const found of stored) {
    for (let commit = commits[next]; commit !== undefined; commit = commits[next]) {
      if (Buffer.compare(Buffer.from(commit.address), Buffer.from(found.address)) > 0) break;
      yield commit;
      next += 1;
    }
    yield found;
  }
  yield* commits.slice(next);
}
