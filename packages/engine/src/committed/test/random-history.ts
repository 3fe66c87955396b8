import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CommittedTrees, ImportScope } from '../tree.ts';
import type { SplitSettings } from '../operations/tree-writer.ts';
import {
  ArrayIterator,
  changesBetween,
  context,
  type Model,
  openTestTrees,
  readDiff,
  readTree,
  sorted,
  toRecord,
  writeTree,
} from './tree-fixture.ts';
import { type ModelSides, randomResolutions, resolutionRecords } from './random-resolutions.ts';
import {
  expectedDiff,
  expectedImport,
  expectedMerge,
  expectedMergeDiff,
  expectedResolvedMerge,
  type ModelResolutions,
} from './tree-oracle.ts';

/** Tiny ranges cut by size, by hash, by both, and one range per record; with the share of histories each gets. */
export const historySettings = [
  { share: 0.4, minRangeSize: 0, maxRangeSize: 600, raggedness: 5 },
  { share: 0.3, minRangeSize: 0, maxRangeSize: 100_000, raggedness: 3 },
  { share: 0.25, minRangeSize: 200, maxRangeSize: 500, raggedness: 2 },
  { share: 0.05, minRangeSize: 0, maxRangeSize: 1, raggedness: 50_000 },
];

const folders: string[] = [];

/** Histories write many small files; memory keeps them off the disk where it can. */
function historyFolder(): string {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'svc-history-'));
  folders.push(folder);
  return folder;
}

export function removeHistoryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export interface HistoryRun {
  readonly trees?: Parameters<typeof openTestTrees>[1];
  /** How many histories share the trees at the same time. */
  readonly atOnce?: number;
}

/** Checks `count` histories and answers how many; a failure names the seed. */
export async function checkHistories(
  split: SplitSettings,
  firstSeed: number,
  count: number,
  run: HistoryRun = {},
): Promise<number> {
  let checked = 0;
  const perStore = 100;
  for (let seed = firstSeed; seed < firstSeed + count; seed += perStore) {
    const options = { ...split, cacheSizeBytes: 4_000_000, ...run.trees };
    const { trees, adapter } = await openTestTrees(historyFolder(), options);
    const stranger = await openTestTrees(historyFolder(), { ...options, adapter });
    const end = Math.min(seed + perStore, firstSeed + count);
    let next = seed;
    const checkNext = async (): Promise<void> => {
      while (next < end) {
        const each = next++;
        await checkHistory(trees, stranger.trees, each).catch((error: unknown) => {
          throw new Error(`history ${each} failed`, { cause: error });
        });
        checked++;
      }
    };
    await Promise.all(Array.from({ length: run.atOnce ?? 1 }, checkNext));
    await trees.close();
    await stranger.trees.close();
    removeHistoryFolders();
  }
  return checked;
}

/** A small deterministic generator: the seed names the history. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2654435761 + 88172645) | 0;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}

const segments = ['a', 'b', 'b!', 'c', 'd0', 'é', 'z'];

function randomKey(random: Random, spread: number): string {
  const folder = segments[random.below(segments.length)];
  const name = `${segments[random.below(segments.length)]}${random.below(spread)}`;
  return random.chance(70) ? `${folder}/${name}` : name;
}

function edit(random: Random, from: Model, steps: number, spread: number): Map<string, string> {
  const to = new Map(from);
  // Removing a run of neighbours empties whole ranges.
  if (random.chance(20)) {
    const keys = sorted(to).map(([key]) => key);
    const start = random.below(keys.length + 1);
    for (const key of keys.slice(start, start + random.below(keys.length + 1))) to.delete(key);
  }
  for (let i = 0; i < steps; i++) {
    const key =
      random.chance(50) && to.size > 0 ? [...to.keys()][random.below(to.size)]! : randomKey(random, spread);
    // Few contents, so that different keys often hold equal ones.
    if (random.chance(35)) to.delete(key);
    else to.set(key, `c${random.below(4)}`);
  }
  return to;
}

/**
 * One base, two sides grown from it by one or two commits each, and every operation checked on them. `stranger` has
 * another cache folder, so it works without the shortcuts that writing left in the first one: it must agree.
 */
