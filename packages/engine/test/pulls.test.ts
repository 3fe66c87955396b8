import { repositoryMessage } from '@svc/encoding';
import { createMemStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { watched } from './failing-store.ts';
import { actor, commit, contents, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';

async function withBranches() {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'b', '2');
  const devHead = await commit(engine, repository, 'dev');
  const open = (more: object = {}) =>
    engine.pulls.create({
      repository,
      title: 't',
      description: 'd',
      source: 'dev',
      destination: 'main',
      actor,
      ...more,
    });
  return { world, engine, repository, devHead, open };
}

test('a pull request is created, listed newest first, closed, reopened and merged', async () => {
  const { world, engine, repository, devHead, open } = await withBranches();
  expect(await refusal(open({ destination: 'dev' }))).toMatchObject({
    kind: 'invalid',
    message: expect.stringContaining('same branch') as string,
  });
  expect(await refusal(open({ source: 'gone' }))).toMatchObject({
    kind: 'not_found',
    message: 'branch not found',
  });
  expect(await refusalKind(open({ source: 'a b' }))).toBe('invalid');
  expect(await refusalKind(open({ source: '' }))).toBe('invalid');

  const first = await open();
  world.now += 5000;
  const second = await open({ title: '' });
  const list = async (status?: 'open' | 'closed' | 'all') =>
    (await engine.pulls.list({ repository, status })).items.map((pull) => pull.id);
  expect(await list()).toEqual([second.id, first.id]);
  // Listed items are complete.
  expect((await engine.pulls.list({ repository })).items[1]).toMatchObject({
    description: 'd',
    author: 'tester',
  });

  await engine.pulls.update({ repository, id: second.id, status: 'closed', title: 'new' });
  expect(await list('open')).toEqual([first.id]);
  expect(await list('closed')).toEqual([second.id]);
  expect((await engine.pulls.get({ repository, id: second.id })).closedDate).toBeDefined();
  // Reopening clears the closing date.
  const reopened = await engine.pulls.update({ repository, id: second.id, status: 'open' });
  expect(reopened).toMatchObject({ status: 'open', closedDate: undefined, title: 'new' });
  expect(await refusalKind(engine.pulls.update({ repository, id: second.id, status: 'done' }))).toBe(
    'invalid',
  );

  const merged = await engine.pulls.merge({ repository, id: first.id, actor });
  expect(merged.parents[1]).toBe(devHead);
  expect(await engine.pulls.get({ repository, id: first.id })).toMatchObject({
    status: 'merged',
    mergedCommitId: merged.id,
  });
  expect(await contents(engine, repository, 'main')).toEqual({ a: '1', b: '2' });
  expect(await refusal(engine.pulls.merge({ repository, id: first.id, actor }))).toMatchObject({
    kind: 'invalid',
    message: 'bad pull request status',
  });
  expect(await refusalKind(engine.pulls.get({ repository, id: 'nonsense' }))).toBe('invalid');
  expect(await refusal(engine.pulls.get({ repository, id: '9m4e2mr0ui3e8a215n4g' }))).toMatchObject({
    kind: 'not_found',
    message: 'pull request not found',
  });
});

test('a conflict leaves the pull request open', async () => {
  const { engine, repository, open } = await withBranches();
  await put(engine, repository, 'main', 'b', 'other');
  await commit(engine, repository, 'main');
  const { id } = await open();
  expect(await refusal(engine.pulls.merge({ repository, id, actor }))).toMatchObject({
    kind: 'conflict',
    message: 'update branch main: conflict found',
  });
  expect((await engine.pulls.get({ repository, id })).status).toBe('open');
});

test('a merge whose record was lost completes the pull request on the next call', async () => {
  const { world, repository, open } = await withBranches();
  const { id } = await open();
  let failing = true;
  const engine = world.engine({
    wrapKv: (kv) =>
      watched(kv, ({ key, method }) => {
        if (failing && method === 'change' && key.startsWith('pulls/')) throw new Error('the store is gone');
      }),
  });
  await expect(engine.pulls.merge({ repository, id, actor })).rejects.toThrow('the store is gone');
  expect((await engine.pulls.get({ repository, id })).status).toBe('open');
  failing = false;
  const merged = await engine.pulls.merge({ repository, id, actor });
  expect(await engine.pulls.get({ repository, id })).toMatchObject({
    status: 'merged',
    mergedCommitId: merged.id,
  });
  const log = await engine.commits.log({ repository, ref: 'main', firstParent: true });
  expect(log.items.filter((item) => item.parents.length > 1)).toHaveLength(1);
});

test.each([{ squash: true }, { force: true }, { squash: true, force: true }])(
  'a merge with %o whose record was lost is completed, not made again',
  async (options) => {
    const { world, repository, open } = await withBranches();
    const { id } = await open();
    let failing = true;
    const engine = world.engine({
      wrapKv: (kv) =>
        watched(kv, ({ key, method }) => {
          if (failing && method === 'change' && key.startsWith('pulls/'))
            throw new Error('the store is gone');
        }),
    });
    await expect(engine.pulls.merge({ repository, id, actor, ...options })).rejects.toThrow('gone');
    const { commitId: head } = await engine.branches.get({ repository, branch: 'main' });
    // What somebody commits since, with a date of long ago, does not hide it.
    await put(engine, repository, 'main', 'since', '1');
    await engine.commits.create({ repository, branch: 'main', message: 'old', date: 1000, actor });
    failing = false;
    const merged = await engine.pulls.merge({ repository, id, actor, ...options });
    expect(merged.id).toBe(head);
    const dev = await engine.branches.get({ repository, branch: 'dev' });
    expect(merged.metadata['.svc.pull.source']).toBe(options.squash === true ? dev.commitId : undefined);
    expect(await engine.pulls.get({ repository, id })).toMatchObject({
      status: 'merged',
      mergedCommitId: head,
    });
    expect(await contents(engine, repository, 'main')).toEqual({ a: '1', b: '2', since: '1' });
  },
);

test('a pull request is merged into a read-only repository only by force', async () => {
  const { world, engine, repository, open } = await withBranches();
  const { id } = await open();
  const kv = createMemStore(world.state);
  const [partition, key] = [Buffer.from('graveler'), Buffer.from(`repos/${repository}`)];
  const record = repositoryMessage.decode((await kv.get(partition, key))!.value);
  await kv.set(partition, key, repositoryMessage.encode({ ...record, readOnly: true }));
  const other = world.engine();
  expect(await refusalKind(other.pulls.merge({ repository, id, actor }))).toBe('read_only');
  const merged = await other.pulls.merge({ repository, id, actor, force: true });
  expect((await engine.pulls.get({ repository, id })).mergedCommitId).toBe(merged.id);
});
