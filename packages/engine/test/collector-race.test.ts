import { describe, expect, it } from 'vitest';
import { runCollectorRace } from './collector-race-run.ts';

describe('a collector among writers', () => {
  it('deletes nothing that is in use, whatever comes between its steps', async () => {
    let steps = 0;
    for (let seed = 1; seed <= 12; seed += 1) steps += await runCollectorRace({ seed, rounds: 4 });
    expect(steps).toBeGreaterThan(10_000);
  }, 60_000);
});
