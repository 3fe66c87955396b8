import { expect, test } from 'vitest';
import { runGcRace } from './gc-race-run.ts';

test(
  'an external collector never deletes what is in use, whatever happens between its calls',
  { timeout: 120_000 },
  async () => {
    for (let seed = 1; seed <= 14; seed += 1) await expect(runGcRace(seed)).resolves.toBeUndefined();
  },
);
