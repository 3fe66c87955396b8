import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { KnownDifferences, type DifferenceNews, type KnownDifference } from './known-differences.ts';
import { changesBetween, context, openTestTrees, readDiff, writeTree } from '../test/tree-fixture.ts';

const keys = [Buffer.from('a'), Buffer.from('b')];
const weight = 400 + 2 * 101;

test('differences are known in both directions, and only of the pair that was compared', () => {
  const differences = new KnownDifferences(undefined, weight);
  differences.set('one', 'other', keys);
  expect(differences.get('one', 'other')).toBe(keys);
  expect(differences.get('other', 'one')).toBe(keys);
  expect(differences.get('one', 'third')).toBeUndefined();
});

test('the one used last stays when there is room for one', () => {
  const differences = new KnownDifferences(undefined, 2 * weight - 1);
  differences.set('a', 'b', keys);
  differences.set('a', 'c', keys);
  expect([differences.get('a', 'b'), differences.get('a', 'c')]).toEqual([undefined, keys]);
});

test('a use counts, and so does what is too large to be kept', () => {
  const differences = new KnownDifferences(undefined, 2 * weight);
  differences.set('a', 'b', keys);
  differences.set('a', 'c', keys);
  differences.get('a', 'b');
  differences.set('a', 'd', keys);
  differences.set('a', 'e', [...keys, ...keys, ...keys, ...keys, ...keys, ...keys, ...keys, ...keys]);
  expect(['b', 'c', 'd', 'e'].map((id) => differences.get('a', id)?.length)).toEqual([
    2,
    undefined,
    2,
    undefined,
  ]);
});

test('without room nothing is kept', () => {
  const differences = new KnownDifferences(undefined, 0);
  differences.set('a', 'b', []);
  expect(differences.get('a', 'b')).toBeUndefined();
});

/** Two processes that tell each other at once, and what was told. */
function joined(): {
  readonly news: readonly [DifferenceNews, DifferenceNews];
  readonly told: KnownDifference[];
} {
  const told: KnownDifference[] = [];
  const listeners: ((difference: KnownDifference) => void)[] = [];
  const newsOf = (own: number): DifferenceNews => ({
    tell(difference) {
      told.push(difference);
      listeners[1 - own]?.(difference);
    },
    hear: (listener) => (listeners[own] = listener),
  });
  return { news: [newsOf(0), newsOf(1)], told };
}

test('what one process learned the other knows, and does not tell again', () => {
  const { news, told } = joined();
  const [one, other] = news.map((each) => new KnownDifferences(each, weight));
  one?.set('a', 'b', keys);
  one?.set('a', 'b', keys);
  expect(other?.get('b', 'a')).toBe(keys);
  other?.set('a', 'b', keys);
  one?.set('a', 'c', [...keys, Buffer.from('too large')]);
  expect(told).toEqual([{ oneId: 'a', otherId: 'b', keys }]);
});

test('a commit of one process is compared by the other without opening its ranges from end to end', async () => {
  const { news, told } = joined();
  const split = { maxRangeSize: 100_000, raggedness: 50_000 };
  const { trees: writer, adapter } = await openTestTrees(tempDir(), { ...split, differenceNews: news[0] });
  const { trees } = await openTestTrees(tempDir(), { ...split, adapter, differenceNews: news[1] });
  try {
    const base = new Map<string, string>(Array.from({ length: 300 }, (_, i) => [`k${1000 + i}`, 'same']));
    const edited = new Map(base).set('k1003', 'x').set('k1299', 'z');
    const left = await writeTree(writer, base);
    const right = (await writer.apply(context, left, changesBetween(base, edited))).metaRangeId;
    expect(await readDiff(trees.diff(context, left, right))).toEqual(['changed k1003=x', 'changed k1299=z']);
    // Whoever compares two ranges tells of it.
    expect(told.map(({ oneId, otherId }) => [oneId, otherId])).toEqual([[left, right]]);
  } finally {
    await writer.close();
    await trees.close();
  }
});

test('a diff that ended early or failed is not taken for the whole difference', async () => {
  const split = { maxRangeSize: 100_000, raggedness: 50_000 };
  const { trees: writer, adapter } = await openTestTrees(tempDir(), split);
  // Of trees that it has not made itself nothing is known.
  const { trees } = await openTestTrees(tempDir(), { ...split, adapter });
  try {
    const base = new Map<string, string>(Array.from({ length: 300 }, (_, i) => [`k${1000 + i}`, 'same']));
    const edited = new Map(base).set('k1003', 'x').set('k1150', 'y').set('k1299', 'z');
    const left = await writeTree(writer, base);
    const right = (await writer.apply(context, left, changesBetween(base, edited))).metaRangeId;
    const shown = ['changed k1003=x', 'changed k1150=y', 'changed k1299=z'];
    const early = trees.diff(context, left, right);
    await early.next();
    early.seek(Buffer.from('k1299'));
    expect([await early.next(), early.key.toString(), await early.next()]).toEqual([true, 'k1299', false]);
    early.close();
    const late = trees.diff(context, left, right, Buffer.from('k1100'));
    expect(await readDiff(late)).toEqual(shown.slice(1));
    for (const _ of [1, 2]) expect(await readDiff(trees.diff(context, left, right))).toEqual(shown);
    const back = ['changed k1003=same', 'changed k1150=same', 'changed k1299=same'];
    expect(await readDiff(trees.diff(context, right, left))).toEqual(back);
    expect(await readDiff(trees.diff(context, left, right, Buffer.from('k1100')))).toEqual(shown.slice(1));
  } finally {
    await writer.close();
    await trees.close();
  }
});
