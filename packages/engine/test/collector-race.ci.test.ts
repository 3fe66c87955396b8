import { expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';
import { sabotages } from './collector-sabotage.ts';

/** Files of the cache are real, so a seed does not always lead to the same race: some are tried. */
const tries = 60;

it.each(sabotages)('a race is lost when %s', { timeout: 600_000 }, async (sabotage) => {
  const found: unknown[] = [];
  for (let seed = 100; seed < 100 + tries && found.length === 0; seed += 1) {
    await runCollectorRace({ seed, rounds: 5, sabotage }).catch((error: unknown) => found.push(error));
  }
  expect(found).toHaveLength(1);
});
