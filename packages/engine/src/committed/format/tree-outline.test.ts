import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { ArrayIterator, context, openTestTrees, toRecord } from '../test/tree-fixture.ts';

const records = Array.from({ length: 60 }, (_, i) =>
  toRecord(`k${String(i).padStart(2, '0')}`, `content ${i}`),
);

test('the outline of a tree names its ranges, in order and without gaps', async () => {
  const { trees } = await openTestTrees(tempDir());
  const { metaRangeId } = await trees.write(context, new ArrayIterator(records));
  const outline = await trees.outline(context, metaRangeId);
  expect(outline?.entity).toBeUndefined();
  const ranges = outline?.ranges ?? [];
  expect(ranges.length).toBeGreaterThan(3);
  expect([ranges[0]?.minKey.toString(), ranges.at(-1)?.maxKey.toString()]).toEqual(['k00', 'k59']);
  const seen: string[] = [];
  for (const { minKey, maxKey } of ranges) {
    const reading = trees.iterate(context, metaRangeId, minKey);
    while (await reading.next()) {
      if (Buffer.compare(reading.key, maxKey) > 0) break;
      seen.push(reading.key.toString());
    }
    reading.close();
  }
  expect(seen).toEqual(records.map(({ key }) => key.toString()));
  // A range is stored beside its metarange, but is no tree.
  expect(await trees.outline(context, ranges[0]?.id ?? '')).toBeUndefined();
  expect(await trees.outline(context, 'f'.repeat(64))).toBeUndefined();
  await expect(trees.outline(context, '../x')).rejects.toMatchObject({ kind: 'corrupt' });
  await trees.close();
});

test('the outline of a dump says what it holds', async () => {
  const { trees } = await openTestTrees(tempDir());
  const dump = { entity: 'tag', schemaName: 'name', schemaDefinition: '{}' };
  const { metaRangeId } = await trees.write(context, new ArrayIterator(records), dump);
  expect((await trees.outline(context, metaRangeId))?.entity).toBe('tag');
  const empty = await trees.write(context, new ArrayIterator([]), dump);
  expect(await trees.outline(context, empty.metaRangeId)).toEqual({ entity: 'tag', ranges: [] });
  await trees.close();
});
