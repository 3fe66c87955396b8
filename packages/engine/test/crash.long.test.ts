import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds } from './crash-rounds.ts';

test('everything acknowledged survives kill -9 at any moment, 1000 times', async () => {
  let acknowledged = 0;
  for (let run = 0; run < 10; run += 1) acknowledged += await crashRounds(tempDir(`crash-${run}`), 100);
  // The load really wrote: how much depends on the machine.
  expect(acknowledged).toBeGreaterThan(2000);
});
