import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  context,
  openTestTrees,
  readDiff,
  readTree,
  type TestTrees,
  writeTree,
} from '../test/tree-fixture.ts';
import type { MergeStrategy } from '../tree.ts';

type Content = Record<string, string>;

let opened: TestTrees;
beforeAll(async () => {
  opened = await openTestTrees(tempDir(), { maxRangeSize: 100_000, raggedness: 50_000 });
});
afterAll(() => opened.trees.close());

async function merge(base: Content, source: Content, destination: Content, strategy: MergeStrategy = 'none') {
  const { trees } = opened;
  const [b, s, d] = await Promise.all(
    [base, source, destination].map((content) => writeTree(trees, new Map(Object.entries(content)))),
  );
  const input = { base: b!, source: s!, destination: d! };
  const shown = await readDiff(trees.mergeDiff(context, input));
  const merged = await trees.merge(context, { ...input, strategy });
  if (merged.kind !== 'merged') return { conflict: merged.key.toString(), shown };
  return { tree: Object.fromEntries(await readTree(trees, merged.metaRangeId)), shown };
}

describe('merge compares key and identity, never the next base record', () => {
  test('a new destination object with the content of the next base object is kept', async () => {
    const { tree } = await merge({ a: '1', z: 'X' }, { a: '1' }, { a: '1', y: 'X', z: 'X' });
    expect(tree).toEqual({ a: '1', y: 'X' });
  });

  test('also when the source changed another key and the destination removed the base object', async () => {
    const { tree } = await merge({ a: '1', z: 'X' }, { a: '2' }, { a: '1', y: 'X' });
    expect(tree).toEqual({ a: '2', y: 'X' });
  });

  test('a new source object with the content of a base object the destination removed is kept', async () => {
    const { tree } = await merge({ z: 'X' }, { y: 'X', z: 'X' }, {});
    expect(tree).toEqual({ y: 'X' });
  });

  test('both add one key with different content while the next base object equals one of them', async () => {
    const sides = [
      { a: '1', m: 'X' },
      { a: '1', k: 'X', m: 'X' },
      { a: '1', k: 'Y', m: 'X' },
    ] as const;
    expect(await merge(...sides)).toEqual({ conflict: 'k', shown: ['conflict k=X'] });
    expect((await merge(...sides, 'dest-wins')).tree).toEqual({ a: '1', k: 'Y', m: 'X' });
    expect((await merge(...sides, 'source-wins')).tree).toEqual({ a: '1', k: 'X', m: 'X' });
  });
});

describe('the table of three sides', () => {
  test('source changes, destination deletes', async () => {
    const sides = [{ k: 'b', o: '1' }, { k: 'x', o: '1' }, { o: '1' }] as const;
    expect(await merge(...sides)).toEqual({ conflict: 'k', shown: ['conflict k=x'] });
    expect((await merge(...sides, 'dest-wins')).tree).toEqual({ o: '1' });
    expect((await merge(...sides, 'source-wins')).tree).toEqual({ k: 'x', o: '1' });
  });

  test('source deletes, destination changes', async () => {
    const sides = [{ k: 'b', o: '1' }, { o: '1' }, { k: 'x', o: '1' }] as const;
    expect(await merge(...sides)).toEqual({ conflict: 'k', shown: ['conflict k=x'] });
    expect((await merge(...sides, 'dest-wins')).tree).toEqual({ k: 'x', o: '1' });
    expect((await merge(...sides, 'source-wins')).tree).toEqual({ o: '1' });
  });

  test('both add equal content: no conflict, the source record stays', async () => {
    const { trees } = opened;
    const base = await writeTree(trees, new Map([['a', '1']]));
    const both = new Map([
      ['a', '1'],
      ['k', 'same'],
    ]);
    const source = await writeTree(trees, both, 'from-source');
    const destination = await writeTree(trees, both, 'from-destination');
    const merged = await trees.merge(context, { base, source, destination, strategy: 'none' });
    expect(merged.kind).toBe('merged');
    const id = merged.kind === 'merged' ? merged.metaRangeId : '';
    expect((await trees.get(context, id, Buffer.from('k')))?.data.toString()).toBe('same@from-source');
  });

  test('the destination removed everything: source-wins brings back only what the source changed', async () => {
    const { tree } = await merge({ a: '1', b: '2' }, { a: '3', b: '2' }, {}, 'source-wins');
    expect(tree).toEqual({ a: '3' });
  });

  test('a destination equal to the base answers the source tree itself', async () => {
    const { trees } = opened;
    const base = await writeTree(trees, new Map([['a', '1']]));
    const source = await writeTree(trees, new Map([['a', '2']]));
    const merged = await trees.merge(context, { base, source, destination: base, strategy: 'none' });
    expect(merged).toEqual({ kind: 'merged', metaRangeId: source });
  });
});

describe('import', () => {
  test('a prefix goes, its longer neighbour stays; an exact key goes, its longer neighbour stays', async () => {
    const { trees } = opened;
    const destination = await writeTree(
      trees,
      new Map([
        ['col/old', '1'],
        ['collection/x', '2'],
        ['d/f1', '3'],
        ['d/f10', '4'],
      ]),
    );
    const imported = await writeTree(
      trees,
      new Map([
        ['col/new', '5'],
        ['d/f1', '6'],
      ]),
    );
    const scope = { prefixes: [Buffer.from('col/')], keys: [Buffer.from('d/f1')] };
    const id = await trees.mergeImport(context, destination, imported, scope);
    expect(Object.fromEntries(await readTree(trees, id))).toEqual({
      'col/new': '5',
      'collection/x': '2',
      'd/f1': '6',
      'd/f10': '4',
    });
  });

  test('an empty prefix replaces everything', async () => {
    const { trees } = opened;
    const destination = await writeTree(
      trees,
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    );
    const imported = await writeTree(trees, new Map([['c', '3']]));
    const id = await trees.mergeImport(context, destination, imported, {
      prefixes: [Buffer.alloc(0)],
      keys: [],
    });
    expect(Object.fromEntries(await readTree(trees, id))).toEqual({ c: '3' });
  });
});
