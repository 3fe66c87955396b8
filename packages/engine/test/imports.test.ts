import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { AcceptedImport, ImportPath, ImportStatus } from '../src/face/imports.ts';
import {
  actor,
  commit,
  createWorld,
  newRepository,
  paths,
  put,
  read,
  refusal,
  refusalKind,
  type World,
} from './fixture.ts';
import { HoldableTrees } from './holdable-trees.ts';

async function external(world: World, key: string, content: string): Promise<void> {
  await world.adapter.put(
    { storageNamespace: 'mem://outside', identifier: key, identifierType: 'relative' },
    Buffer.from(content),
  );
}

async function finished(engine: Engine, repository: string, id: string): Promise<ImportStatus> {
  return waitUntil(async () => {
    const status = await engine.imports.status({ repository, id });
    return (status.completed || status.error !== undefined) && status;
  });
}

async function importInto(engine: Engine, repository: string, ...list: ImportPath[]): Promise<ImportStatus> {
  const id = await engine.imports.start({ repository, branch: 'main', paths: list, actor });
  return finished(engine, repository, id);
}

const prefix = (path: string, destination: string): ImportPath => ({
  type: 'common_prefix',
  path,
  destination,
});
const object = (path: string, destination: string): ImportPath => ({ type: 'object', path, destination });

test('an import replaces exactly its destination', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  for (const path of ['col/old', 'collection/x', 'd/f1', 'd/f10'])
    await put(engine, repository, 'main', path, 'before');
  await commit(engine, repository, 'main');
  for (const name of ['one', 'sub/two']) await external(world, `data/${name}`, name);
  await external(world, 'f1', 'new f1');
  await external(world, 'f10', 'not imported');

  const status = await importInto(
    engine,
    repository,
    prefix('mem://outside/data/', 'col'),
    object('mem://outside/f1', 'd/f1'),
  );
  expect(status).toMatchObject({ completed: true, ingestedObjects: 3, error: undefined });
  expect(await paths(engine, repository, 'main')).toEqual([
    'col/one',
    'col/sub/two',
    'collection/x',
    'd/f1',
    'd/f10',
  ]);
  expect(await read(engine, repository, 'main', 'd/f1')).toBe('new f1');
  expect(await read(engine, repository, 'main', 'd/f10')).toBe('before');
  expect(await engine.commits.get({ repository, ref: 'main' })).toMatchObject({
    id: status.commit?.id,
    message: 'Import objects',
    metaRangeId: status.metaRangeId,
    metadata: { '.lakefs.merge.strategy': 'source-wins' },
  });
  const entry = await engine.objects.stat({ repository, ref: 'main', path: 'col/one' });
  expect(entry).toMatchObject({
    addressType: 'full',
    contentType: '',
    physicalAddress: 'mem://outside/data/one',
  });
  await waitUntil(async () => {
    const metadata = await engine.repositories.getMetadata(repository);
    return metadata['.lakefs.last.import.timestamp'];
  });
});

test('a source prefix is relative to its last slash, and the later of equal keys wins', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await external(world, 'pref/object', 'a');
  await external(world, 'pref/obj/x', 'b');
  await importInto(engine, repository, prefix('mem://outside/pref/obj', 'd'));
  expect(await paths(engine, repository, 'main')).toEqual(['d/obj/x', 'd/object']);
  await importInto(
    engine,
    repository,
    prefix('mem://outside/pref/', 'd'),
    object('mem://outside/pref/obj/x', 'd/object'),
  );
  expect(await read(engine, repository, 'main', 'd/object')).toBe('b');
});

test('an empty source empties its destination, and an empty destination replaces the branch', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'gone/x', '1');
  await put(engine, repository, 'main', 'kept', '1');
  await commit(engine, repository, 'main');
  await importInto(engine, repository, prefix('mem://outside/nothing/', 'gone'));
  expect(await paths(engine, repository, 'main')).toEqual(['kept']);
  await external(world, 'all/new', '2');
  await importInto(engine, repository, prefix('mem://outside/all/', ''));
  expect(await paths(engine, repository, 'main')).toEqual(['new']);
});

