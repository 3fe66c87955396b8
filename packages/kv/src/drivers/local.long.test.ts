import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { crashRounds } from '../../test/crash-rounds.ts';

test('1 000 short rounds of kill -9 on fifty stores lose nothing acknowledged', async () => {
  for (let store = 0; store < 50; store += 1) {
    const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 20, acknowledgements: 200 });
    expect(result.lost).toEqual([]);
  }
});

test('100 longer rounds of kill -9 lose nothing acknowledged', async () => {
  const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 100, acknowledgements: 5000 });
  expect(result.lost).toEqual([]);
  expect(result.survivorSlowestMs).toBeLessThan(30_000);
});
