import { expect, it } from 'vitest';
import { Pace } from './pace.ts';

it('lets so many through in a second, and all of them without a limit', async () => {
  let now = 0;
  const time = {
    now: () => now,
    rest: (milliseconds: number) => {
      now += milliseconds;
      return Promise.resolve();
    },
  };
  const limited = new Pace(time, 50);
  for (let call = 0; call <= 100; call += 1) await limited.next();
  expect(now).toBe(2000);
  // Time that passed by itself is not made up for.
  now += 1000;
  for (let call = 0; call <= 50; call += 1) await limited.next();
  expect(now).toBe(4000);
  const unlimited = new Pace(time, 0);
  for (let call = 0; call <= 100; call += 1) await unlimited.next();
  expect(now).toBe(4000);
});
