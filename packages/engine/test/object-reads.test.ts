import type { BlockAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
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
} from './fixture.ts';
import { openRealEngine } from './real-engine.ts';

test('while a commit runs, what it takes and what is written meanwhile are found, tombstones too', async () => {
  const world = createWorld();
  const during = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let pausing = false;
  const engine = world.engine({
    hooks: {
      after: () => undefined,
      before: async ({ type }) => {
        if (!pausing || type !== 'pre-commit') return undefined;
        during.resolve();
        await goOn.promise;
        return undefined;
      },
    },
  });
  const repository = await newRepository(engine);
  for (const path of ['gone', 'old', 'twice']) await put(engine, repository, 'main', path, 'committed');
  await commit(engine, repository, 'main');
  for (const path of ['new', 'twice']) await put(engine, repository, 'main', path, 'staged');
  await engine.objects.delete({ repository, branch: 'main', path: 'gone' });
  pausing = true;
  const committing = commit(engine, repository, 'main');
  await during.promise;
  await put(engine, repository, 'main', 'twice', 'meanwhile');
  // The second time the branch is known.
  for (let time = 0; time < 2; time++) {
    expect(await read(engine, repository, 'main', 'new')).toBe('staged');
    expect(await read(engine, repository, 'main', 'old')).toBe('committed');
    expect(await read(engine, repository, 'main', 'twice')).toBe('meanwhile');
    expect(await refusalKind(read(engine, repository, 'main', 'gone'))).toBe('not_found');
  }
  goOn.resolve();
  await committing;
  expect(await read(engine, repository, 'main', 'twice')).toBe('meanwhile');
  expect(await read(engine, repository, 'main@', 'twice')).toBe('staged');
});

test('listing with a delimiter in pages; folded prefixes without visible keys do not appear', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['file1', 'file2', 'file3', 'h/x', 'h/y', 'z/gone'])
    await put(engine, repository, 'main', path, path);
  await commit(engine, repository, 'main');
  await engine.objects.delete({ repository, branch: 'main', path: 'z/gone' });
  expect(await paths(engine, repository, 'main', { delimiter: '/', amount: 1 })).toEqual([
    'file1',
    'file2',
    'file3',
    'h/',
  ]);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/' })).toEqual([]);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/x' })).toEqual(['h/']);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/y' })).toEqual(['h/']);
  expect(await paths(engine, repository, 'main', { prefix: 'h/', delimiter: '/' })).toEqual(['h/x', 'h/y']);
  expect(await paths(engine, repository, 'main@', { delimiter: '/' })).toEqual([
    'file1',
    'file2',
    'file3',
    'h/',
    'z/',
  ]);
  const page = await engine.objects.list({ repository, ref: 'main', prefix: 'file', amount: 2 });
  expect(page.toArray()).toMatchObject([{ kind: 'object', path: 'file1', size: 5 }, { path: 'file2' }]);
  expect([page.hasMore, page.nextOffset]).toEqual([true, 'file2']);
  expect(page.toArray()[0]).toEqual({
    kind: 'object',
    presigned: undefined,
    ...(await engine.objects.stat({ repository, ref: 'main', path: 'file1' })),
  });
});

test('a reader that remembers a branch sees what others did to it since', async () => {
  const world = createWorld();
  const engine = world.engine();
  const other = world.engine();
  const repository = await newRepository(engine);
  const etagOf = async (path: string) => (await engine.objects.stat({ repository, ref: 'side', path })).etag;
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'a', 'one');
  const first = await etagOf('a');
  await put(other, repository, 'side', 'a', 'two');
  const second = await etagOf('a');
  expect(second).not.toBe(first);
  // The new entry lies in a token that the remembered branch does not know.
  await commit(other, repository, 'side', 'by another');
  await put(other, repository, 'side', 'b', 'three');
  expect(await etagOf('b')).toBeDefined();
  expect(await etagOf('a')).toBe(second);
  await commit(other, repository, 'side', 'by another again');
  expect(await etagOf('b')).toBeDefined();
  await other.objects.delete({ repository, branch: 'side', path: 'a' });
  expect(await refusalKind(etagOf('a'))).toBe('not_found');
  await other.branches.delete({ repository, branch: 'side', actor });
  expect((await refusal(etagOf('b'))).subject).toBe('ref');
  await other.tags.create({ repository, id: 'side', ref: 'main', actor });
  expect((await refusal(etagOf('b'))).subject).toBe('object');
});

