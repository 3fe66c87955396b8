import { createMemStore, KvError } from '@svc/kv';
import { expect, test } from 'vitest';
import { actor, commit, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';

test('locations of metadata files; whatever is no id is refused', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const id = 'a'.repeat(64);
  expect(await engine.metadata.location({ repository, type: 'range', id })).toBe(`_svc/${id}`);
  expect(await refusalKind(engine.metadata.open({ repository, type: 'range', id }))).toBe('data_gone');
  for (const bad of [
    '../x',
    'a/b',
    'a\\b',
    '..',
    '',
    'dummy',
    'refs_manifest.json',
    'A'.repeat(64),
    `${'a'.repeat(64)}\n`,
  ]) {
    expect(await refusalKind(engine.metadata.location({ repository, type: 'meta_range', id: bad }))).toBe(
      'invalid',
    );
  }
  const pointer = {
    storageNamespace: `mem://bucket/${repository}`,
    identifier: `_svc/${id}`,
    identifierType: 'relative',
  } as const;
  await world.adapter.put(pointer, Buffer.from('table'));
  expect((await engine.metadata.open({ repository, type: 'meta_range', id })).size).toBe(5);
});

test('usage counts months per installation and survives servers flushing at once', async () => {
  const world = createWorld();
  world.now = Date.UTC(2026, 10, 15);
  const installationId = () => Promise.resolve('inst');
  const engines = [
    world.engine({ settings: { installationId } }),
    world.engine({ settings: { installationId } }),
  ];
  for (const engine of engines) engine.usage.record(3);
  await Promise.all(engines.map((engine) => engine.usage.flush()));
  world.now = Date.UTC(2026, 11, 1);
  engines[0]!.usage.record();
  await engines[0]!.usage.flush();
  expect(await engines[1]!.usage.reports()).toEqual([
    { year: 2026, month: 11, count: 6 },
    { year: 2026, month: 12, count: 1 },
  ]);
  expect((await refusal(world.engine().usage.reports())).message).toBe('installation not found');
});

test('the error of a throttled store passes as it is; a branch that never stops moving is busy', async () => {
  const world = createWorld();
  const repository = await newRepository(world.engine());
  const throttled = world.engine({
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) =>
          name === 'get'
            ? () => Promise.reject(new KvError('slow_down', 'throttled'))
            : (Reflect.get(target, name) as () => unknown).bind(target),
      }),
  });
  await expect(throttled.branches.get({ repository, branch: 'main' })).rejects.toThrow(KvError);
  const retries: string[] = [];
  const losing = world.engine({
    onRetry: (operation) => retries.push(operation),
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) =>
          name === 'change'
            ? () => Promise.resolve(false)
            : (Reflect.get(target, name) as () => unknown).bind(target),
      }),
  });
  // Lost races are retried and end as "try again later", not as a failure.
  const reset = losing.branches.reset({ repository, branch: 'main', type: 'reset' });
  expect(await refusal(reset)).toMatchObject({ kind: 'busy', message: 'Too many attempts, try again later' });
  expect(retries.length).toBe(10);
});

test('records of a namesake created again are not seen through caches: they are keyed by instance', async () => {
  const world = createWorld();
  const [left, right] = [world.engine(), world.engine()];
  const create = (ns: string) =>
    left.repositories.create({ name: 'again', storageNamespace: `mem://again/${ns}`, actor });
  await create('1');
  await put(left, 'again', 'main', 'a', '1');
  const id = await commit(left, 'again', 'main');
  await left.protection.set({ repository: 'again', patterns: ['main'] });
  expect((await right.commits.get({ repository: 'again', ref: id })).id).toBe(id);
  expect(await refusalKind(put(right, 'again', 'main', 'b', '1'))).toBe('protected');
  await left.repositories.delete({ repository: 'again', actor });
  await create('2');
  expect(await refusalKind(left.commits.get({ repository: 'again', ref: id }))).toBe('not_found');
  await put(left, 'again', 'main', 'b', '1');
});

test('F9: a rule set on one worker is in force on the next request of its sibling', async () => {
  const world = createWorld();
  const { LocalCacheBus } = await import('@svc/kv');
  const cacheBus = new LocalCacheBus();
  const [one, two] = [world.engine({ cacheBus }), world.engine({ cacheBus })];
  const repository = await newRepository(one);
  await put(two, repository, 'main', 'a', '1');
  await one.protection.set({ repository, patterns: ['main'] });
  expect(await refusalKind(put(two, repository, 'main', 'a', '2'))).toBe('protected');
});

test('a crash between seal and commit leaves everything staged for the next commit', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const dying = world.engine({
    trees: new Proxy(world.trees, {
      get: (target, name) =>
        name === 'apply'
          ? () => Promise.reject(new Error('died'))
          : (Reflect.get(target, name) as () => unknown).bind(target),
    }),
  });
  await expect(commit(dying, repository, 'main')).rejects.toThrow('died');
  const page = await engine.objects.list({ repository, ref: 'main' });
  expect(page.count).toBe(1);
  await put(engine, repository, 'main', 'b', '1');
  await commit(engine, repository, 'main');
  expect((await engine.objects.list({ repository, ref: 'main@' })).count).toBe(2);
});

test('a reader that holds an old branch record finds an object whose token was dropped and cleaned', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const kv = createMemStore(world.state);
  let interrupted = false;
  const reader = world.engine({
    wrapKv: (store) =>
      new Proxy(store, {
        get: (target, name) => {
          if (name !== 'get') return (Reflect.get(target, name) as () => unknown).bind(target);
          return async (partition: Uint8Array, key: Uint8Array) => {
            if (Buffer.from(partition).includes(':') && !interrupted) {
              interrupted = true;
              await commit(engine, repository, 'main');
              // Worse than the grace allows: the entries are gone before the reader looks.
              await kv.delete(partition, key);
            }
            return target.get(partition, key);
          };
        },
      }),
  });
  expect((await reader.objects.stat({ repository, ref: 'main', path: 'a' })).size).toBe(1);
  expect(interrupted).toBe(true);
});

test('unreadable action files do not keep a branch: a forced delete goes on', async () => {
  const world = createWorld();
  const engine = world.engine({
    hooks: {
      after: () => undefined,
      isUnreadable: () => true,
      before: (event) =>
        event.type === 'pre-delete-branch'
          ? Promise.reject(new Error('unreadable'))
          : Promise.resolve(undefined),
    },
  });
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const remove = (force: boolean) => engine.branches.delete({ repository, branch: 'dev', force, actor });
  await expect(remove(false)).rejects.toThrow('unreadable');
  await remove(true);
});
