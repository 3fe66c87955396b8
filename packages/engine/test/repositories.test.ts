import { expect, test } from 'vitest';
import {
  actor,
  changes,
  commit,
  createWorld,
  newRepository,
  paths,
  put,
  refusal,
  refusalKind,
} from './fixture.ts';
import { BlockError, createMemAdapter, type BlockAdapter } from '@svc/block';
import { createMemStore } from '@svc/kv';

const dummy = (namespace: string, prefix = '_svc/') =>
  ({ storageNamespace: namespace, identifier: `${prefix}dummy`, identifierType: 'relative' }) as const;

test('a new repository has a first commit, a default branch, its mark and the guard of old collectors', async () => {
  const world = createWorld();
  const engine = world.engine();
  const created = await engine.repositories.create({
    name: 'first',
    storageNamespace: 'mem://b/first',
    actor,
  });
  expect(created).toMatchObject({
    id: 'first',
    defaultBranch: 'main',
    readOnly: false,
    metadataPrefix: '_svc',
  });
  const log = await engine.commits.log({ repository: 'first', ref: 'main' });
  expect(log.items).toMatchObject([
    { message: 'Repository created', committer: '', parents: [], generation: 1, metaRangeId: '' },
  ]);
  expect(await world.adapter.exists(dummy('mem://b/first'))).toBe(true);
  expect(await world.adapter.exists({ ...dummy('mem://b/first'), identifier: '_lakefs/guard' })).toBe(true);
});

test('names and default branches are validated', async () => {
  const engine = createWorld().engine();
  const create = (name: string, defaultBranch?: string) =>
    engine.repositories.create({ name, storageNamespace: `mem://b/x`, defaultBranch, actor });
  expect(await refusalKind(create('ab'))).toBe('invalid');
  expect(await refusalKind(create('Abc'))).toBe('invalid');
  expect(await refusalKind(create('-abc'))).toBe('invalid');
  // The default branch is validated like any other branch.
  expect(await refusalKind(create('good', '-bad'))).toBe('invalid');
  expect(await refusalKind(engine.repositories.get('NOPE'))).toBe('invalid');
  expect(await refusalKind(engine.repositories.get('nope'))).toBe('not_found');
});

test('a namespace on, above or below a live one is refused, naming the other repository', async () => {
  const engine = createWorld().engine();
  await engine.repositories.create({ name: 'owner', storageNamespace: 'mem://b/ns', actor });
  for (const storageNamespace of ['mem://b/ns', 'mem://b/ns/', 'mem://b/ns/below', 'mem://b']) {
    for (const kind of [{}, { bare: true }, { readOnly: true }]) {
      const error = await refusal(
        engine.repositories.create({ name: 'rival', storageNamespace, actor, ...kind }),
      );
      expect(error.kind).toBe('invalid');
      expect(error.message).toContain("'owner'");
    }
  }
  await engine.repositories.create({ name: 'rival', storageNamespace: 'mem://b/ns2', actor });
});

test('a deleted namespace can be taken by bare and read-only repositories, not by a normal one', async () => {
  const engine = createWorld().engine();
  const storageNamespace = 'mem://b/used';
  const create = (name: string, kind: object) =>
    engine.repositories.create({
      name,
      storageNamespace,
      actor,
      mayReadRepository: () => true,
      ...kind,
    });
  await create('one', {});
  await engine.repositories.delete({ repository: 'one', actor });
  expect((await refusal(create('two', {}))).message).toContain('already in use');
  await create('two', { bare: true });
  await engine.repositories.delete({ repository: 'two', actor });
  await create('three', { readOnly: true });
});

test('a name conflict on a fresh namespace leaves no mark and no reservation', async () => {
  const world = createWorld();
  const engine = world.engine();
  await engine.repositories.create({ name: 'taken', storageNamespace: 'mem://b/one', actor });
  const again = engine.repositories.create({ name: 'taken', storageNamespace: 'mem://b/two', actor });
  expect(await refusalKind(again)).toBe('already_exists');
  expect(await world.adapter.exists(dummy('mem://b/two'))).toBe(false);
  await engine.repositories.create({ name: 'other', storageNamespace: 'mem://b/two', actor });
});

test('a creation that fails half-way leaves a namespace that can be used', async () => {
  const world = createWorld();
  const failing = world.engine({
    wrapKv: (kv) => ({
      ...bound(kv),
      change: (partition, guard, ...rest) =>
        Buffer.from(guard.key).toString().startsWith('branches/')
          ? Promise.reject(new Error('store is down'))
          : kv.change(partition, guard, ...rest),
    }),
  });
  const options = { name: 'halfway', storageNamespace: 'mem://b/halfway', actor };
  await expect(failing.repositories.create(options)).rejects.toThrow('store is down');
  expect(await world.adapter.exists(dummy('mem://b/halfway'))).toBe(false);
  await world.engine().repositories.create(options);
});

