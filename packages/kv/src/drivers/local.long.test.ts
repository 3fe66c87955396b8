import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds } from '../../test/crash-rounds.ts';

test('100 longer rounds of kill -9 lose nothing acknowledged', async () => {
  const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 100, acknowledgements: 5000 });
  expect(result.lost).toEqual([]);
  expect(result.survivorSlowestMs).toBeLessThan(5000);
});
