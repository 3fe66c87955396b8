import { branchMessage } from '@svc/encoding';
import { createMemStore } from '@svc/kv';
import { expect, test } from 'vitest';
import type { MoveLog } from '../moves/move-log.ts';
import { BranchStore } from './branch-store.ts';
import { branchKey } from './keys.ts';
import type { RepositoryScope } from './scope.ts';

test('a branch that is remembered keeps no memory but its own', async () => {
  const kv = createMemStore();
  const scope = {
    partition: Buffer.from('repository'),
    repository: { instanceUid: 'uid' },
  } as unknown as RepositoryScope;
  const data = {
    id: 'main',
    commitId: 'a'.repeat(64),
    stagingToken: 'token',
    sealedTokens: ['sealed'],
    hidden: false,
    lastMove: Buffer.alloc(16, 1),
  };
  await kv.set(scope.partition, branchKey('main'), branchMessage.encode(data));
  const head = await new BranchStore(kv, {} as MoveLog, 0).find(scope, 'main');
  const kept = [head?.key, head?.raw, head?.data.lastMove, ...(head?.tokens ?? [])];
  expect(kept).toHaveLength(5);
  for (const bytes of kept) expect(bytes?.buffer.byteLength).toBe(bytes?.length);
});
