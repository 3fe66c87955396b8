import { afterAll, expect, test } from 'vitest';
import { checkHistories, historySettings, removeHistoryFolders } from './random-history.ts';

afterAll(removeHistoryFolders);

test.each(historySettings)(
  'random histories agree with plain maps, split at %o',
  async ({ share, ...split }) => {
    const count = 1000 * share;
    expect(await checkHistories(split, 1, count)).toBe(count);
  },
  180_000,
);
