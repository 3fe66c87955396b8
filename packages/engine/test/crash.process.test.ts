import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds } from './crash-rounds.ts';

test('case 4: everything acknowledged survives kill -9 at any moment, 50 times', async () => {
  const counts = await Promise.all([
    crashRounds(tempDir('crash-a'), 25),
    crashRounds(tempDir('crash-b'), 25),
  ]);
  expect(Math.min(...counts)).toBeGreaterThan(100);
});