/** A store in memory whose calls a test may let fail. */
function failingStore(
  fails: (call: 'put' | 'get' | 'exists' | 'delete') => BlockError | undefined,
): BlockAdapter {
  const adapter = createMemAdapter();
  for (const name of ['put', 'get', 'exists', 'delete'] as const) {
    const call = adapter[name].bind(adapter) as (...given: unknown[]) => Promise<unknown>;
    const failing = async (...given: unknown[]): Promise<unknown> => {
      const error = fails(name);
      // What is lost is the answer: the store has done its part.
      if (error !== undefined && name === 'put') await call(...given);
      if (error !== undefined) throw error;
      return await call(...given);
    };
    Object.assign(adapter, { [name]: failing });
  }
  return adapter;
}

test('a store that cannot be reached refuses a creation for now, and keeps nothing of it', async () => {
  const away = new BlockError('unavailable', 'the store could not be reached: ECONNREFUSED');
  let down: readonly string[] = ['exists'];
  const adapter = failingStore((call) => (down.includes(call) ? away : undefined));
  const engine = createWorld(undefined, adapter).engine();
  const create = (kind: object = {}) =>
    engine.repositories.create({ name: 'later', storageNamespace: 'mem://b/later', actor, ...kind });
  for (const kind of [{}, { readOnly: true }]) {
    await expect(create(kind)).rejects.toMatchObject({
      name: 'BlockError',
      kind: 'unavailable',
      message:
        'failed to create repository: failed to access storage: the store could not be reached: ECONNREFUSED',
    });
  }
  // The mark is there, cannot be read back, and cannot be removed: the first error is told all the same. The next
  // creation knows it as nobody's.
  for (const gone of [
    ['get', 'delete'],
    ['put', 'get', 'delete'],
  ]) {
    down = gone;
    await expect(create()).rejects.toMatchObject({ kind: 'unavailable' });
    expect((await adapter.properties(dummy('mem://b/later'))).size).toBeGreaterThan(0);
  }
  down = [];
  await create();
  // One of somebody else stays his.
  await adapter.put(dummy('mem://b/taken'), Buffer.from('x'));
  const taken = { name: 'taken', storageNamespace: 'mem://b/taken', actor };
  await expect(engine.repositories.create(taken)).rejects.toThrow('already in use');
});

test('a store that refuses says why a repository cannot be created', async () => {
  for (const kind of ['forbidden', 'configuration', 'write_failed', 'not_found'] as const) {
    const adapter = failingStore((call) =>
      call === 'exists' ? new BlockError(kind, 'the store answered 403 InvalidAccessKeyId') : undefined,
    );
    const engine = createWorld(undefined, adapter).engine();
    const error = await refusal(
      engine.repositories.create({ name: 'refused', storageNamespace: 'mem://b/refused', actor }),
    );
    expect([error.kind, error.message]).toEqual([
      'invalid',
      'failed to create repository: failed to access storage: the store answered 403 InvalidAccessKeyId',
    ]);
  }
});

test('a mark whose answer was lost is ours all the same', async () => {
  for (const kind of ['unavailable', 'already_exists'] as const) {
    let lost = 0;
    const adapter = failingStore((call) =>
      call === 'put' && lost++ === 0 ? new BlockError(kind, 'lost') : undefined,
    );
    const engine = createWorld(undefined, adapter).engine();
    await engine.repositories.create({ name: 'lost', storageNamespace: 'mem://b/lost', actor });
    expect(lost).toBe(2);
  }
});

test('of two concurrent creations on one namespace at most one wins', async () => {
  const world = createWorld();
  const [left, right] = [world.engine(), world.engine()];
  const results = await Promise.allSettled([
    left.repositories.create({ name: 'left', storageNamespace: 'mem://b/shared', actor }),
    right.repositories.create({ name: 'right', storageNamespace: 'mem://b/shared', actor }),
  ]);
  expect(results.filter((result) => result.status === 'fulfilled').length).toBeLessThanOrEqual(1);
});

test('an adopted namespace keeps the prefix it was written with', async () => {
  const world = createWorld();
  const engine = world.engine();
  await world.adapter.put(dummy('mem://b/old', '_lakefs/'), Buffer.from('x'));
  const normal = engine.repositories.create({ name: 'normal', storageNamespace: 'mem://b/old', actor });
  expect((await refusal(normal)).message).toContain('already in use');
  const bare = await engine.repositories.create({
    name: 'bare',
    storageNamespace: 'mem://b/old',
    bare: true,
    actor,
  });
  expect(bare.metadataPrefix).toBe('_lakefs');
});