test('sources in or around the own namespace, and bad paths, are refused at once', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  const start = (...list: ImportPath[]) =>
    engine.imports.start({ repository, branch: 'main', paths: list, actor });
  for (const bad of [
    prefix(storageNamespace, ''),
    prefix(`${storageNamespace}/data/`, ''),
    prefix(storageNamespace.slice(0, -2), ''),
    object(`${storageNamespace}/data/x`, 'x'),
  ]) {
    const error = await refusal(start(bad));
    expect(error.kind).toBe('invalid');
    expect(error.message).toContain('invalid import source');
  }
  // A namespace that only starts like ours is another one.
  await external(world, 'x', '1');
  await start(prefix(`${storageNamespace}2/`, 'elsewhere'));
  await start(object(storageNamespace.slice(0, -2), 'truncated'));
  // An object needs a key.
  expect(await refusalKind(start(object('mem://outside/x', '')))).toBe('invalid');
  expect(
    await refusalKind(start({ type: 'folder' as 'object', path: 'mem://outside/x', destination: 'x' })),
  ).toBe('invalid');
  const paths = [prefix('mem://outside/', '')];
  expect(await refusal(engine.imports.start({ repository, branch: 'gone', paths, actor }))).toMatchObject({
    kind: 'not_found',
    message: 'branch not found',
  });
  await engine.close();
});

test('another repository’s objects are imported only with the right to read them all', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const other = await newRepository(engine);
  await put(engine, other, 'main', 'secret', 'x');
  const { storageNamespace } = await engine.repositories.get(other);
  const start = (mayRead: boolean) =>
    engine.imports.start({
      repository,
      branch: 'main',
      paths: [prefix(`${storageNamespace}/data/`, 'stolen')],
      actor,
      mayReadRepository: (id) => mayRead && id === other,
    });
  expect(await refusalKind(start(false))).toBe('forbidden');
  expect((await finished(engine, repository, await start(true))).completed).toBe(true);
});

test('an accepted import is run by one process only, and by none once it is cancelled', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await external(world, 'x', '1');
  const request = { repository, branch: 'main', paths: [object('mem://outside/x', 'x')], actor };
  const { length: before } = (await engine.commits.log({ repository, ref: 'main' })).items;
  // As it travels between processes. The clock of this world stands still: all take it in the same millisecond.
  const accepted = JSON.parse(JSON.stringify(await engine.imports.accept(request))) as AcceptedImport;
  const others = Array.from({ length: 3 }, () => world.engine());
  const taken = await Promise.all([engine, ...others].map((other) => other.imports.run(accepted)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect((await finished(engine, repository, accepted.id)).completed).toBe(true);
  expect((await engine.commits.log({ repository, ref: 'main' })).items).toHaveLength(before + 1);

  const cancelled = await engine.imports.accept(request);
  await engine.imports.cancel({ repository, id: cancelled.id });
  expect(await engine.imports.run(cancelled)).toBe(false);
  await Promise.all([engine, ...others].map((other) => other.close()));
});

test('failures while running are in the status: dirty branch, missing object, read-only', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await external(world, 'x', '1');
  await put(engine, repository, 'main', 'staged', '1');
  expect((await importInto(engine, repository, object('mem://outside/x', 'x'))).error).toBe(
    'merge import: uncommitted changes (dirty branch)',
  );
  await engine.branches.reset({ repository, branch: 'main', type: 'reset' });
  // A missing object is an error and empties nothing.
  const missing = await importInto(engine, repository, object('mem://outside/none', 'x'));
  expect(missing.error).toMatch(/^error on ingest: /);
  expect(missing.completed).toBe(false);

  const frozen = await newRepository(engine, { readOnly: true });
  await engine.branches.get({ repository: frozen, branch: 'main' });
  expect((await importInto(engine, frozen, object('mem://outside/x', 'x'))).error).toContain(
    'write range: read-only repository',
  );
  const forced = await engine.imports.start({
    repository: frozen,
    branch: 'main',
    paths: [object('mem://outside/x', 'x')],
    actor,
    force: true,
  });
  expect((await finished(engine, frozen, forced)).completed).toBe(true);
});

test('an import that still reads its source ends with the server, and says so', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await external(world, 'x', '1');
  const reading = Promise.withResolvers<void>();
  const { adapter } = world;
  const walk = adapter.walk.bind(adapter);
  adapter.walk = async function* (uri, options) {
    yield* walk(uri, options);
    reading.resolve();
    await new Promise((_, reject) => {
      options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
    });
  };
  const paths = [prefix('mem://outside/', '')];
  const id = await engine.imports.start({ repository, branch: 'main', paths, actor });
  await reading.promise;
  await engine.close();
  const { completed, error } = await world.engine().imports.status({ repository, id });
  expect([completed, error]).toEqual([false, 'the server was stopped: please start the import again']);
});

