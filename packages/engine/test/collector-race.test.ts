import { expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';

it('deletes nothing that is in use, whatever comes between its steps', { timeout: 120_000 }, async () => {
  let steps = 0;
  for (let seed = 1; steps < 10_000; seed += 1) steps += await runCollectorRace({ seed, rounds: 4 });
  expect(steps).toBeGreaterThanOrEqual(10_000);
});

it('and so beside a collector of another make', { timeout: 120_000 }, async () => {
  let steps = 0;
  for (let seed = 1; steps < 4000; seed += 1) {
    steps += await runCollectorRace({ seed, rounds: 4, external: true });
  }
  expect(steps).toBeGreaterThanOrEqual(4000);
});