test('get, delete and create again at once with the same name: the new one is there, the old one gone', async () => {
  const engine = createWorld().engine();
  await engine.repositories.create({ name: 'phoenix', storageNamespace: 'mem://b/1', actor });
  await put(engine, 'phoenix', 'main', 'a', '1');
  const before = await engine.repositories.get('phoenix');
  await engine.repositories.delete({ repository: 'phoenix', actor });
  expect(await refusalKind(engine.repositories.get('phoenix'))).toBe('not_found');
  await engine.repositories.create({ name: 'phoenix', storageNamespace: 'mem://b/2', actor });
  expect((await engine.repositories.get('phoenix')).instanceUid).not.toBe(before.instanceUid);
  expect(await paths(engine, 'phoenix', 'main')).toEqual([]);
});

test('a purge leaves no record but of whom the namespace was, and an interrupted one is resumed', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', hidden: true, actor });
  await put(engine, repository, 'dev', 'a', '1');
  await commit(engine, repository, 'dev');
  await put(engine, repository, 'dev', 'b', '2');
  await engine.tags.create({ repository, id: 'v1', ref: 'dev', actor });
  await engine.repositories.setMetadata({ repository, metadata: { k: 'v' } });
  await engine.protection.set({ repository, patterns: ['main'] });
  let failing = true;
  const broken = world.engine({
    wrapKv: (kv) => ({
      ...bound(kv),
      delete: (partition, key) =>
        failing ? Promise.reject(new Error('store is down')) : kv.delete(partition, key),
    }),
  });
  await expect(broken.repositories.delete({ repository, actor, purge: true })).rejects.toThrow(
    'store is down',
  );
  expect(await refusalKind(world.engine().repositories.get(repository))).toBe('in_deletion');
  expect((await broken.repositories.list({})).items.map((item) => item.state)).toEqual(['in_deletion']);
  failing = false;
  const kv = createMemStore(world.state);
  // As once its events are in the log.
  for await (const partition of kv.partitions()) {
    if (!partition.toString().startsWith(`${repository}-`)) continue;
    for await (const page of kv.scan(partition, { prefix: Buffer.from('outbox/') })) {
      await kv.deleteMany(
        partition,
        page.map(({ key }) => key),
      );
    }
  }
  await broken.repositories.delete({ repository, actor, purge: true });
  expect(await refusalKind(broken.repositories.delete({ repository, actor, purge: true }))).toBe('not_found');
  const left: string[] = [];
  for await (const partition of kv.partitions()) left.push(partition.toString());
  // What is staged is handed to the cleaner, which keeps it for readers a while.
  expect(left.filter((name) => name !== 'cleanup-tokens' && !name.includes(':'))).toEqual(['graveler']);
  const records: string[] = [];
  for await (const page of kv.scan(Buffer.from('graveler'))) {
    for (const { key } of page) records.push(key.toString());
  }
  const kept = records.filter((key) => !key.startsWith('moves/') && !key.startsWith('outbox/'));
  expect(kept).toEqual([`former-namespaces//mem://bucket/${repository}`]);
});

/** The methods of a store, so that one of them can be replaced. */
function bound(kv: ReturnType<typeof createMemStore>): ReturnType<typeof createMemStore> {
  return {
    type: kv.type,
    get: (...args) => kv.get(...args),
    set: (...args) => kv.set(...args),
    setIf: (...args) => kv.setIf(...args),
    change: (...args) => kv.change(...args),
    getMany: (...args) => kv.getMany(...args),
    setMany: (...args) => kv.setMany(...args),
    deleteMany: (...args) => kv.deleteMany(...args),
    maxKeyBytes: (partition) => kv.maxKeyBytes(partition),
    delete: (...args) => kv.delete(...args),
    deleteIf: (...args) => kv.deleteIf(...args),
    scan: (...args) => kv.scan(...args),
    partitions: () => kv.partitions(),
    close: () => kv.close(),
  };
}

