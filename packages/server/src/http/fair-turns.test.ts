import { expect, test } from 'vitest';
import { FairTurns } from './fair-turns.ts';

function burn(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a turn of the event loop ends before everybody is served; order is kept and nobody lost', async () => {
  const turns = new FairTurns();
  const served: number[] = [];
  for (let index = 0; index < 60; index += 1) {
    turns.serve(() => {
      burn(1);
      served.push(index);
    });
  }
  const counts = [served.length];
  while (served.length < 60) {
    await nextTurn();
    counts.push(served.length);
  }
  // Some sixty milliseconds of work in turns of five, however slow the machine.
  expect(counts.length).toBeGreaterThan(5);
  for (const [index, count] of counts.entries())
    expect(count - (counts[index - 1] ?? 0)).toBeLessThanOrEqual(12);
  expect(served).toEqual(Array.from({ length: 60 }, (_, index) => index));
});

test('short requests do not wait for another turn', () => {
  const turns = new FairTurns();
  let served = 0;
  for (let index = 0; index < 10; index += 1) turns.serve(() => (served += 1));
  expect(served).toBe(10);
});

test('what comes while others wait is served after them', async () => {
  const turns = new FairTurns();
  const served: string[] = [];
  turns.serve(() => burn(6));
  turns.serve(() => served.push('first'));
  await Promise.resolve();
  turns.serve(() => served.push('second'));
  expect(served).toEqual([]);
  while (served.length < 2) await nextTurn();
  expect(served).toEqual(['first', 'second']);
});
