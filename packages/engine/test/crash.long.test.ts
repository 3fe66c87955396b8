import { tempDir } from '@svc/testing';
import { test } from 'vitest';
import { crashRounds } from './crash-rounds.ts';

test('everything acknowledged survives kill -9 at any moment, 1000 times', async ({ signal }) => {
  for (let run = 0; run < 10; run += 1)
    await crashRounds(tempDir(`crash-${run}`), 100, signal, run % 2 === 0 ? 'plenty' : 'scarce');
});
