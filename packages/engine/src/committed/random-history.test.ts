import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { checkHistory } from './test/random-history.ts';
import { openTestTrees } from './test/tree-fixture.ts';

const settings = [
  { minRangeSize: 0, maxRangeSize: 600, raggedness: 5 },
  { minRangeSize: 0, maxRangeSize: 100_000, raggedness: 3 },
  { minRangeSize: 200, maxRangeSize: 500, raggedness: 2 },
  { minRangeSize: 0, maxRangeSize: 1, raggedness: 50_000 },
];

test.each(settings)('40 random histories agree with plain maps, split at %o', async (split) => {
  const { trees, adapter } = await openTestTrees(tempDir(), split);
  const stranger = await openTestTrees(tempDir(), { ...split, adapter });
  for (let seed = 1; seed <= 40; seed++) {
    await checkHistory(trees, stranger.trees, seed).catch((error: unknown) => {
      throw new Error(`history ${seed} failed`, { cause: error });
    });
  }
  await trees.close();
  await stranger.trees.close();
  expect(settings).toHaveLength(4);
});
