import { gcLeftMessage, timestampFromMillis, type GcLeft } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { RepositoryScope } from '../store/scope.ts';

export const leftPrefix: Buffer = Buffer.from('gc/left/');

/**
 * Notes that a branch (or a tag, when no branch is named) is about to stop pointing to a commit. Call it first: a
 * collector that lists the refs and then these notes finds every commit that always had a ref, even when a branch was
 * renamed behind the listing.
 */
export async function noteLeft(
  context: EngineContext,
  scope: RepositoryScope,
  commitId: string,
  branch = '',
): Promise<void> {
  const key = Buffer.concat([leftPrefix, Buffer.from(context.xids.next())]);
  const leftAt = timestampFromMillis(context.clock());
  await context.kv.set(scope.partition, key, gcLeftMessage.encode({ branch, commitId, leftAt }));
}

export async function* listLeft(context: EngineContext, scope: RepositoryScope): AsyncGenerator<GcLeft> {
  for await (const page of context.kv.scan(scope.partition, { prefix: leftPrefix })) {
    for (const { value } of page) yield gcLeftMessage.decode(value);
  }
}
