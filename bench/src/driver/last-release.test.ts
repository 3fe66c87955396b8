import { expect, test } from 'vitest';
import { slowerThan, type Measured } from './last-release.ts';

const before: Measured = {
  version: '0.1.0',
  objects: 1000,
  calibration: 40_000,
  rows: [
    { scenario: 'stat', value: 10_000, unit: '/s' },
    { scenario: 'commit', value: 50, unit: 'ms' },
    { scenario: 'memory', value: 400, unit: 'MB' },
    { scenario: 'gone', value: 1, unit: 's' },
  ],
};

/** On a machine half as fast. */
const now = (stat: number, commit: number, memory: number): Measured => ({
  ...before,
  calibration: 20_000,
  rows: [
    { scenario: 'stat', value: stat, unit: '/s' },
    { scenario: 'commit', value: commit, unit: 'ms' },
    { scenario: 'memory', value: memory, unit: 'MB' },
    { scenario: 'new', value: 1, unit: 's' },
  ],
});

test('a machine that is slower in one minute is no regression in that row', () => {
  const [stat, ...others] = now(5000, 100, 400).rows;
  const measured = (calibration: number): Measured => ({
    ...now(0, 0, 0),
    rows: [{ ...stat!, value: 2500, calibration }, ...others],
  });
  expect(slowerThan(before, measured(10_000))).toEqual([]);
  expect(slowerThan(before, measured(20_000))).toMatchObject([{ scenario: 'stat', speed: 0.5 }]);
});

test('a time below zero is never slower, a rate of nothing is', () => {
  expect(slowerThan(before, now(5000, -10, 400))).toEqual([]);
  expect(slowerThan(now(5000, -10, 400), now(5000, 100, 400))).toEqual([]);
  expect(slowerThan(before, now(0, 100, 400))).toMatchObject([{ scenario: 'stat', speed: 0 }]);
});

test('a slower machine alone is no regression', () => {
  expect(slowerThan(before, now(5000, 100, 400))).toEqual([]);
  expect(slowerThan(before, now(4600, 109, 430))).toEqual([]);
});

test('what became slower than a tenth is named, the worst first', () => {
  const slower = slowerThan(before, now(4000, 200, 500));
  expect(slower.map(({ scenario }) => scenario)).toEqual(['commit', 'stat', 'memory']);
  expect(slower.map(({ speed }) => speed)).toEqual([0.5, 0.8, 0.8].map((speed) => expect.closeTo(speed)));
});
