import { createMemAdapter, type BlockAdapter, type ObjectPointer } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import type { TableDamage } from '../store/table-damage.ts';
import type { CommittedTrees } from '../tree.ts';
import {
  changesBetween,
  context,
  type Model,
  openTestTrees,
  readDiff,
  readTree,
  sorted,
  writeTree,
} from './tree-fixture.ts';
import { expectedDiff } from './tree-oracle.ts';

/** One range of some blocks. */
const split = { maxRangeSize: 10_000_000, raggedness: 1_000_000 };

const base: Model = new Map(
  Array.from({ length: 220 }, (_, i) => [
    `k${String(i).padStart(4, '0')}`,
    `${(i * 2654435761) % 4294967296}-`.repeat(4),
  ]),
);
const edited = new Map(base).set('k0003', 'changed').set('k0100x', 'added');
edited.delete('k0150');

interface Stored {
  readonly adapter: BlockAdapter;
  readonly baseId: string;
  readonly editedId: string;
  /** Identifiers of the base's range and metarange. */
  readonly range: string;
  readonly metaRange: string;
}

const pointerTo = (identifier: string): ObjectPointer => ({
  storageNamespace: context.storageNamespace,
  identifier,
  identifierType: 'relative',
});

async function store(): Promise<Stored> {
  const adapter = createMemAdapter({});
  const put: string[] = [];
  const noting = new Proxy(adapter, {
    get: (target, name) =>
      name === 'put'
        ? (...args: Parameters<BlockAdapter['put']>) => {
            put.push(args[0].identifier);
            return adapter.put(...args);
          }
        : Reflect.get(target, name).bind?.(target),
  });
  const { trees } = await openTestTrees(tempDir(), { ...split, adapter: noting });
  const baseId = await writeTree(trees, base);
  const [range] = put;
  const { metaRangeId: editedId } = await trees.apply(context, baseId, changesBetween(base, edited));
  await trees.close();
  return { adapter, baseId, editedId, range: range!, metaRange: `_svc/${baseId}` };
}

async function bytesOf(adapter: BlockAdapter, identifier: string): Promise<Buffer> {
  const body = await adapter.get(pointerTo(identifier));
  return Buffer.concat((await body.stream().toArray()) as Buffer[]);
}

/** What a call answers; `damaged` when it says so. Every other failure fails the test. */
async function outcome<Result>(call: () => Promise<Result>): Promise<Result | 'damaged'> {
  try {
    return await call();
  } catch (error) {
    expect((error as { kind?: string }).kind, String(error)).toBe('corrupt');
    return 'damaged';
  }
}

/** Every way to read the base and what it must answer; none may miss a key or make one up. */
const ways: Record<string, (trees: CommittedTrees, stored: Stored) => Promise<void>> = {
  async lookups(trees, { baseId }) {
    for (const key of ['k0000', 'k0077', 'k0219']) {
      const found = await outcome(() => trees.get(context, baseId, Buffer.from(key)));
      if (found !== 'damaged') expect(found?.identity.toString()).toBe(base.get(key));
      const atOnce = trees.getAtOnce(context, baseId, Buffer.from(key));
      if (atOnce !== null) expect(atOnce?.identity.toString()).toBe(base.get(key));
    }
    const absent = await outcome(() => trees.get(context, baseId, Buffer.from('k0100a')));
    if (absent !== 'damaged') expect(absent).toBeUndefined();
  },
  // Those that begin at once meet each other on the same table.
  async 'lookups side by side'(trees, { baseId }) {
    const keys = [...base.keys()].slice(0, 40);
    for (const key of keys) trees.getAtOnce(context, baseId, Buffer.from(key));
    await Promise.all(
      keys.map(async (key) => {
        const found = await outcome(() => trees.get(context, baseId, Buffer.from(key)));
        if (found !== 'damaged') expect(found?.identity.toString()).toBe(base.get(key));
      }),
    );
  },
  async listing(trees, { baseId }) {
    const all = await outcome(() => readTree(trees, baseId));
    if (all !== 'damaged') expect(all).toEqual(new Map(sorted(base)));
    const some = await outcome(() => readTree(trees, baseId, 'k0200'));
    if (some !== 'damaged') expect([...some.keys()][0]).toBe('k0200');
  },
  async diff(trees, { baseId, editedId }) {
    const shown = await outcome(() => readDiff(trees.diff(context, baseId, editedId)));
    if (shown !== 'damaged') expect(shown).toEqual(expectedDiff(base, edited));
    const input = { base: baseId, source: editedId, destination: baseId };
    const merged = await outcome(() => readDiff(trees.mergeDiff(context, input)));
    if (merged !== 'damaged') expect(merged).toEqual(expectedDiff(base, edited));
  },
  async commit(trees, { baseId }) {
    const next = new Map(base).set('k0050', 'again').set('k0210', 'again');
    const applied = await outcome(() => trees.apply(context, baseId, changesBetween(base, next)));
    if (applied === 'damaged') return;
    const read = await outcome(() => readTree(trees, applied.metaRangeId));
    if (read !== 'damaged') expect(read).toEqual(new Map(sorted(next)));
  },
  async merge(trees, { baseId, editedId }) {
    const other = await outcome(() =>
      trees.apply(context, editedId, changesBetween(edited, new Map(edited).set('k0060', 'other'))),
    );
    if (other === 'damaged') return;
    const input = { base: editedId, source: other.metaRangeId, destination: baseId } as const;
    const merged = await outcome(() => trees.merge(context, { ...input, strategy: 'source-wins' }));
    if (merged === 'damaged') return;
    expect(merged.kind).toBe('merged');
    if (merged.kind !== 'merged') return;
    const read = await outcome(() => readTree(trees, merged.metaRangeId));
    if (read !== 'damaged') expect(read).toEqual(new Map(sorted(new Map(base).set('k0060', 'other'))));
  },
  async import(trees, { baseId }) {
    const added = await writeTree(trees, new Map([['k0005', 'imported']]));
    const scope = { prefixes: [], keys: [] };
    const imported = await outcome(() => trees.mergeImport(context, baseId, added, scope));
    if (imported === 'damaged') return;
    const read = await outcome(() => readTree(trees, imported));
    if (read !== 'damaged') expect(read).toEqual(new Map(sorted(new Map(base).set('k0005', 'imported'))));
  },
};

