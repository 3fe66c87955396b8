import { expect, test } from 'vitest';
import { runGcRace } from './gc-race-run.ts';

test(
  'an external collector never deletes what is in use, in thousands of interleavings',
  { timeout: 3_600_000 },
  async () => {
    for (let seed = 1000; seed < 2000; seed += 1) await expect(runGcRace(seed)).resolves.toBeUndefined();
  },
);
