import { describe, expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';
import { soonFound } from './collector-sabotage.ts';

const longMs = 120_000;

describe('a collector among writers', () => {
  it('deletes nothing that is in use, whatever comes between its steps', { timeout: longMs }, async () => {
    let steps = 0;
    for (let seed = 1; steps < 10_000; seed += 1) steps += await runCollectorRace({ seed, rounds: 4 });
    expect(steps).toBeGreaterThanOrEqual(10_000);
  });

  it.each(soonFound)('is caught when %s', { timeout: longMs }, async (sabotage) => {
    const found: unknown[] = [];
    for (let seed = 100; seed < 120 && found.length === 0; seed += 1) {
      await runCollectorRace({ seed, rounds: 4, sabotage }).catch((error: unknown) => found.push(error));
    }
    expect(found).toHaveLength(1);
  });
});
