import { expect, test } from 'vitest';
import { WhileQuick } from './while-quick.ts';

/** What was done where, with times as the clock says. */
function doing(msEach: () => number) {
  let now = 0;
  const quick = new WhileQuick(() => now);
  const where: string[] = [];
  const once = (): void | Promise<void> =>
    quick.do(
      () => {
        now += msEach();
        where.push('at once');
      },
      async () => void where.push('in a thread'),
    );
  return { once, where };
}

test('what is quick is done at once, also when one time it is not', async () => {
  let ms = 0.02;
  const { once, where } = doing(() => ms);
  for (let n = 0; n < 50; n++) await once();
  ms = 0.5;
  await once();
  ms = 0.02;
  for (let n = 0; n < 49; n++) await once();
  expect(new Set(where)).toEqual(new Set(['at once']));
  expect(where).toHaveLength(100);
});

test('what is slow is left to threads, but for a few that tell whether it still is', async () => {
  let ms = 0.4;
  const { once, where } = doing(() => ms);
  for (let n = 0; n < 350; n++) await once();
  expect(where.filter((place) => place === 'in a thread').length).toBeGreaterThan(300);
  expect(where.filter((place) => place === 'at once').length).toBeGreaterThan(10);
  ms = 0.02;
  where.length = 0;
  for (let n = 0; n < 100; n++) await once();
  expect(where.slice(50)).toEqual(Array.from({ length: 50 }, () => 'at once'));
});

test('what fails at once fails as it does there, and counts', () => {
  let now = 0;
  const quick = new WhileQuick(() => now);
  const fail = (): never => {
    now += 1;
    throw new Error('no space');
  };
  expect(() => quick.do(fail, () => Promise.resolve())).toThrow('no space');
  expect(quick.do(fail, () => Promise.resolve('thread'))).toBeInstanceOf(Promise);
});
