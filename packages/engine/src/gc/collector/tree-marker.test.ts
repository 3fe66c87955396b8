import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeEntry, zeroTimestamp } from '@svc/encoding';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { ArrayIterator, context, openTestTrees } from '../../committed/test/tree-fixture.ts';
import type { CommittedTrees, TreeRecord } from '../../committed/tree.ts';
import { shardOf } from './address-hash.ts';
import { MarkCache } from './mark-cache.ts';
import { Marks } from './marks.ts';
import { MarkThreads } from './mark-threads.ts';
import { RangeReader } from './range-reader.ts';
import { TreeMarker } from './tree-marker.ts';

const partition = 'gk3f7ctl8q3s73frlr8g';
const addressOf = (number: number): string => `data/${partition}/${String(number).padStart(19, '0')}0`;

function recordOf(key: number, address: number): TreeRecord {
  const entry = {
    // Some are spelled in full, and some are signed.
    address: `${address % 3 === 0 ? 's3://bucket/repo/' : ''}${addressOf(address)}${address % 5 === 0 ? `,${'s'.repeat(43)}` : ''}`,
    addressType: address % 3 === 0 ? 2 : 1,
    lastModified: zeroTimestamp,
    size: address,
    etag: `${address}`,
    metadata: address % 7 === 0 ? { long: 'x'.repeat(200) } : {},
    contentType: '',
  } as const;
  return {
    key: Buffer.from(String(key).padStart(8, '0')),
    identity: Buffer.from(`identity of ${address}`),
    data: encodeEntry(entry),
  };
}

/** Trees of one history, newest first; the third is the first once more, with one change. */
async function writeHistory(
  trees: CommittedTrees,
  records: number,
): Promise<{ ids: string[]; used: Set<number> }> {
  const used = new Set<number>();
  const ids: string[] = [];
  let addresses = Array.from({ length: records }, (_, key) => key);
  const first = addresses;
  for (let commit = 1; commit <= 6; commit += 1) {
    for (const address of addresses) used.add(address);
    const all = new ArrayIterator(addresses.map((address, key) => recordOf(key, address)));
    ids.unshift((await trees.write(context, all)).metaRangeId);
    addresses = [...(commit === 3 ? first : addresses)];
    for (let key = commit; key < records; key += Math.floor(records / 5))
      addresses[key] = 100_000 * commit + key;
  }
  return { ids, used };
}

/** Counts what is really read, and what of it is read without threads. */
function counted(trees: CommittedTrees): {
  trees: CommittedTrees;
  reads: () => number;
  readsHere: () => number;
} {
  let reads = 0;
  let readsHere = 0;
  const proxy = new Proxy(trees, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'visitRange' || name === 'withRangeFile') reads += 1;
      if (name === 'visitRange') readsHere += 1;
      return member.bind(target) as unknown;
    },
  });
  return { trees: proxy, reads: () => reads, readsHere: () => readsHere };
}

async function marked(
  trees: CommittedTrees,
  ids: readonly string[],
  folder: string,
  entry?: URL,
): Promise<{
  has: (address: number) => boolean;
  count: number;
  reads: number;
  readsHere: number;
  broken: unknown[];
  sizes: ReadonlyMap<string, number>;
}> {
  const counting = counted(trees);
  const marks = new Marks(tempDir('marks'));
  const broken: unknown[] = [];
  const threads = new MarkThreads(2, { heapMegabytes: 64, onBroken: (error) => broken.push(error) }, entry);
  const cache = new MarkCache(folder);
  const pause = (): Promise<void> => Promise.resolve();
  const parts = { cache, threads, scratch: tempDir('scratch'), pause };
  const reader = new RangeReader(counting.trees, context, parts);
  const marker = new TreeMarker(counting.trees, context, marks, { reader, cache, pause });
  try {
    for (const [index, id] of ids.entries()) await marker.mark(id, ids[index - 1] ?? '', true);
  } finally {
    await threads.close();
    cache.prune(marker.firstRanges, Date.now(), 1_000_000_000);
  }
  const set = marks.load(shardOf(partition));
  return {
    has: (address) => set.use(addressOf(address)) === 'active',
    count: marks.count,
    reads: counting.reads(),
    readsHere: counting.readsHere(),
    broken,
    sizes: marker.sizes,
  };
}

