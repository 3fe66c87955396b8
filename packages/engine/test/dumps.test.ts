import { commitMessage } from '@svc/encoding';
import { waitUntil } from '@svc/testing';
import { expect, test, vi } from 'vitest';
import { commitDump } from '../src/dump/dump-schemas.ts';
import { PageRecords } from '../src/dump/page-records.ts';
import type { Engine } from '../src/engine.ts';
import { actor, commit, contents, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';
import { HoldableTrees } from './holdable-trees.ts';

let restored = 0;
const trusted = { mayUseEveryAddress: () => true };

/** A bare repository on the namespace of one that was deleted, as a restore needs it. */
async function bareOnSameNamespace(engine: Engine, repository: string): Promise<string> {
  const { storageNamespace } = await engine.repositories.get(repository);
  await engine.repositories.delete({ repository, actor });
  restored += 1;
  const name = `restored-${restored}`;
  await engine.repositories.create({
    name,
    storageNamespace,
    bare: true,
    actor,
    mayReadRepository: () => true,
  });
  return name;
}

async function withHistory() {
  const trees = new HoldableTrees();
  const world = createWorld(trees);
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const first = await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'b', '2');
  const head = await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'hidden', source: first, hidden: true, actor });
  await engine.tags.create({ repository, id: 'v1', ref: first, actor });
  await put(engine, repository, 'main', 'staged', 'x');
  return { world, trees, engine, repository, first, head };
}

test('refs are dumped, restored into a bare repository and read as before', async () => {
  const { world, engine, repository, first, head } = await withHistory();
  const manifest = await engine.dumps.dump(repository);
  const { storageNamespace, metadataPrefix } = await engine.repositories.get(repository);
  const stored = await world.adapter.get({
    storageNamespace,
    identifier: `${metadataPrefix}/refs_manifest.json`,
    identifierType: 'relative',
  });
  expect(stored.bytes?.toString()).toBe(
    `{\n  "branches_meta_range_id": "${manifest.branchesMetaRangeId}",\n  "commits_meta_range_id": "${manifest.commitsMetaRangeId}",\n  "tags_meta_range_id": "${manifest.tagsMetaRangeId}"\n}`,
  );

  const target = await bareOnSameNamespace(engine, repository);
  await engine.dumps.restore({ actor, repository: target, manifest, ...trusted });
  expect((await engine.branches.get({ repository: target, branch: 'main' })).commitId).toBe(head);
  // Hidden branches stay hidden.
  expect((await engine.branches.get({ repository: target, branch: 'hidden' })).hidden).toBe(true);
  expect((await engine.tags.get({ repository: target, id: 'v1' })).commitId).toBe(first);
  expect(await contents(engine, target, 'main')).toEqual({ a: '1', b: '2' });
  expect(
    await refusal(engine.dumps.restore({ actor, repository: target, manifest, ...trusted })),
  ).toMatchObject({
    kind: 'invalid',
    message: 'can only restore into a bare repository',
  });
});

test('the asynchronous forms report their result, and only their own task ids', async () => {
  const { engine, repository, head } = await withHistory();
  const dumpTask = await engine.dumps.submitDump(repository);
  expect(dumpTask).toMatch(/^DR[A-Za-z0-9_-]{20}$/);
  const dumped = await waitUntil(async () => {
    const status = await engine.dumps.dumpStatus({ repository, taskId: dumpTask });
    return status.done && status;
  });
  expect(dumped.error).toBeUndefined();
  expect(await refusalKind(engine.dumps.restoreStatus({ repository, taskId: dumpTask }))).toBe('not_found');
  expect(await refusalKind(engine.dumps.dumpStatus({ repository, taskId: 'invalid' }))).toBe('not_found');

  const target = await bareOnSameNamespace(engine, repository);
  const restoreTask = await engine.dumps.submitRestore({
    actor,
    repository: target,
    manifest: dumped.refs!,
    ...trusted,
  });
  await waitUntil(
    async () => (await engine.dumps.restoreStatus({ repository: target, taskId: restoreTask })).done,
  );
  expect((await engine.branches.get({ repository: target, branch: 'main' })).commitId).toBe(head);
});

