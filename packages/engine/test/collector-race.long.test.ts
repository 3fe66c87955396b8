import { expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';

it('a collector among writers, for a million steps', { timeout: 3_600_000 }, async () => {
  let steps = 0;
  for (let seed = 1000; steps < 1_000_000; seed += 1) steps += await runCollectorRace({ seed, rounds: 6 });
  expect(steps).toBeGreaterThanOrEqual(1_000_000);
});
