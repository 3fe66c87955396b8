import { expect, test } from 'vitest';
import { conflictIdOf } from '../format/conflict-id.ts';
import type { MergeStrategy, PatternResolution, Take } from '../tree.ts';
import { ConflictPolicy, packTake } from './conflict-policy.ts';
import { PackedBatch, PackedChanges } from './packed-changes.ts';

interface Exact {
  readonly path: string;
  readonly take: Take;
  readonly conflictId?: Buffer;
}

interface Policy {
  readonly strategy?: MergeStrategy;
  readonly patterns?: readonly PatternResolution[];
  readonly exact?: readonly Exact[];
}

/** The settlements of conflicts in which neither side holds anything, and the path of a resolution that was left over. */
async function settle(paths: readonly string[], { strategy = 'none', patterns = [], exact = [] }: Policy) {
  const batch = new PackedBatch();
  for (const { path, take, conflictId } of exact) {
    batch.add(Buffer.from(path), packTake(take, conflictId), Buffer.alloc(0), false);
  }
  const batches = batch.length === 0 ? [] : [batch.bytes.subarray(0, batch.length)];
  const policy = new ConflictPolicy(strategy, patterns, new PackedChanges(async () => batches.shift()));
  const settled: string[] = [];
  for (const path of paths) {
    let answer = policy.settle(Buffer.from(path), undefined, undefined, undefined);
    while (typeof answer !== 'string') {
      await answer;
      answer = policy.settle(Buffer.from(path), undefined, undefined, undefined);
    }
    settled.push(answer);
  }
  let unused = policy.unusedPath();
  while (unused instanceof Promise) {
    await unused;
    unused = policy.unusedPath();
  }
  return { settled, unused: unused?.toString(), counts: policy.counts };
}

const everything: PatternResolution = { kind: 'prefix', pattern: '', take: 'delete' };

test('the resolution of a path goes before patterns, the first pattern before later ones, all before the strategy', async () => {
  const policy: Policy = {
    strategy: 'dest-wins',
    exact: [{ path: 'a/1', take: 'base' }],
    patterns: [
      { kind: 'glob', pattern: 'a/*.csv', take: 'destination' },
      { kind: 'prefix', pattern: 'a/', take: 'source' },
    ],
  };
  const { settled, counts } = await settle(['a/1', 'a/2', 'a/3.csv', 'b'], policy);
  expect(settled).toEqual(['base', 'source', 'destination', 'destination']);
  // The strategy's share is not counted.
  expect(counts).toEqual({ source: 1, destination: 1, base: 1, delete: 0, object: 0 });
  const turned = { ...policy, patterns: [everything, ...(policy.patterns ?? [])] };
  expect((await settle(['a/1', 'a/2', 'b'], turned)).settled).toEqual(['base', 'delete', 'delete']);
});

test('a pattern that fails leaves its conflicts to nobody, whatever the strategy says', async () => {
  const patterns: PatternResolution[] = [{ kind: 'prefix', pattern: 'locked/', take: 'fail' }, everything];
  const { settled } = await settle(['a', 'locked/a'], { strategy: 'source-wins', patterns });
  expect(settled).toEqual(['delete', 'unresolved']);
  expect((await settle(['a'], {})).settled).toEqual(['unresolved']);
});

test('a resolution is unfit for another conflict, and one for no conflict is named in the end', async () => {
  const meant = conflictIdOf(Buffer.from('a'), undefined, undefined, undefined);
  const other = conflictIdOf(Buffer.from('b'), undefined, undefined, undefined);
  const at = (conflictId: Buffer): Policy => ({ exact: [{ path: 'a', take: 'source', conflictId }] });
  expect((await settle(['a'], at(meant))).settled).toEqual(['source']);
  expect((await settle(['a'], at(other))).settled).toEqual(['unfit']);
  const past: Policy = { exact: [{ path: 'a', take: 'source' }], patterns: [everything] };
  expect((await settle(['b'], past)).settled).toEqual(['unfit']);
  expect(await settle([], past)).toMatchObject({ settled: [], unused: 'a' });
  expect(await settle(['a'], past)).toMatchObject({ settled: ['source'], unused: undefined });
});
