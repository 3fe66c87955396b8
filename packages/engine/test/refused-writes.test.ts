import { randomBytes } from 'node:crypto';
import { BlockError, createMemAdapter, type BlockAdapter } from '@svc/block';
import { createMemStore, KvError } from '@svc/kv';
import { describe, expect, test } from 'vitest';
import { watched, type StoreCall } from './failing-store.ts';
import { actor, commit, createWorld, newRepository, put, read, refusalKind } from './fixture.ts';

const full = (): KvError => new KvError('no_space', 'the disk is full');
const silent = (): KvError => new KvError('unavailable', 'the connection broke');
const isStaged = ({ partition, method }: StoreCall): boolean =>
  /:[0-9a-f-]{36}$/.test(partition) && method.startsWith('set');

/** An engine whose key-value store fails as it is told, and the names of the data that is stored. */
async function withFailures(adapter: BlockAdapter = createMemAdapter()) {
  const world = createWorld(undefined, adapter);
  const failures: { before?: (call: StoreCall) => void | Promise<void>; after?: (call: StoreCall) => void } =
    {};
  const engine = world.engine({
    wrapKv: (kv) =>
      watched(
        kv,
        (call) => failures.before?.(call),
        (call) => failures.after?.(call),
      ),
  });
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  const data = async (): Promise<string[]> => {
    const names: string[] = [];
    for await (const page of adapter.walk(`${storageNamespace}/data/`)) {
      names.push(...page.map((object) => object.relativeKey));
    }
    return names;
  };
  return { world, engine, repository, failures, data };
}

describe('a write whose record is refused', () => {
  test.each(['plain', 'conditional'])('leaves nothing of a %s upload', async (kind) => {
    const { engine, repository, failures, data } = await withFailures();
    failures.before = (call) => {
      if (isStaged(call)) throw full();
    };
    const condition = kind === 'conditional' ? { ifNoneMatch: '*' as const } : {};
    const body = Buffer.from('1');
    const upload = engine.objects.upload({ repository, branch: 'main', path: 'a', body, ...condition });
    await expect(upload).rejects.toMatchObject({ kind: 'no_space' });
    expect(await data()).toEqual([]);
  });

  test('leaves nothing of a copy', async () => {
    const { engine, repository, failures, data } = await withFailures();
    await put(engine, repository, 'main', 'a', '1');
    failures.before = (call) => {
      if (isStaged(call)) throw full();
    };
    const source = { repository, ref: 'main', path: 'a' };
    const copy = engine.objects.copy({ source, destination: { repository, branch: 'main', path: 'b' } });
    await expect(copy).rejects.toMatchObject({ kind: 'no_space' });
    expect(await data()).toHaveLength(1);
  });

  test('keeps the data when the record may be there, or may yet come', async () => {
    const { engine, repository, failures, data } = await withFailures();
    failures.after = (call) => {
      if (isStaged(call)) throw full();
    };
    await expect(put(engine, repository, 'main', 'stored', '1')).rejects.toThrow('full');
    failures.after = undefined as never;
    expect(await read(engine, repository, 'main', 'stored')).toBe('1');
    failures.before = (call) => {
      if (isStaged(call)) throw silent();
    };
    await expect(put(engine, repository, 'main', 'unknown', '2')).rejects.toThrow('broke');
    expect(await data()).toHaveLength(2);
  });

  test('keeps the data when a commit may have taken the record', async () => {
    const { world, engine, repository, failures, data } = await withFailures();
    const other = world.engine();
    let once = true;
    failures.after = (call) => {
      if (!isStaged(call) || !once) return undefined;
      once = false;
      // Stored, committed, overwritten and cleaned before the answer was lost.
      return (async () => {
        await commit(other, repository, 'main');
        await put(other, repository, 'main', 'a', 'newer');
        await createMemStore(world.state).delete(Buffer.from(call.partition), Buffer.from(call.key));
        throw full();
      })() as never;
    };
    await expect(put(engine, repository, 'main', 'a', 'older')).rejects.toThrow('full');
    expect(await data()).toHaveLength(2);
    const log = await engine.commits.log({ repository, ref: 'main' });
    expect(await read(engine, repository, log.items[0]!.id, 'a')).toBe('older');
  });
});

describe('a store that fails after it has written', () => {
  test('leaves nothing at an address nobody knows', async () => {
    const mem = createMemAdapter();
    const broken: BlockAdapter = Object.assign(Object.create(mem) as BlockAdapter, {
      put: async (...args: Parameters<BlockAdapter['put']>) => {
        const result = await mem.put(...args);
        if (args[0].identifier.startsWith('data/')) throw new BlockError('unavailable', 'no answer');
        return result;
      },
    });
    const { engine, repository, data } = await withFailures(unbound(broken, mem));
    await expect(put(engine, repository, 'main', 'a', '1')).rejects.toThrow('no answer');
    expect(await data()).toEqual([]);
  });
});

