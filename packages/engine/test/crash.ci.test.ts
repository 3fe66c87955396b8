import { tempDir } from '@svc/testing';
import { test } from 'vitest';
import { crashRounds } from './crash-rounds.ts';

test('everything acknowledged survives kill -9 at any moment, 24 times', async ({ signal }) => {
  await Promise.all([
    crashRounds(tempDir('crash-a'), 12, signal),
    crashRounds(tempDir('crash-b'), 12, signal, 'scarce'),
  ]);
}, 300_000);