function* filesBelow(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

describe.each([
  { how: 'small ranges, read here', records: 300, maxRangeSize: 3000, inThreads: false },
  { how: 'large ranges, read in threads', records: 7000, maxRangeSize: 500_000, inThreads: true },
])('marking a history of $how', ({ records, maxRangeSize, inThreads }) => {
  it('marks what any tree holds, and little of it twice', async () => {
    const { trees } = await openTestTrees(tempDir('cache'), { maxRangeSize, raggedness: 1_000_000 });
    const { ids, used } = await writeHistory(trees, records);
    const folder = join(tempDir('known'), 'repo');
    const first = await marked(trees, ids, folder);
    for (const address of used) expect(first.has(address)).toBe(true);
    expect(first.has(99_999_999)).toBe(false);
    expect(first.count).toBeLessThan(2 * used.size);
    const oldest = await trees.ranges(context, ids.at(-1) ?? '');
    const bytes = oldest.reduce((sum, { id }) => sum + (first.sizes.get(id) ?? 0), 0);
    expect(bytes).toBe((records * (records - 1)) / 2);
    expect(first.readsHere === 0).toBe(inThreads);
    expect(first.broken).toEqual([]);

    const again = await marked(trees, ids, folder);
    for (const address of used) expect(again.has(address)).toBe(true);
    expect(again.reads).toBeLessThan(first.reads / 2);
    expect(again.sizes).toEqual(first.sizes);

    // Another start: what the kept differences passed over was never marked in this run.
    const [newest, ...older] = ids;
    const other = await marked(trees, [...older, newest ?? ''], folder);
    for (const address of used) expect(other.has(address)).toBe(true);

    let files = 0;
    for (const path of filesBelow(folder)) {
      const bytes = readFileSync(path);
      const middle = Math.floor(bytes.length / 2);
      bytes[middle] = (bytes[middle] ?? 0) ^ 0x10;
      writeFileSync(path, bytes);
      files += 1;
    }
    expect(files).toBeGreaterThan(2);
    const damaged = await marked(trees, ids, folder);
    for (const address of used) expect(damaged.has(address)).toBe(true);
    expect(damaged.sizes).toEqual(first.sizes);
    await trees.close();
  });
});

describe('marking ranges', () => {
  it('uses a kept difference only when what it passed over is marked in this run, too', async () => {
    const { trees } = await openTestTrees(tempDir('cache'), { maxRangeSize: 3000, raggedness: 1_000_000 });
    const base = Array.from({ length: 300 }, (_, key) => key);
    const write = async (addresses: readonly number[]): Promise<string> => {
      const all = new ArrayIterator(addresses.map((address, key) => recordOf(key, address)));
      return (await trees.write(context, all)).metaRangeId;
    };
    const first = await write(base);
    const second = await write(base.map((address) => (address % 60 === 0 ? 100_000 + address : address)));
    // It has ranges of the first tree that the second does not have.
    const third = await write([...base.slice(0, -1), 200_000]);
    const folder = join(tempDir('known'), 'repo');
    await marked(trees, [first, second, third], folder);
    const later = await marked(trees, [second, third], folder);
    for (const address of [...base.slice(0, -1), 200_000]) expect(later.has(address)).toBe(true);
    await trees.close();
  });

  it('goes on without threads when they cannot start, and tells of it once', async () => {
    const { trees } = await openTestTrees(tempDir('cache'), {
      maxRangeSize: 500_000,
      raggedness: 1_000_000,
    });
    const { ids, used } = await writeHistory(trees, 7000);
    const absent = new URL('./absent.js', import.meta.url);
    const found = await marked(trees, ids, join(tempDir('known'), 'repo'), absent);
    for (const address of used) expect(found.has(address)).toBe(true);
    expect(found.readsHere).toBeGreaterThan(0);
    expect(found.broken).toEqual([expect.objectContaining({ message: expect.stringContaining('absent') })]);
    await trees.close();
  });

  it.each([
    { place: 0, records: 100, maxRangeSize: 3000 },
    { place: 0, records: 7000, maxRangeSize: 500_000 },
    // This one is compared with the tree before it.
    { place: 1, records: 7000, maxRangeSize: 500_000 },
  ])('fails when a range of $records holds fewer records than its tree says', async (each) => {
    const { place, records, maxRangeSize } = each;
    const { trees } = await openTestTrees(tempDir('cache'), { maxRangeSize, raggedness: 1_000_000 });
    const { ids } = await writeHistory(trees, records);
    const lying = new Proxy(trees, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (name === 'ranges') {
          return async (...args: Parameters<CommittedTrees['ranges']>) => {
            const more = args[1] === ids[place] ? 1 : 0;
            return (await target.ranges(...args)).map((range) => ({ ...range, count: range.count + more }));
          };
        }
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
    await expect(marked(lying, ids, join(tempDir('known'), 'repo'))).rejects.toThrow(/its metarange says/);
    await trees.close();
  });
});
