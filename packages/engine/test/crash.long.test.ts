import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds } from './crash-rounds.ts';

test('everything acknowledged survives kill -9 at any moment, 1000 times', async () => {
  let acknowledged = 0;
  for (let run = 0; run < 10; run += 1) acknowledged += await crashRounds(tempDir(`crash-${run}`), 100);
  expect(acknowledged).toBeGreaterThan(10_000);
});