test.each(['at once, if it can', 'later'])(
  'a small object read again comes from memory; one read once, or overwritten, from a store that answers %s',
  async (when) => {
    const world = createWorld(undefined, when === 'later' ? laterOnly(createWorld().adapter) : undefined);
    const engine = world.engine();
    const repository = await newRepository(engine);
    const { storageNamespace } = await engine.repositories.get(repository);
    const lose = async (path: string): Promise<void> => {
      const { address } = await engine.objects.stat({ repository, ref: 'main', path });
      await world.adapter.delete({ storageNamespace, identifier: address, identifierType: 'relative' });
    };
    for (const path of ['again', 'once']) await put(engine, repository, 'main', path, `content of ${path}`);
    for (const path of ['again', 'once', 'again']) await read(engine, repository, 'main', path);
    await lose('again');
    await lose('once');
    expect(await read(engine, repository, 'main', 'again')).toBe('content of again');
    expect(await refusalKind(read(engine, repository, 'main', 'once'))).toBe('data_gone');
    await put(engine, repository, 'main', 'again', 'other content');
    expect(await read(engine, repository, 'main', 'again')).toBe('other content');
  },
);

/** The store, as one that must be waited for. */
function laterOnly(adapter: BlockAdapter): BlockAdapter {
  return new Proxy(adapter, {
    get: (target, name) => {
      if (name === 'getAtOnce') return undefined;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

test('a large object is read as a range where the store prefers that, and never more or less than its entry says', async () => {
  let prefers = false;
  const asked: string[] = [];
  const { adapter: store } = createWorld();
  const adapter = new Proxy(store, {
    get: (target, name) => {
      if (name === 'getAtOnce') return undefined;
      if (name === 'prefersRanges') return () => prefers;
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (name === 'get' || name === 'getRange') asked.push([name, ...args.slice(1)].join(' '));
        return Reflect.apply(member, target, args);
      };
    },
  });
  const engine = createWorld(undefined, adapter).engine();
  const repository = await newRepository(engine);
  const size = 8 * 1024 * 1024;
  const large = 'x'.repeat(size);
  await put(engine, repository, 'main', 'large', large);
  await put(engine, repository, 'main', 'less', large.slice(1));
  asked.length = 0;
  expect(await read(engine, repository, 'main', 'large')).toBe(large);
  prefers = true;
  expect(await read(engine, repository, 'main', 'large')).toBe(large);
  expect(await read(engine, repository, 'main', 'less')).toBe(large.slice(1));
  expect(asked).toEqual(['get', `getRange 0 ${size - 1}`, 'get']);
  const { address } = await engine.objects.stat({ repository, ref: 'main', path: 'large' });
  const { storageNamespace } = await engine.repositories.get(repository);
  const pointer = { storageNamespace, identifier: address, identifierType: 'relative' } as const;
  await store.put(pointer, Buffer.from(`${large}and more`));
  expect(await read(engine, repository, 'main', 'large')).toBe(large);
  await store.put(pointer, Buffer.from(large.slice(1)));
  expect(await refusalKind(read(engine, repository, 'main', 'large'))).toBe('data_gone');
});

test('an object is found with the commit of the ref that shows it, also after others moved the ref', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const first = await commit(engine, repository, 'main');
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
  const commitOf = async (ref: string): Promise<string> =>
    (await engine.objects.find({ repository, ref, path: 'a' })).commitId;
  expect(await commitOf('main')).toBe(first);
  const other = world.engine();
  await put(other, repository, 'main', 'a', '2');
  const second = await commit(other, repository, 'main');
  for (const ref of ['main', 'main', 'main@', second, second.toUpperCase()]) {
    expect(await commitOf(ref)).toBe(second);
  }
  for (const ref of ['v1', 'main~1', 'main@{1}', first, first]) expect(await commitOf(ref)).toBe(first);
  expect(await refusalKind(engine.objects.find({ repository, ref: first, path: 'b' }))).toBe('not_found');
});

test('a sample has a path of each table, or of some that lie evenly', async () => {
  const opened = await openRealEngine(tempDir(), { worker: false, scarce: true });
  const { engine } = opened;
  const repository = 'sampled';
  await engine.repositories.create({ name: repository, storageNamespace: 'local://sampled', actor });
  const sample = (amount: number) => engine.objects.samplePaths({ repository, ref: 'main', amount });
  expect(await sample(10)).toEqual([]);
  const all = Array.from({ length: 60 }, (_, n) => `o${String(n).padStart(2, '0')}`);
  for (const path of all) await put(engine, repository, 'main', path, path);
  await commit(engine, repository, 'main');
  const each = await sample(1000);
  expect(each.length).toBeGreaterThan(3);
  expect(each[0]).toBe('o00');
  expect(each.every((path) => all.includes(path))).toBe(true);
  expect(new Set(each).size).toBe(each.length);
  expect(await sample(2)).toEqual([each[0], each[Math.floor(each.length / 2)]]);
  await opened.close();
});