/** The store with some of its calls replaced. */
function unbound(changed: BlockAdapter, mem: BlockAdapter): BlockAdapter {
  return new Proxy(mem, {
    get(target, name) {
      const own: unknown = Object.hasOwn(changed, name)
        ? Reflect.get(changed, name)
        : Reflect.get(target, name);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

describe('a multipart upload that is refused', () => {
  const target = (repository: string) => ({ repository, branch: 'main', path: 'big' });
  const stale = async (adapter: BlockAdapter, namespace: string): Promise<number> => {
    let count = 0;
    for await (const _upload of adapter.staleUploads(namespace, new Date(Date.now() + 1000))) count += 1;
    return count;
  };

  test('is not begun in the store either', async () => {
    const { world, engine, repository, failures } = await withFailures();
    const { storageNamespace } = await engine.repositories.get(repository);
    failures.before = ({ partition, method }) => {
      if (partition === 'multiparts' && method === 'set') throw full();
    };
    await expect(engine.uploads.create({ ...target(repository), owner: 'me' })).rejects.toThrow('full');
    expect(await stale(world.adapter, storageNamespace)).toBe(0);
  });

  test('keeps the part that was acknowledged before', async () => {
    const { engine, repository, failures } = await withFailures();
    const { uploadId } = await engine.uploads.create({ ...target(repository), owner: 'me' });
    const upload = { ...target(repository), uploadId };
    const good = await engine.uploads.putPart({ ...upload, partNumber: 1, body: Buffer.from('good') });
    const verify = () => {
      throw new Error('another checksum');
    };
    const bad = engine.uploads.putPart({ ...upload, partNumber: 1, body: Buffer.from('bad'), verify });
    await expect(bad).rejects.toThrow('another checksum');
    failures.before = ({ partition }) => {
      if (partition.startsWith('multipart-parts:')) throw full();
    };
    const unrecorded = engine.uploads.putPart({ ...upload, partNumber: 1, body: Buffer.from('late') });
    await expect(unrecorded).rejects.toThrow('full');
    failures.before = undefined as never;
    await engine.uploads.complete({ ...upload, parts: [good] });
    expect(await read(engine, repository, 'main', 'big')).toBe('good');
  });

  test('keeps no joined object when it cannot be staged', async () => {
    const { engine, repository, failures, data } = await withFailures();
    const { uploadId } = await engine.uploads.create({ ...target(repository), owner: 'me' });
    const upload = { ...target(repository), uploadId };
    const part = await engine.uploads.putPart({ ...upload, partNumber: 1, body: randomBytes(10) });
    failures.before = (call) => {
      if (isStaged(call)) throw full();
    };
    await expect(engine.uploads.complete({ ...upload, parts: [part] })).rejects.toThrow('full');
    expect(await data()).toEqual([]);
    expect(await refusalKind(engine.uploads.get(upload))).toBe('not_found');
  });

  test('may be completed again when its parts could not be joined', async () => {
    const mem = createMemAdapter();
    let broken = true;
    const changed = Object.assign(Object.create(null) as BlockAdapter, {
      completeMultipart: (...args: Parameters<BlockAdapter['completeMultipart']>) => {
        if (broken) throw new BlockError('no_space', 'the disk is full');
        return mem.completeMultipart(...args);
      },
    });
    const { engine, repository, data } = await withFailures(unbound(changed, mem));
    const { uploadId } = await engine.uploads.create({ ...target(repository), owner: 'me' });
    const upload = { ...target(repository), uploadId };
    const part = await engine.uploads.putPart({ ...upload, partNumber: 1, body: Buffer.from('whole') });
    await expect(engine.uploads.complete({ ...upload, parts: [part] })).rejects.toThrow('full');
    broken = false;
    await engine.uploads.complete({ ...upload, parts: [part] });
    expect(await read(engine, repository, 'main', 'big')).toBe('whole');
    expect(await data()).toHaveLength(1);
  });

  test('never loses its object to an abort that races the completion', async () => {
    const { world, engine, repository, failures } = await withFailures();
    const { uploadId } = await engine.uploads.create({ ...target(repository), owner: 'me' });
    const upload = { ...target(repository), uploadId };
    const part = await engine.uploads.putPart({ ...upload, partNumber: 1, body: Buffer.from('kept') });
    const other = world.engine();
    let aborted: Promise<unknown> | undefined;
    failures.after = (call) => {
      // Staged, not yet recorded as completed: just now somebody ends the upload.
      if (isStaged(call)) aborted = other.uploads.abort(upload).catch((error: unknown) => error);
      return undefined;
    };
    await engine.uploads.complete({ ...upload, parts: [part] });
    expect(await aborted).toMatchObject({ kind: 'not_found', subject: 'upload' });
    expect(await read(engine, repository, 'main', 'big')).toBe('kept');
  });

  test('goes with its branch', async () => {
    const { world, engine, repository } = await withFailures();
    await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
    const { storageNamespace } = await engine.repositories.get(repository);
    const place = { repository, branch: 'dev', path: 'big' };
    const { uploadId } = await engine.uploads.create({ ...place, owner: 'me' });
    await engine.uploads.putPart({ ...place, uploadId, partNumber: 1, body: randomBytes(10) });
    await engine.branches.delete({ repository, branch: 'dev', actor });
    expect(await stale(world.adapter, storageNamespace)).toBe(0);
  });
});