test('an import that is refused while the server stops tells the refusal', async () => {
  const world = createWorld();
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  const before = (): Promise<undefined> => {
    asked.resolve();
    return answer.promise;
  };
  const engine = world.engine({ hooks: { before, after: () => undefined } });
  const repository = await newRepository(world.engine());
  await external(world, 'x', '1');
  const paths = [prefix('mem://outside/', '')];
  const id = await engine.imports.start({ repository, branch: 'main', paths, actor });
  await asked.promise;
  const closed = engine.close();
  answer.reject(new Error('a hook says no'));
  await closed;
  const { error } = await world.engine().imports.status({ repository, id });
  expect(error).toContain('a hook says no');
});

test('cancel: twice is fine, no commit appears afterwards, a completed import refuses', async () => {
  const trees = new HoldableTrees();
  const world = createWorld(trees);
  const engine = world.engine();
  const repository = await newRepository(engine);
  await external(world, 'x', '1');
  const before = await engine.branches.get({ repository, branch: 'main' });
  trees.hold();
  const id = await engine.imports.start({
    repository,
    branch: 'main',
    paths: [prefix('mem://outside/', '')],
    actor,
  });
  await engine.imports.cancel({ repository, id });
  // Another server may be asked as well.
  await world.engine().imports.cancel({ repository, id });
  const cancelledAt = (await engine.imports.status({ repository, id })).updateTime;
  trees.release();
  await engine.close();
  world.now += 1000;
  const status = await engine.imports.status({ repository, id });
  expect(status).toMatchObject({ completed: false, error: 'Canceled', updateTime: cancelledAt });
  expect(await engine.branches.get({ repository, branch: 'main' })).toEqual(before);

  const done = await engine.imports.start({
    repository,
    branch: 'main',
    paths: [prefix('mem://outside/', '')],
    actor,
  });
  await finished(engine, repository, done);
  expect(await refusalKind(engine.imports.cancel({ repository, id: done }))).toBe('conflict');
  expect(await refusalKind(engine.imports.cancel({ repository, id: '9m4e2mr0ui3e8a215n4g' }))).toBe(
    'not_found',
  );
  expect(await refusalKind(engine.imports.status({ repository, id: 'x' }))).toBe('not_found');
});

test('an import whose server died is reported, and both it and old tasks are removed after a day', async () => {
  const trees = new HoldableTrees();
  const world = createWorld(trees);
  const engine = world.engine();
  const repository = await newRepository(engine);
  trees.hold();
  const id = await engine.imports.start({
    repository,
    branch: 'main',
    paths: [prefix('mem://outside/', '')],
    actor,
  });
  world.now += 31_000;
  expect((await world.engine().imports.status({ repository, id })).error).toContain('no longer available');
  trees.release();
  await engine.close();
  await engine.tasks.removeExpired();
  await engine.imports.status({ repository, id });
  world.now += 25 * 3_600_000;
  await engine.tasks.removeExpired();
  expect(await refusalKind(engine.imports.status({ repository, id }))).toBe('not_found');
});

test('an import whose hook takes long is not taken for lost, and is not cancelled under its commit', async () => {
  const world = createWorld();
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  const engine = world.engine({
    hooks: {
      before: ({ type }) => {
        if (type !== 'pre-commit') return Promise.resolve(undefined);
        asked.resolve();
        return answer.promise;
      },
      after: () => undefined,
    },
  });
  const repository = await newRepository(engine);
  await external(world, 'slow/one', '1');
  const list = [prefix('mem://outside/slow/', 'slow')];
  const id = await engine.imports.start({ repository, branch: 'main', paths: list, actor });
  await asked.promise;
  world.now += 60_000;
  const status = await waitUntil(async () => {
    const now = await engine.imports.status({ repository, id });
    return now.updateTime.seconds * 1000 >= world.now - 1000 && now;
  });
  expect(status.error).toBeUndefined();
  const cancelled = refusalKind(engine.imports.cancel({ repository, id }));
  answer.resolve(undefined);
  expect(await finished(engine, repository, id)).toMatchObject({ completed: true });
  expect(await cancelled).toBe('conflict');
  expect(await paths(engine, repository, 'main')).toEqual(['slow/one']);
});
