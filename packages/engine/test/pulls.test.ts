import { expect, test } from 'vitest';
import type { KvStore } from '@svc/kv';
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

test('case 39: a pull request is created, listed newest first, closed, reopened and merged', async () => {
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
  // [fix] listed items are complete.
  expect((await engine.pulls.list({ repository })).items[1]).toMatchObject({
    description: 'd',
    author: 'tester',
  });

  await engine.pulls.update({ repository, id: second.id, status: 'closed', title: 'new' });
  expect(await list('open')).toEqual([first.id]);
  expect(await list('closed')).toEqual([second.id]);
  expect((await engine.pulls.get({ repository, id: second.id })).closedDate).toBeDefined();
  // [fix] reopening clears the closing date.
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

test('[fix] a merge whose record was lost completes the pull request on the next call', async () => {
  const { world, repository, open } = await withBranches();
  const { id } = await open();
  let failing = true;
  const engine = world.engine({
    wrapKv: (kv): KvStore =>
      new Proxy(kv, {
        get(target, name) {
          if (name !== 'setIf') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
          return (partition: Uint8Array, key: Uint8Array, ...rest: [Uint8Array, never]) => {
            if (failing && Buffer.from(key).toString().startsWith('pulls/'))
              throw new Error('the store is gone');
            return target.setIf(partition, key, ...rest);
          };
        },
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
