import { expect, test } from 'vitest';
import { FairTurns } from './fair-turns.ts';

/** Time passes only while something is being done: the machine's own pauses must not decide. */
let time = 0;
const now = (): number => time;
function burn(milliseconds: number): void {
  time += milliseconds;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a turn of the event loop ends before everybody is served; order is kept and nobody lost', async () => {
  const turns = new FairTurns(now);
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
  // Sixty milliseconds of work in turns of five.
  expect(counts).toEqual([5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60]);
  expect(served).toEqual(Array.from({ length: 60 }, (_, index) => index));
});

test('what a request goes on with after awaiting counts for its turn', async () => {
  const turns = new FairTurns(now);
  const served: number[] = [];
  turns.serve(() => burn(6));
  for (let index = 0; index < 200; index += 1) {
    turns.serve(() => {
      void Promise.resolve().then(() => {
        burn(1);
        served.push(index);
      });
    });
  }
  const counts: number[] = [];
  while (served.length < 200) {
    const before = served.length;
    await nextTurn();
    counts.push(served.length - before);
  }
  // What they cost is known after the first of them.
  expect(counts.length).toBeGreaterThan(8);
  expect(Math.max(...counts.slice(3))).toBeLessThanOrEqual(30);
});

test('while clients connect, turns are short', async () => {
  const turns = new FairTurns(now);
  const served: number[] = [];
  /** Most served in one turn, once their cost is known. */
  const longestTurn = async (eachTurn: () => void): Promise<number> => {
    const counts: number[] = [];
    const from = served.length;
    for (let index = 0; index < 60; index += 1)
      turns.serve(() => {
        void Promise.resolve().then(() => {
          burn(1);
          served.push(index);
        });
      });
    while (served.length < from + 60) {
      eachTurn();
      const before = served.length;
      await nextTurn();
      counts.push(served.length - before);
    }
    return Math.max(...counts.slice(1));
  };
  turns.serve(() => burn(6));
  await longestTurn(() => {});
  expect(await longestTurn(() => turns.connected())).toBe(1);
  burn(60);
  expect(await longestTurn(() => {})).toBeGreaterThan(10);
});

test('thousands who wait are all served, in order', async () => {
  const turns = new FairTurns(now);
  const served: number[] = [];
  turns.serve(() => burn(6));
  for (let index = 0; index < 5000; index += 1) turns.serve(() => served.push(index));
  while (served.length < 5000) await nextTurn();
  expect(served).toEqual(Array.from({ length: 5000 }, (_, index) => index));
});

test('short requests do not wait for another turn', () => {
  const turns = new FairTurns(now);
  let served = 0;
  for (let index = 0; index < 10; index += 1) turns.serve(() => (served += 1));
  expect(served).toBe(10);
});

test('what comes while others wait is served after them', async () => {
  const turns = new FairTurns(now);
  const served: string[] = [];
  turns.serve(() => burn(6));
  turns.serve(() => served.push('first'));
  await Promise.resolve();
  turns.serve(() => served.push('second'));
  expect(served).toEqual([]);
  while (served.length < 2) await nextTurn();
  expect(served).toEqual(['first', 'second']);
});
