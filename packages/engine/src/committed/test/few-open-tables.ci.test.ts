import { setTimeout as delay } from 'node:timers/promises';
import type { BlockAdapter } from '@svc/block';
import { tempDir } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import type { CommittedTreesOptions } from '../committed-trees.ts';
import { checkHistories, historySettings, removeHistoryFolders } from './random-history.ts';
import { localStore, s3Store, slowStore } from './test-stores.ts';
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
import { expectedDiff, expectedImport, expectedMerge } from './tree-oracle.ts';

afterAll(removeHistoryFolders);

/** Nearly every read opens a table, decodes its block and pushes out another's file. */
const scarce = { memoryCacheBytes: 1000, cacheSizeBytes: 10_000 } satisfies Partial<CommittedTreesOptions>;

const committers = 12;
const readers = 16;

function numbered(count: number): Map<string, string> {
  return new Map(Array.from({ length: count }, (_, i) => [`k${String(i).padStart(5, '0')}`, `content ${i}`]));
}

/** What committer `number` makes of the base: some keys changed, some gone, some new, all over the tree. */
function edited(base: Model, number: number): Map<string, string> {
  const keys = [...base.keys()];
  const model = new Map(base);
  for (let i = number; i < keys.length; i += 37) model.set(keys[i]!, `of ${number}`);
  for (let i = number + 14; i < keys.length; i += 41) model.delete(keys[i]!);
  for (let i = number; i < keys.length; i += 61) model.set(`${keys[i]!}/new-${number}`, 'new');
  return model;
}

const stores: Record<string, () => Promise<BlockAdapter | undefined>> = {
  slow: () => Promise.resolve(slowStore()),
  local: localStore,
  S3: s3Store,
};

test.each([
  { store: 'slow', openRanges: 1, worker: true },
  { store: 'slow', openRanges: 3, worker: false },
  { store: 'local', openRanges: 1, worker: false },
  { store: 'local', openRanges: 2, worker: true },
  { store: 'S3', openRanges: 1, worker: false },
  { store: 'S3', openRanges: 3, worker: true },
])(
  'committers beside readers lose nothing: $store store, $openRanges open tables, with a worker: $worker',
  async ({ store, openRanges, worker }) => {
    const adapter = await stores[store]!();
    if (adapter === undefined) return;
    const base = numbered(160);
    const options = { ...scarce, maxRangeSize: 1500, openRanges, worker, adapter };
    const { trees } = await openTestTrees(tempDir(), options);
    try {
      const baseId = await writeTree(trees, base);
      const keys = [...base.keys()];
      const state = { committing: true };
      const read = async (number: number): Promise<void> => {
        for (let i = number * 89; state.committing; i += 31) {
          const key = keys[i % keys.length]!;
          const found = await trees.get(context, baseId, Buffer.from(key));
          expect(found?.identity.toString()).toBe(base.get(key));
          const atOnce = trees.getAtOnce(context, baseId, Buffer.from(key));
          if (atOnce !== null) expect(atOnce?.identity.toString()).toBe(base.get(key));
          const records = trees.iterate(context, baseId, Buffer.from(key));
          for (const expected of keys.slice(i % keys.length, (i % keys.length) + 5)) {
            expect(await records.next()).toBe(true);
            expect(records.key.toString()).toBe(expected);
          }
          records.close();
          await delay(10);
        }
      };
      const commit = async (number: number): Promise<string> => {
        const model = edited(base, number);
        const { metaRangeId } = await trees.apply(context, baseId, changesBetween(base, model));
        expect(await readTree(trees, metaRangeId)).toEqual(new Map(sorted(model)));
        return metaRangeId;
      };
      const reading = Promise.all(Array.from({ length: readers }, (_, number) => read(number)));
      const commits = Promise.all(Array.from({ length: committers }, (_, number) => commit(number)));
      const ids = await commits.finally(() => {
        state.committing = false;
      });
      await reading;

      const pairs = ids
        .slice(0, 6)
        .map((id, i) => ({ left: i, right: i + 6, leftId: id, rightId: ids[i + 6]! }));
      await Promise.all(
        pairs.map(async ({ left, right, leftId, rightId }) => {
          const [source, destination] = [edited(base, left), edited(base, right)];
          expect(await readDiff(trees.diff(context, leftId, rightId))).toEqual(
            expectedDiff(source, destination),
          );
          const input = {
            base: baseId,
            source: leftId,
            destination: rightId,
            strategy: 'source-wins',
          } as const;
          const merged = await trees.merge(context, input);
          const expected = expectedMerge(base, source, destination, 'source-wins') as { result: Model };
          expect(merged.kind).toBe('merged');
          if (merged.kind === 'merged')
            expect(await readTree(trees, merged.metaRangeId)).toEqual(new Map(sorted(expected.result)));
          const scope = { prefixes: [], keys: [Buffer.from(keys[7]!), Buffer.from(keys[150]!)] };
          const imported = await trees.mergeImport(context, rightId, leftId, scope);
          expect(await readTree(trees, imported)).toEqual(
            new Map(sorted(expectedImport(destination, source, scope))),
          );
        }),
      );
    } finally {
      await trees.close();
    }
  },
  180_000,
);

test.each([1, 2, 3])(
  'random histories agree with plain maps, %d open tables',
  async (openRanges) => {
    const { share: _, ...split } = historySettings[0]!;
    // Several at once, so that each closes what another has just opened.
    const run = { trees: { ...scarce, openRanges, adapter: slowStore() }, atOnce: 6 };
    expect(await checkHistories(split, openRanges * 100_000, 30, run)).toBe(30);
  },
  180_000,
);
