import { expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';
import { sabotages } from './collector-sabotage.ts';

const timeout = 3_600_000;
/** Files of the cache are real, so a seed does not always lead to the same race: some are tried. */
const tries = 100;

it('a collector among writers, for a million steps', { timeout }, async () => {
  let steps = 0;
  for (let seed = 1000; steps < 1_000_000; seed += 1) steps += await runCollectorRace({ seed, rounds: 6 });
  expect(steps).toBeGreaterThanOrEqual(1_000_000);
});

it.each(sabotages)('a race is lost when %s', { timeout }, async (sabotage) => {
  const found: unknown[] = [];
  for (let seed = 100; seed < 100 + tries && found.length === 0; seed += 1) {
    await runCollectorRace({ seed, rounds: 5, sabotage }).catch((error: unknown) => found.push(error));
  }
  expect(found).toHaveLength(1);
});
