import { afterAll, expect, test } from 'vitest';
import { checkHistories, historySettings, removeHistoryFolders } from './random-history.ts';

afterAll(removeHistoryFolders);

// Seeds other than the fast suite's, so that together they cover more.
test.each(historySettings)('100 000 random histories, split at %o', async ({ share, ...split }) => {
  const count = 100_000 * share;
  expect(await checkHistories(split, 1_000_001, count)).toBe(count);
});