test('a task whose owner is gone is reported done with an error', async () => {
  const { world, trees, engine, repository } = await withHistory();
  trees.hold();
  const taskId = await engine.dumps.submitDump(repository);
  expect((await engine.dumps.dumpStatus({ repository, taskId })).done).toBe(false);
  world.now += 31_000;
  expect(await world.engine().dumps.dumpStatus({ repository, taskId })).toMatchObject({
    done: true,
    error: 'Task owner instance no longer available. Please retry.',
  });
  trees.release();
  await engine.close();
});

test('a server that stops does not wait for a task for ever', async () => {
  const { trees, engine, repository } = await withHistory();
  trees.hold();
  await engine.dumps.submitDump(repository);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    let isClosed = false;
    const closed = engine.close().then(() => (isClosed = true));
    await vi.advanceTimersByTimeAsync(19_000);
    expect(isClosed).toBe(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(isClosed).toBe(true);
    await closed;
  } finally {
    vi.useRealTimers();
    trees.release();
  }
});

test('asynchronous operations are told when they start, how they end and when nobody finished them', async () => {
  const { world, trees, repository } = await withHistory();
  const told: string[] = [];
  const tasks = {
    started: (operation: string) => told.push(`${operation} started`),
    ended: (operation: string, outcome: string, seconds: number) => {
      expect(seconds).toBeGreaterThanOrEqual(0);
      told.push(`${operation} ${outcome}`);
    },
    expired: (operation: string) => told.push(`${operation} expired`),
  };
  const engine = world.engine({ taskObserver: tasks });
  await engine.dumps.submitDump(repository);
  await engine.close();
  expect(told.splice(0)).toEqual(['dump_refs started', 'dump_refs success']);

  const bare = await bareOnSameNamespace(engine, repository);
  const none = 'f'.repeat(64);
  const ids = { branchesMetaRangeId: none, commitsMetaRangeId: none, tagsMetaRangeId: none };
  await engine.dumps.submitRestore({ actor, repository: bare, manifest: ids });
  await engine.close();
  expect(told.splice(0)).toEqual(['restore_refs started', 'restore_refs failure']);

  const other = await newRepository(engine);
  trees.hold();
  const dying = world.engine({ taskObserver: tasks });
  await dying.dumps.submitDump(other);
  world.now += 25 * 3_600_000;
  await engine.tasks.removeExpired();
  expect(told.splice(0)).toEqual(['dump_refs started', 'dump_refs expired']);
  trees.release();
  await dying.close();
});

test('an altered commit record and an unknown tree are refused', async () => {
  const { world, engine, repository, head } = await withHistory();
  const manifest = await engine.dumps.dump(repository);
  const original = await engine.commits.get({ repository, ref: head });
  const { storageId, storageNamespace, metadataPrefix } = await engine.repositories.get(repository);
  const altered = { ...original, message: 'altered' };
  const { metaRangeId } = await world.trees.write(
    { storageId, storageNamespace, metadataPrefix },
    new PageRecords(
      (async function* () {
        yield [{ key: Buffer.from(head), identity: Buffer.from(head), data: commitMessage.encode(altered) }];
      })(),
    ),
    commitDump,
  );
  const target = await bareOnSameNamespace(engine, repository);
  const restore = (more: object) =>
    engine.dumps.restore({ actor, repository: target, manifest: { ...manifest, ...more }, ...trusted });
  expect((await refusal(restore({ commitsMetaRangeId: metaRangeId }))).message).toContain(
    'invalid commit id',
  );
  expect(await refusal(restore({ commitsMetaRangeId: 'f'.repeat(64) }))).toMatchObject({
    kind: 'data_gone',
    message: 'No data',
  });
  await restore({ tagsMetaRangeId: '' });
});
