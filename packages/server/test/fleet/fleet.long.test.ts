import { expect, test } from 'vitest';
import { survive, troubles } from './ordeal.ts';

const minutes = 5;

test('four servers lose nothing, whatever happens to them, their database and their object store', async () => {
  const names = Object.keys(troubles) as (keyof typeof troubles)[];
  const until = Date.now() + minutes * 60_000;
  let written = 0;
  while (Date.now() < until) {
    const ordeal = [...names, ...names].sort(() => Math.random() - 0.5);
    written += (await survive(4, ordeal, Math.random() < 0.5 ? 4 : 48)).written.size;
  }
  expect(written).toBeGreaterThan(500);
});
