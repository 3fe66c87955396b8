import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { changesBetween, context, openTestTrees, readDiff, writeTree } from '../test/tree-fixture.ts';
import { KnownDiff } from './known-diff.ts';
import type { LookUp } from './merge-diff.ts';

/** A value in stored form: identity and data behind their lengths, which are small and doubled. */
function stored(identity: string, data = identity): Buffer {
  const part = (text: string): Buffer => Buffer.concat([Buffer.from([2 * text.length]), Buffer.from(text)]);
  return Buffer.concat([part(identity), part(data)]);
}

/** Every second key has to be waited for. */
function lookUp(values: Readonly<Record<string, Buffer>>): LookUp {
  let asked = 0;
  return (key) => {
    const value = values[key.toString()];
    return asked++ % 2 === 0 ? value : Promise.resolve(value);
  };
}

async function shown(diff: KnownDiff): Promise<string[]> {
  const items: string[] = [];
  while (await diff.next()) items.push(`${diff.type} ${diff.key.toString()}=${diff.data.toString()}`);
  return items;
}

test('of the keys that may differ only those are shown that do', async () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => Buffer.from(key));
  const left = lookUp({ a: stored('1'), b: stored('1'), c: stored('1', 'old'), e: stored('1') });
  const right = lookUp({ b: stored('2'), c: stored('1', 'new'), d: stored('3'), e: stored('1') });
  const diff = new KnownDiff(keys, left, right);
  const all = ['removed a=1', 'changed b=2', 'added d=3'];
  expect(await shown(diff)).toEqual(all);
  diff.seek(Buffer.from('aa'));
  expect(await shown(diff)).toEqual(all.slice(1));
  diff.seek(Buffer.from('z'));
  expect(await shown(diff)).toEqual([]);
  diff.seek(Buffer.alloc(0));
  expect(await shown(diff)).toEqual(all);
  diff.close();
  expect(() => diff.next()).toThrow('closed');
});

test('what made one tree of the other is shown as a comparison shows it', async () => {
  const { trees, adapter } = await openTestTrees(tempDir());
  const other = await openTestTrees(tempDir(), { adapter });
  try {
    const base = new Map<string, string>(Array.from({ length: 300 }, (_, i) => [`k${1000 + i}`, 'same']));
    const edited = new Map(base).set('k0', 'first').set('k1003', 'x').set('k9', 'last');
    for (const key of ['k1000', 'k1150', 'k1151', 'k1299']) edited.delete(key);
    const left = await writeTree(trees, base);
    const right = (await trees.apply(context, left, changesBetween(base, edited))).metaRangeId;
    for (const from of [undefined, 'k1003', 'k1150', 'k1152', 'z']) {
      const start = from === undefined ? undefined : Buffer.from(from);
      for (const [one, two] of [
        [left, right],
        [right, left],
      ] as const) {
        const known = await readDiff(trees.diff(context, one, two, start));
        expect(known).toEqual(await readDiff(other.trees.diff(context, one, two, start)));
        const sides = { base: one, source: two, destination: left };
        expect(await readDiff(trees.mergeDiff(context, sides, start))).toEqual(
          await readDiff(other.trees.mergeDiff(context, sides, start)),
        );
      }
    }
  } finally {
    await trees.close();
    await other.trees.close();
  }
});