test('names whose keys the store could not hold are refused before anything is written', async () => {
  const world = createWorld();
  const wrapKv = (kv: ReturnType<typeof createMemStore>) => ({ ...bound(kv), maxKeyBytes: () => 1024 });
  const engine = world.engine({ wrapKv });
  const repository = await newRepository(engine);
  const [fits, long] = ['b'.repeat(900), 'b'.repeat(901)];
  await engine.branches.create({ repository, name: fits, source: 'main', actor });
  await engine.tags.create({ repository, id: `t${fits.slice(1)}`, ref: 'main', actor });
  const namespace = `mem://${long}`.slice(0, 901);
  for (const call of [
    () => engine.branches.create({ repository, name: long, source: 'main', actor }),
    () => engine.tags.create({ repository, id: `t${long.slice(1)}`, ref: 'main', actor }),
    () =>
      engine.repositories.create({
        name: 'long',
        storageNamespace: 'mem://x/y',
        defaultBranch: long,
        actor,
      }),
    () => engine.repositories.create({ name: 'long', storageNamespace: namespace, actor }),
  ]) {
    expect(await refusal(call())).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('is longer than 900 bytes') as string,
    });
  }
  expect((await engine.repositories.list({ amount: 10 })).items.map(({ id }) => id)).toEqual([repository]);
});

test('read-only repositories refuse writes unless forced, and run no hooks', async () => {
  const ran: string[] = [];
  const engine = createWorld().engine({
    hooks: {
      before: async (event) => {
        ran.push(event.type);
        return undefined;
      },
      after: async (event) => void ran.push(event.type),
    },
  });
  const repository = await newRepository(engine, { readOnly: true });
  const upload = { repository, branch: 'main', path: 'a', body: Buffer.from('1') };
  expect(await refusalKind(engine.objects.upload(upload))).toBe('read_only');
  expect(await refusalKind(engine.branches.create({ repository, name: 'b', source: 'main', actor }))).toBe(
    'read_only',
  );
  await engine.objects.upload({ ...upload, force: true });
  const commitOptions = { repository, branch: 'main', message: 'm', actor };
  expect(await refusalKind(engine.commits.create(commitOptions))).toBe('read_only');
  await engine.commits.create({ ...commitOptions, force: true });
  expect(ran).toEqual([]);
  expect(await refusalKind(engine.repositories.delete({ repository, actor }))).toBe('read_only');
  await engine.repositories.setMetadata({ repository, metadata: { a: '1' } });
  await engine.repositories.delete({ repository, force: true, actor });
});

test('sample data is one commit on a protected default branch; read-only repositories are filled first', async () => {
  const engine = createWorld().engine();
  const created = await engine.repositories.create({
    name: 'sample',
    storageNamespace: 'mem://b/sample',
    sampleData: true,
    readOnly: true,
    actor,
  });
  expect(created.readOnly).toBe(true);
  expect((await engine.repositories.get('sample')).readOnly).toBe(true);
  const log = await engine.commits.log({ repository: 'sample', ref: 'main' });
  expect(log.items.map((item) => item.message)).toEqual(['Add sample data', 'Repository created']);
  expect(await paths(engine, 'sample', 'main', { delimiter: '/' })).toContain('README.md');
  expect((await engine.protection.get('sample')).patterns).toEqual(['main']);
  expect(await changes(engine, 'sample', 'main')).toEqual([]);
});

test('repository metadata merges keys and needs the repository, also for an empty map', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  expect(await engine.repositories.getMetadata(repository)).toEqual({});
  await engine.repositories.setMetadata({ repository, metadata: { a: '1', b: '2' } });
  await engine.repositories.setMetadata({ repository, metadata: { b: '3' } });
  await engine.repositories.deleteMetadata({ repository, keys: ['a', 'missing'] });
  expect(await engine.repositories.getMetadata(repository)).toEqual({ b: '3' });
  // Setting nothing on a missing repository is not found.
  const nowhere = engine.repositories.setMetadata({ repository: 'nowhere', metadata: {} });
  expect(await refusalKind(nowhere)).toBe('not_found');
});

test('listing repositories: prefix, search, visibility and pages', async () => {
  const engine = createWorld().engine();
  for (const name of ['alpha', 'alpine', 'beta', 'gamma']) {
    await engine.repositories.create({ name, storageNamespace: `mem://list/${name}`, actor });
  }
  const names = async (options: Parameters<typeof engine.repositories.list>[0]) => {
    const page = await engine.repositories.list(options);
    return [page.items.map((item) => item.id), page.hasMore, page.nextOffset];
  };
  expect(await names({ prefix: 'al' })).toEqual([['alpha', 'alpine'], false, '']);
  expect(await names({ search: 'a', amount: 2 })).toEqual([['alpha', 'alpine'], true, 'alpine']);
  expect(await names({ after: 'alpine', visible: (item) => item.id !== 'beta' })).toEqual([
    ['gamma'],
    false,
    '',
  ]);
});