/** Where to flip a byte: all over the table, and all of its end, where index, properties and footer lie. */
function places(length: number, step: number): number[] {
  return Array.from({ length }, (_, at) => at).filter((at) => at % step === 0 || at >= length - 60);
}

test.each(Object.keys(ways))(
  'a flipped byte in a stored range never passes for a missing key: %s',
  async (way) => {
    const stored = await store();
    const sound = await bytesOf(stored.adapter, stored.range);
    for (const at of places(sound.length, 251)) {
      const bytes = Buffer.from(sound);
      bytes[at]! ^= 1 << (at % 8);
      await stored.adapter.put(pointerTo(stored.range), bytes);
      const { trees } = await openTestTrees(tempDir(), { ...split, adapter: stored.adapter, openRanges: 1 });
      await ways[way]!(trees, stored).catch((error: unknown) => {
        throw new Error(`byte ${at} of ${sound.length}`, { cause: error });
      });
      await trees.close();
    }
  },
);

test.each([
  ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length - 30)],
  ['empty', () => Buffer.alloc(0)],
  ['without its first half', (bytes: Buffer) => bytes.subarray(bytes.length >> 1)],
  ['missing', () => undefined],
] as const)(
  'a range or metarange that is %s is damage on every way, and told with its id',
  async (_, damage) => {
    for (const what of ['range', 'metaRange'] as const) {
      const stored = await store();
      const pointer = pointerTo(stored[what]);
      const hurt = damage(await bytesOf(stored.adapter, stored[what]));
      if (hurt === undefined) await stored.adapter.delete(pointer);
      else await stored.adapter.put(pointer, hurt);
      const told: TableDamage[] = [];
      const options = {
        ...split,
        adapter: stored.adapter,
        onDamage: (found: TableDamage) => told.push(found),
      };
      for (const [way, read] of Object.entries(ways)) {
        const { trees } = await openTestTrees(tempDir(), options);
        const { baseId } = stored;
        expect(await outcome(() => trees.get(context, baseId, Buffer.from('k0077'))), way).toBe('damaged');
        expect(await outcome(() => readTree(trees, baseId)), way).toBe('damaged');
        await read(trees, stored);
        await trees.close();
      }
      const kind = what === 'range' ? 'range' : 'metarange';
      expect(new Set(told.map((found) => `${found.kind} ${found.id}`))).toEqual(
        new Set([`${kind} ${stored[what].slice('_svc/'.length)}`]),
      );
    }
  },
);

test('a thread that comes across damage says which range it is', async () => {
  const stored = await store();
  const bytes = await bytesOf(stored.adapter, stored.range);
  bytes[bytes.length >> 2]! ^= 1;
  await stored.adapter.put(pointerTo(stored.range), bytes);
  const told: TableDamage[] = [];
  const { trees } = await openTestTrees(tempDir(), {
    ...split,
    adapter: stored.adapter,
    worker: true,
    onDamage: (found) => told.push(found),
  });
  const many = new Map(base);
  for (let i = 0; i < 3000; i++) many.set(`n${i}`, 'new');
  many.set('k0001', 'changed').set('k0218', 'changed');
  const changed = trees.apply(context, stored.baseId, changesBetween(base, many));
  const id = stored.range.slice('_svc/'.length);
  await expect(changed).rejects.toMatchObject({ kind: 'corrupt', message: expect.stringContaining(id) });
  expect(told).toContainEqual(expect.objectContaining({ kind: 'range', id }));
  await trees.close();
});

test('a block that is damaged on disk after it was decoded is not copied into a new range', async () => {
  const dir = tempDir();
  const { adapter, baseId, range } = await store();
  const { trees } = await openTestTrees(dir, { ...split, adapter });
  // Every block is in memory now.
  for (const key of base.keys()) await trees.get(context, baseId, Buffer.from(key));
  const { openSync, writeSync, closeSync } = await import('node:fs');
  const file = openSync(`${dir}/range/repo/${range.slice('_svc/'.length)}`, 'r+');
  writeSync(file, Buffer.alloc(16, 0xa5), 0, 16, 20);
  closeSync(file);
  const next = new Map(base).set('k0210', 'again');
  const applied = await outcome(() => trees.apply(context, baseId, changesBetween(base, next)));
  if (applied !== 'damaged') {
    const other = await openTestTrees(tempDir(), { ...split, adapter });
    expect(await readTree(other.trees, applied.metaRangeId)).toEqual(new Map(sorted(next)));
    await other.trees.close();
  }
  await trees.close();
});
