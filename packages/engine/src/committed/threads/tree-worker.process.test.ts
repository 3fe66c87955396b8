import { tempDir } from '@svc/testing';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createMemAdapter, type BlockAdapter } from '@svc/block';
import { afterEach, describe, expect, test } from 'vitest';
import type { CommittedTrees, RecordIterator, TreeRecord } from '../tree.ts';
import { context, openTestTrees } from '../test/tree-fixture.ts';

const split = { minRangeSize: 0, maxRangeSize: 20_971_520, raggedness: 5000 };
const opened: CommittedTrees[] = [];
afterEach(async () => {
  for (const trees of opened.splice(0)) await trees.close();
});

async function open(options: Parameters<typeof openTestTrees>[1], dir = tempDir()): Promise<CommittedTrees> {
  const { trees } = await openTestTrees(dir, { ...split, ...options });
  opened.push(trees);
  return trees;
}

/** Records made as they are read: nothing holds them all. */
class Generated implements RecordIterator {
  readonly #count: number;
  readonly #make: (i: number) => TreeRecord;
  #at = -1;
  #record: TreeRecord | undefined;

  constructor(count: number, make: (i: number) => TreeRecord) {
    this.#count = count;
    this.#make = make;
  }

  get key(): Buffer {
    return this.#record!.key;
  }

  get identity(): Buffer {
    return this.#record!.identity;
  }

  get data(): Buffer {
    return this.#record!.data;
  }

  next(): boolean {
    if (++this.#at >= this.#count) return false;
    this.#record = this.#make(this.#at);
    return true;
  }

  seek(): void {}
  close(): void {}
}

function made(i: number, content = 'c'): TreeRecord {
  const key = `d${String(Math.floor(i / 1000)).padStart(4, '0')}/f${String(i % 1000).padStart(4, '0')}`;
  return {
    key: Buffer.from(key),
    identity: Buffer.from(`${content}${i}`.padEnd(32, '.')),
    data: Buffer.from(`entry of ${key}`),
  };
}

describe('heavy work in a worker', () => {
  test('gives the same trees as work done here', async () => {
    const here = await open({ worker: false });
    const there = await open({ worker: true });
    const count = 60_000;
    const base = await here.write(context, new Generated(count, (i) => made(2 * i)));
    const written = await there.write(context, new Generated(count, (i) => made(2 * i)));
    expect(written).toEqual(base);

    const changes = (): RecordIterator =>
      new Generated(count, (i) => (i % 3 === 0 ? made(2 * i, 'x') : made(2 * i + 1)));
    const expected = await here.apply(context, base.metaRangeId, changes());
    const applied = await there.apply(context, written.metaRangeId, changes());
    expect(applied).toEqual(expected);
    expect([applied.added, applied.removed, applied.changed]).toEqual([40_000, 0, 20_000]);

    const merge = { base: base.metaRangeId, source: applied.metaRangeId, strategy: 'none' } as const;
    const one = (trees: CommittedTrees) =>
      trees.apply(context, base.metaRangeId, new Generated(1, () => made(2 * 31_001, 'y')));
    const destination = await one(here);
    expect(await one(there)).toEqual(destination);
    expect(await there.merge(context, { ...merge, destination: destination.metaRangeId })).toEqual(
      await here.merge(context, { ...merge, destination: destination.metaRangeId }),
    );
  });

  test('gives the same trees when it goes on from what it remembers of earlier ones', async () => {
    const here = await open({ worker: false, raggedness: 1_000_000 });
    const there = await open({ worker: true, raggedness: 1_000_000 });
    const count = 30_000;
    const base = (await here.write(context, new Generated(count, (i) => made(2 * i)))).metaRangeId;
    expect((await there.write(context, new Generated(count, (i) => made(2 * i)))).metaRangeId).toBe(base);
    const apply = async (from: string, at: number, content: string): Promise<string> => {
      const changes = (): RecordIterator => new Generated(2, (i) => made(at + 3 * i, content));
      const expected = await here.apply(context, from, changes());
      expect(await there.apply(context, from, changes())).toEqual(expected);
      return expected.metaRangeId;
    };
    let tree = base;
    for (const at of [59_990, 41_000, 20_001, 55_555, 30_000, 1]) tree = await apply(tree, at, `n${at}`);
    for (const at of [59_001, 33_333, 7]) {
      const source = await apply(base, at, 's');
      const destination = await apply(base, 60_000 - at, 'd');
      const input = { base, source, destination, strategy: 'none' } as const;
      const merged = await here.merge(context, input);
      expect(merged.kind).toBe('merged');
      expect(await there.merge(context, input)).toEqual(merged);
    }
  });

  test('a failing upload is the error the caller sees, nothing is left behind, and the worker goes on', async () => {
    const adapter = createMemAdapter({});
    let refuse = true;
    const failing = new Proxy<BlockAdapter>(adapter, {
      get(target, name) {
        if (name === 'put' && refuse) return () => Promise.reject(new Error('the store is full'));
        const value = Reflect.get(target, name, target) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const dir = tempDir();
    const trees = await open({ worker: true, adapter: failing }, dir);
    await expect(trees.write(context, new Generated(30_000, made))).rejects.toThrow('the store is full');
    expect(readdirSync(join(dir, 'range', 'workspace'))).toEqual([]);
    refuse = false;
    expect((await trees.write(context, new Generated(30_000, made))).count).toBe(30_000);
    expect(readdirSync(join(dir, 'range', 'workspace'))).toEqual([]);
  });

  test('a failing source of changes is the error the caller sees', async () => {
    const trees = await open({ worker: true });
    const broken = new Generated(30_000, (i) => {
      if (i === 20_000) throw new Error('the scan failed');
      return made(i);
    });
    await expect(trees.apply(context, '', broken)).rejects.toThrow('the scan failed');
    expect((await trees.write(context, new Generated(10_000, made))).count).toBe(10_000);
  });

  test('records out of order are refused', async () => {
    const trees = await open({ worker: true });
    await expect(
      trees.write(context, new Generated(10_000, (i) => made(i === 9000 ? 5 : i))),
    ).rejects.toThrow(/ascending order/);
  });

  test('small work goes on beside large work', async () => {
    const trees = await open({ worker: true });
    const base = await trees.write(context, new Generated(20_000, made));
    let largeDone = false;
    const large = trees.write(context, new Generated(150_000, made)).finally(() => {
      largeDone = true;
    });
    const applied = await trees.apply(context, base.metaRangeId, new Generated(1, () => made(10_000, 'z')));
    expect(applied.changed).toBe(1);
    expect(largeDone).toBe(false);
    expect((await large).count).toBe(150_000);
  });
});
