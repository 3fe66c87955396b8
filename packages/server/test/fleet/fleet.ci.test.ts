import { expect, test } from 'vitest';
import { survive } from './ordeal.ts';

test('two servers on one database lose nothing when one is killed, stands still and is replaced', async () => {
  const work = await survive(2, ['killed', 'keyRevoked', 'paused', 'restarted']);
  expect(work.written.size).toBeGreaterThan(50);
}, 240_000);
