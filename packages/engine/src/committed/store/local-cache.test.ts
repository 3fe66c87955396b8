import { createMemAdapter, openBlockStores, type BlockAdapter } from '@svc/block';
import { tempDir, waitUntil } from '@svc/testing';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TableDamage } from './table-damage.ts';
import {
  ArrayIterator,
  context,
  openTestTrees,
  readTree,
  toRecord,
  writeTree,
} from '../test/tree-fixture.ts';

const one = { maxRangeSize: 10_000_000, raggedness: 1_000_000 };
const model = new Map(
  Array.from({ length: 300 }, (_, i) => [`k${String(i).padStart(4, '0')}`, `content ${i * 7919}`]),
);

function counting(adapter: BlockAdapter): {
  adapter: BlockAdapter;
  gets: string[];
  blocked: { gate?: Promise<void> };
} {
  const gets: string[] = [];
  const blocked: { gate?: Promise<void> } = {};
  const counted = new Proxy(adapter, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      if (name !== 'get') return value.bind(target);
      return async (pointer: { identifier: string }) => {
        gets.push(pointer.identifier);
        await blocked.gate;
        return (value as (p: unknown) => unknown).call(target, pointer);
      };
    },
  });
  return { adapter: counted, gets, blocked };
}

function tableFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

describe('the local cache', () => {
  test('lies at host and path of the namespace, named by id, and nothing stays in the workspace', async () => {
    const dir = tempDir();
    const { trees } = await openTestTrees(dir, one);
    const id = await writeTree(trees, model);
    expect(statSync(join(dir, 'meta-range', 'repo', id)).size).toBeGreaterThan(800);
    expect(readdirSync(join(dir, 'range', 'workspace'))).toEqual([]);
    expect(readdirSync(join(dir, 'meta-range', 'workspace'))).toEqual([]);
    await trees.close();
  });

  test('shares the files of tables with a store on the same file system', async () => {
    const root = tempDir();
    const stores = await openBlockStores([{ type: 'local', path: join(root, 'store') }]);
    const { trees } = await openTestTrees(join(root, 'cache'), { ...one, adapter: stores.get('') });
    const local = { ...context, storageNamespace: 'local://repo' };
    const large = Array.from({ length: 5000 }, (_, i) =>
      toRecord(String(i).padStart(6, '0'), randomBytes(64).toString('hex')),
    );
    const { metaRangeId } = await trees.write(local, new ArrayIterator(large));
    const cached = tableFiles(join(root, 'cache', 'range'));
    expect(cached.length).toBeGreaterThan(0);
    const isShared = (file: string): boolean =>
      statSync(file).ino === statSync(join(root, 'store', 'repo', '_svc', basename(file))).ino;
    expect(cached.every(isShared)).toBe(true);
    const other = await openTestTrees(join(root, 'other'), { ...one, adapter: stores.get('') });
    expect((await other.trees.get(local, metaRangeId, Buffer.from('000000')))?.identity).toEqual(
      large[0]?.identity,
    );
    const fetched = tableFiles(join(root, 'other'));
    expect(fetched).toHaveLength(2);
    expect(fetched.every(isShared)).toBe(true);
    await other.trees.close();
    expect((await trees.get(local, metaRangeId, Buffer.from('004999')))?.identity).toEqual(
      large[4999]?.identity,
    );
    await trees.close();
    await stores.close();
  });

  test('knows a tree it has just stored without reading it again', async () => {
    const dir = tempDir();
    const { trees } = await openTestTrees(dir, one);
    const id = await writeTree(trees, model);
    await new Promise((resolve) => setTimeout(resolve, 50));
    rmSync(join(dir, 'meta-range'), { recursive: true });
    expect(trees.getAtOnce(context, id, Buffer.from('k0001'))?.identity.toString()).toBe('content 7919');
    await trees.close();
  });

  test('fetches a table once for all who ask at the same time, and not again after a restart', async () => {
    const store = counting(createMemAdapter({}));
    const writer = await openTestTrees(tempDir(), { ...one, adapter: store.adapter });
    const id = await writeTree(writer.trees, model);
    await writer.trees.close();
    expect(store.gets).toEqual([]);

    const dir = tempDir();
    const reader = await openTestTrees(dir, { ...one, adapter: store.adapter });
    const gate = Promise.withResolvers<void>();
    store.blocked.gate = gate.promise;
    expect(reader.trees.getAtOnce(context, id, Buffer.from('k0001'))).toBeNull();
    const asked = [...model.keys()].slice(0, 20);
    const readers = asked.map((key) => reader.trees.get(context, id, Buffer.from(key)));
    gate.resolve();
    const records = await Promise.all(readers);
    expect(records.map((record) => record?.key.toString())).toEqual(asked);
    expect(records.map((record) => record?.identity.toString())).toEqual(asked.map((key) => model.get(key)));
    expect(store.gets).toHaveLength(2);
    expect(reader.trees.getAtOnce(context, id, Buffer.from('k0001'))?.identity.toString()).toBe(
      'content 7919',
    );
    await reader.trees.close();

    const again = await openTestTrees(dir, { ...one, adapter: store.adapter });
    expect(again.trees.getAtOnce(context, id, Buffer.from('k0002'))?.identity.toString()).toBe(
      'content 15838',
    );
    expect(store.gets).toHaveLength(2);
    await again.trees.close();
  });

  test('found records stay as they were while others push their blocks out of memory', async () => {
    const { trees } = await openTestTrees(tempDir(), { ...one, memoryCacheBytes: 100_000 });
    const large = Array.from({ length: 20_000 }, (_, i) =>
      toRecord(String(i).padStart(6, '0'), `content ${i * 7919}`),
    );
    const { metaRangeId } = await trees.write(context, new ArrayIterator(large));
    const found = large.map(({ key }) => trees.getAtOnce(context, metaRangeId, key));
    expect(found).toEqual(large);
    const waited = large.map(({ key }) => trees.get(context, metaRangeId, key));
    expect(await Promise.all(waited)).toEqual(large);
    await trees.close();
  });

  test('one failed reader does not keep the next from trying again', async () => {
    const adapter = createMemAdapter({});
    const { trees } = await openTestTrees(tempDir(), { ...one, adapter });
    const missing = 'f'.repeat(64);
    await expect(trees.get(context, missing, Buffer.from('a'))).rejects.toMatchObject({ kind: 'corrupt' });
    await expect(trees.get(context, missing, Buffer.from('a'))).rejects.toThrow(
      /_svc\/f+ is missing from mem:\/\/repo/,
    );
    expect(await trees.outline(context, missing)).toBeUndefined();
    await trees.close();
  });

  test('evicts by bytes, keeps what is being read readable, and fetches again what went', async () => {
    const dir = tempDir();
    const { trees, adapter } = await openTestTrees(dir, { ...one, cacheSizeBytes: 60_000 });
    const ids: string[] = [];
    const first = await writeTree(trees, model);
    const reading = trees.iterate(context, first);
    expect(await reading.next()).toBe(true);
    for (let i = 0; i < 20; i++)
      ids.push(await writeTree(trees, new Map([...model].map(([key, text]) => [key, `${text} ${i}`]))));
    let seen = 1;
    while (await reading.next()) seen++;
    expect(seen).toBe(300);
    reading.close();
    for (const [i, id] of ids.entries())
      expect((await readTree(trees, id)).get('k0001')).toBe(`content 7919 ${i}`);
    await trees.close();
    const size = tableFiles(join(dir, 'range')).reduce((sum, path) => sum + statSync(path).size, 0);
    expect(size).toBeLessThan(90_000);
    expect(size).toBeGreaterThan(0);

    const smaller = await openTestTrees(dir, { ...one, adapter, cacheSizeBytes: 20_000 });
    await smaller.trees.close();
    expect(
      tableFiles(join(dir, 'range')).reduce((sum, path) => sum + statSync(path).size, 0),
    ).toBeLessThanOrEqual(18_000);
  });

  test('removes at start what a dead process left half written, and only that', async () => {
    const dir = tempDir();
    const first = await openTestTrees(dir, one);
    const id = await writeTree(first.trees, model);
    await first.trees.close();
    const uuid = '3f0c7a52-8d1e-4c0b-9a43-0d6f1e2b3c4d';
    const dead = 4194303;
    writeFileSync(join(dir, 'range', 'workspace', `${dead}-${uuid}`), 'half');
    writeFileSync(join(dir, 'range', 'repo', `${'a'.repeat(64)}.${dead}-${uuid}.tmp`), 'half');
    writeFileSync(join(dir, 'range', 'workspace', `${process.ppid}-${uuid}`), 'a sibling writes this');
    const second = await openTestTrees(dir, { ...one, adapter: first.adapter });
    expect(readdirSync(join(dir, 'range', 'workspace'))).toEqual([`${process.ppid}-${uuid}`]);
    expect(readdirSync(join(dir, 'range', 'repo')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect((await readTree(second.trees, id)).size).toBe(300);
    await second.trees.close();
  });

  test('keeps its workspace when a namespace of that name is emptied', async () => {
    const dir = tempDir();
    const { trees } = await openTestTrees(dir, { ...one, cacheSizeBytes: 1 });
    const named = { ...context, storageNamespace: 'mem://workspace' };
    for (const content of ['first', 'second', 'third']) {
      await trees.write(named, new ArrayIterator([toRecord('k', content)]));
      await waitUntil(() => tableFiles(dir).length === 0);
    }
    await trees.close();
    expect(statSync(join(dir, 'range', 'workspace')).isDirectory()).toBe(true);
  });

  test('a damaged copy is fetched again', async () => {
    const dir = tempDir();
    const { trees, adapter } = await openTestTrees(dir, one);
    const id = await writeTree(trees, model);
    await trees.close();
    for (const [kind, damage] of [
      ['range', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
      ['meta-range', () => Buffer.alloc(0)],
    ] as const) {
      for (const path of tableFiles(join(dir, kind))) writeFileSync(path, damage(readFileSync(path)));
    }
    const healed = await openTestTrees(dir, { ...one, adapter });
    expect((await readTree(healed.trees, id)).size).toBe(300);
    await healed.trees.close();

    const [range] = tableFiles(join(dir, 'range'));
    const bytes = readFileSync(range!);
    bytes[100]! ^= 1;
    writeFileSync(range!, bytes);
    const told: TableDamage[] = [];
    const hurt = await openTestTrees(dir, { ...one, adapter, onDamage: (damage) => told.push(damage) });
    expect((await hurt.trees.get(context, id, Buffer.from('k0000')))?.identity.toString()).toBe('content 0');
    expect(told).toMatchObject([{ kind: 'range', id: basename(range!), storageNamespace: 'mem://repo' }]);
    await hurt.trees.close();
  });

  test('a damaged table in the block store is a clear error', async () => {
    const adapter = createMemAdapter({});
    const { trees } = await openTestTrees(tempDir(), { ...one, adapter });
    const id = 'e'.repeat(64);
    const pointer = {
      storageNamespace: context.storageNamespace,
      identifier: `_svc/${id}`,
      identifierType: 'relative',
    } as const;
    await adapter.put(pointer, Buffer.from('this is no table'));
    await expect(trees.get(context, id, Buffer.from('a'))).rejects.toThrow(
      /_svc\/e+ of mem:\/\/repo is damaged: corrupt table/,
    );
    await trees.close();
  });

  test('tells what is found, missed, downloaded, evicted and failed', async () => {
    const told: string[] = [];
    const observer = {
      found: (kind: string) => told.push(`${kind} found`),
      missed: (kind: string) => told.push(`${kind} missed`),
      downloaded: (kind: string, bytes: number) => told.push(`${kind} downloaded ${bytes > 800}`),
      evicted: (kind: string, bytes: number) => told.push(`${kind} evicted ${bytes > 800}`),
      failed: (kind: string, what: string) => told.push(`${kind} ${what} failed`),
    };
    const dir = tempDir();
    const { trees, adapter } = await openTestTrees(tempDir(), one);
    const id = await writeTree(trees, model);
    await trees.close();

    const empty = await openTestTrees(dir, { ...one, adapter, cacheObserver: observer });
    await readTree(empty.trees, id);
    await expect(empty.trees.get(context, 'f'.repeat(64), Buffer.from('a'))).rejects.toThrow();
    await empty.trees.close();
    expect(told.splice(0)).toEqual([
      'metarange missed',
      'metarange downloaded true',
      'range missed',
      'range downloaded true',
      'metarange missed',
      'metarange download failed',
    ]);
    const warm = await openTestTrees(dir, { ...one, adapter, cacheObserver: observer });
    await readTree(warm.trees, id);
    await warm.trees.close();
    expect(told.splice(0)).toEqual(['metarange found', 'range found']);
    const small = await openTestTrees(dir, { ...one, adapter, cacheObserver: observer, cacheSizeBytes: 1 });
    await small.trees.close();
    expect(told.splice(0)).toEqual(['range evicted true', 'metarange evicted true']);
  });

  test('proportions that do not add up are refused', async () => {
    await expect(openTestTrees(tempDir(), { rangeProportion: 0.8 })).rejects.toThrow(/must add up to 1/);
  });

  test('a cache folder removed while running is made again', async () => {
    const dir = tempDir();
    const { trees } = await openTestTrees(dir, one);
    const id = await writeTree(trees, model);
    rmSync(join(dir, 'range', 'repo'), { recursive: true });
    rmSync(join(dir, 'meta-range', 'repo'), { recursive: true });
    const other = await writeTree(trees, new Map([['a', 'b']]));
    expect((await readTree(trees, other)).size).toBe(1);
    expect((await readTree(trees, id)).size).toBe(300);
    await trees.close();
  });
});
