import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { takePage } from './paging.ts';

async function* entriesOf(names: readonly string[]): AsyncGenerator<string> {
  yield* names;
}

test('pages of any size hold what is there, in order, and lead to the next one', async () => {
  const cases = fc.record({
    names: fc.uniqueArray(fc.nat(300).map(String), { maxLength: 200 }),
    gone: fc.array(fc.nat(300).map(String)),
    amount: fc.integer({ min: 1, max: 150 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ names, gone, amount }) => {
      const resolve = async (name: string): Promise<string | undefined> =>
        gone.includes(name) ? undefined : name;
      const there = names.filter((name) => !gone.includes(name));
      const hasMore = there.length > amount;
      expect(await takePage(entriesOf(names), amount, (name) => name, resolve)).toEqual({
        results: there.slice(0, amount),
        hasMore,
        nextOffset: hasMore ? there[amount - 1] : '',
      });
    }),
  );
});

test('records are looked up together', async () => {
  const names = Array.from({ length: 100 }, (_, index) => String(index));
  let waits = 0;
  let looking = 0;
  const resolve = async (name: string): Promise<string> => {
    if (looking === 0) waits += 1;
    looking += 1;
    await new Promise(setImmediate);
    looking -= 1;
    return name;
  };
  await takePage(entriesOf(names), 100, (name) => name, resolve);
  expect(waits).toBe(2);
});