async function checkHistory(trees: CommittedTrees, stranger: CommittedTrees, seed: number): Promise<void> {
  const random = new Random(seed);
  const spread = 1 + random.below(12);
  const base = edit(random, new Map(), random.below(60), spread);
  const baseId = await writeTree(trees, base);
  expect(await readTree(trees, baseId)).toEqual(new Map(sorted(base)));

  const grow = async (writer: string): Promise<{ model: Model; id: string }> => {
    let model: Model = base;
    let id = baseId;
    for (let commits = random.below(3); commits > 0; commits--) {
      const next = edit(random, model, random.below(random.chance(50) ? 4 : 30), spread);
      const noise = [...model.keys()].filter(() => random.chance(10)).concat(randomKey(random, spread));
      const applied = await trees.apply(context, id, changesBetween(model, next, noise, writer));
      const differences = expectedDiff(model, next);
      expect([applied.added, applied.removed, applied.changed]).toEqual(
        ['added', 'removed', 'changed'].map(
          (type) => differences.filter((line) => line.startsWith(type)).length,
        ),
      );
      if (differences.length === 0) expect(applied.metaRangeId).toBe(id);
      expect(await readDiff(trees.diff(context, id, applied.metaRangeId))).toEqual(differences);
      model = next;
      id = applied.metaRangeId;
    }
    return { model, id };
  };
  const source = await grow('s');
  const destination = await grow('d');

  expect(await readTree(trees, source.id)).toEqual(new Map(sorted(source.model)));
  expect(await readDiff(trees.diff(context, source.id, destination.id))).toEqual(
    expectedDiff(source.model, destination.model),
  );
  await checkSeeks(trees, random, source, destination, spread);

  const input = { base: baseId, source: source.id, destination: destination.id };
  expect(await readDiff(trees.mergeDiff(context, input))).toEqual(
    expectedMergeDiff(base, source.model, destination.model),
  );
  for (const strategy of ['none', 'dest-wins', 'source-wins'] as const) {
    const expected = expectedMerge(base, source.model, destination.model, strategy);
    const merged = await trees.merge(context, { ...input, strategy });
    if (seed % 4 === 0) expect(await stranger.merge(context, { ...input, strategy })).toEqual(merged);
    if ('conflict' in expected) {
      expect(merged).toEqual({ kind: 'conflict', key: Buffer.from(expected.conflict) });
    } else {
      expect(merged.kind).toBe('merged');
      if (merged.kind === 'merged') {
        expect(await readTree(trees, merged.metaRangeId)).toEqual(new Map(sorted(expected.result)));
      }
    }
  }

  const sides = { base, source: source.model, destination: destination.model };
  await checkResolutions({ trees, stranger, random, input, sides });

  const scope: ImportScope = {
    prefixes: segments.filter(() => random.chance(25)).map((segment) => Buffer.from(`${segment}/`)),
    keys: [...destination.model.keys()].filter(() => random.chance(10)).map((key) => Buffer.from(key)),
  };
  const importedId = await trees.mergeImport(context, destination.id, source.id, scope);
  expect(await readTree(trees, importedId)).toEqual(
    new Map(sorted(expectedImport(destination.model, source.model, scope))),
  );
}

/** Merges with random resolutions; all of one side must give the very tree of that side's strategy. */
async function checkResolutions({
  trees,
  stranger,
  random,
  input,
  sides,
}: {
  readonly trees: CommittedTrees;
  readonly stranger: CommittedTrees;
  readonly random: Random;
  readonly input: { readonly base: string; readonly source: string; readonly destination: string };
  readonly sides: ModelSides;
}): Promise<void> {
  const merge = (by: CommittedTrees, resolutions: ModelResolutions) => {
    const { strategy, patterns } = resolutions;
    const records = new ArrayIterator(resolutionRecords(sides, resolutions.exact), 3);
    return by.mergeResolved(context, { ...input, strategy, patterns }, records);
  };
  for (let round = 0; round < 2; round += 1) {
    const resolutions = randomResolutions(random, sides);
    const expected = expectedResolvedMerge(sides.base, sides.source, sides.destination, resolutions);
    const merged = await merge(trees, resolutions);
    expect(await merge(stranger, resolutions)).toEqual(merged);
    if ('refused' in expected) expect(merged.kind).not.toBe('merged');
    else {
      expect(merged).toMatchObject({ kind: 'merged', resolved: expected.resolved });
      const { metaRangeId } = merged as { metaRangeId: string };
      expect(await readTree(trees, metaRangeId)).toEqual(new Map(sorted(expected.result)));
    }
  }
  for (const [take, strategy] of [
    ['source', 'source-wins'],
    ['destination', 'dest-wins'],
  ] as const) {
    const all: ModelResolutions = {
      strategy: 'none',
      patterns: [{ kind: 'prefix', pattern: '', take }],
      exact: new Map(),
    };
    const byStrategy = await trees.merge(context, { ...input, strategy });
    expect(await merge(trees, all)).toMatchObject(byStrategy);
  }
}

async function checkSeeks(
  trees: CommittedTrees,
  random: Random,
  left: { model: Model; id: string },
  right: { model: Model; id: string },
  spread: number,
): Promise<void> {
  const rows = sorted(left.model);
  const differences = expectedDiff(left.model, right.model);
  const records = trees.iterate(context, left.id);
  const diff = trees.diff(context, left.id, right.id);
  for (let i = 0; i < 4; i++) {
    const target = randomKey(random, spread);
    const at = Buffer.from(target);
    const notBelow = (key: string): boolean => Buffer.compare(Buffer.from(key), at) >= 0;

    const found = await trees.get(context, left.id, at);
    expect(found?.identity.toString()).toBe(left.model.get(target));
    if (found !== undefined) expect(found.key.toString()).toBe(target);
    const atOnce = trees.getAtOnce(context, left.id, at);
    if (atOnce !== null) expect(atOnce?.identity.toString()).toBe(left.model.get(target));

    records.seek(at);
    const expected = rows.filter(([key]) => notBelow(key)).slice(0, 3);
    for (const [key, content] of expected) {
      expect(await records.next()).toBe(true);
      expect([records.key, records.identity]).toEqual([
        toRecord(key, content).key,
        toRecord(key, content).identity,
      ]);
    }
    if (expected.length < 3) expect(await records.next()).toBe(false);

    diff.seek(at);
    for (const line of differences
      .filter((each) => notBelow(each.replace(/^\w+ (.*)=\w+$/, '$1')))
      .slice(0, 3)) {
      expect(await diff.next()).toBe(true);
      expect(`${diff.type} ${diff.key.toString()}=${diff.identity.toString()}`).toBe(line);
    }
  }
  records.close();
  diff.close();
}
