import { crc32c } from '@svc/encoding';
import { tempDir } from '@svc/testing';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { isTableId } from '../format/table-id.ts';
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
} from '../test/tree-fixture.ts';

let trees: CommittedTrees;
afterEach(() => trees.close());

/** One range of a hundred blocks whose records differ in size. */
async function openOneRange(): Promise<string> {
  const cacheDir = tempDir();
  ({ trees } = await openTestTrees(cacheDir, { maxRangeSize: 10_000_000, raggedness: 1_000_000_000 }));
  return cacheDir;
}

function manyRecords(): Map<string, string> {
  return new Map(
    Array.from({ length: 3000 }, (_, i) => [
      `k${10_000 + 2 * i}`,
      `content ${i} `.repeat(1 + ((i * 7919) % 11)),
    ]),
  );
}

async function change(base: Model, baseId: string, changes: Record<string, string | undefined>) {
  const model = new Map(base);
  for (const [key, content] of Object.entries(changes))
    if (content === undefined) model.delete(key);
    else model.set(key, content);
  const { metaRangeId: id } = await trees.apply(context, baseId, changesBetween(base, model));
  return { model, id };
}

test('merging inside one range gives the tree that writing the result would give', async () => {
  await openOneRange();
  const base = manyRecords();
  const baseId = await writeTree(trees, base);
  const sides: [Record<string, string | undefined>, Record<string, string | undefined>][] = [
    [{ k12001: 'added' }, { k14001: 'added' }],
    [{ k10000: undefined }, { k15998: undefined }],
    [{ k09999: 'first' }, { k15997: 'last' }],
    [
      { k12000: 'changed', k12002: undefined },
      { k12001: 'between', k12003: 'behind' },
    ],
    [{ k12000: 'same' }, { k12000: 'same', k13000: undefined }],
    [{ k10001: 'a', k15997: 'b' }, { k13001: 'c'.repeat(5000) }],
  ];
  for (const [ofSource, ofDestination] of sides) {
    const source = await change(base, baseId, ofSource);
    const destination = await change(base, baseId, ofDestination);
    const expected = (await change(source.model, source.id, ofDestination)).model;
    const input = { base: baseId, source: source.id, destination: destination.id, strategy: 'none' } as const;
    const merged = await trees.merge(context, input);
    expect(merged).toEqual({ kind: 'merged', metaRangeId: await writeTree(trees, expected) });
  }
});

test('nothing but the tables themselves is kept of a range, and nothing beside them is believed', async () => {
  const cacheDir = await openOneRange();
  const base = manyRecords();
  const baseId = await writeTree(trees, base);
  const source = await change(base, baseId, { k12001: 'added by the source' });
  const destination = await change(base, baseId, { k14001: 'added by the destination' });
  const folder = join(cacheDir, 'range', 'repo');
  const files = readdirSync(folder);
  expect(files.filter((name) => !isTableId(name))).toEqual([]);

  // What claims that no key of a range differs from another's.
  const nothing = Buffer.alloc(5);
  nothing.writeUInt32LE(crc32c(nothing.subarray(0, 1)), 1);
  for (const one of files)
    for (const other of files) writeFileSync(join(folder, `${one}.${other}.changes`), nothing);
  expect(await readDiff(trees.diff(context, baseId, source.id))).toEqual([
    'added k12001=added by the source',
  ]);
  const input = { base: baseId, source: source.id, destination: destination.id, strategy: 'none' } as const;
  const merged = await trees.merge(context, input);
  const id = merged.kind === 'merged' ? merged.metaRangeId : '';
  const expected = new Map(destination.model).set('k12001', 'added by the source');
  expect(await readTree(trees, id)).toEqual(new Map(sorted(expected)));
});
