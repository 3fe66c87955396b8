import { expect, test } from 'vitest';
import { barChart, lineChart } from './chart.ts';
import { Latencies } from './latencies.ts';
import { judge, Report } from './report.ts';

test('latencies are kept within two per cent', () => {
  const latencies = new Latencies();
  for (let index = 1; index <= 1000; index += 1) latencies.record(index / 10);
  expect(latencies.count).toBe(1000);
  expect(latencies.max).toBe(100);
  expect(Math.abs(latencies.percentile(0.5) / 50 - 1)).toBeLessThan(0.02);
  expect(Math.abs(latencies.percentile(0.99) / 99 - 1)).toBeLessThan(0.02);
});

test('goals are also judged as on the machine they were set on', () => {
  const halfAsFast = 23_000;
  const rate = judge({ scenario: 'rate', value: 600, unit: '/s', goal: 1000 }, halfAsFast);
  expect(rate.reached).toBeCloseTo(0.6);
  expect(rate.reachedRelative).toBeCloseTo(1.2);
  const time = judge({ scenario: 'time', value: 100, unit: 'ms', goal: 60 }, halfAsFast);
  expect(time.reached).toBeCloseTo(0.6);
  expect(time.reachedRelative).toBeCloseTo(1.2);
  const memory = judge({ scenario: 'memory', value: 1000, unit: 'MB', goal: 800 }, halfAsFast);
  expect(memory.reachedRelative).toBeCloseTo(0.8);
  const difference = judge({ scenario: 'difference', value: -3, unit: 'ms', goal: 20 }, halfAsFast);
  expect(difference.reached).toBeGreaterThan(1);
});

test('goals that are made of what another server reached take the place of those of the scenarios', () => {
  const report = new Report({
    calibration: 1000,
    rows: new Map([
      ['rate', { other: 100, times: 3 }],
      ['time', { other: 12, times: 4 }],
    ]),
  });
  report.addCalibration(2000);
  report.add({ scenario: 'rate', value: 600, unit: '/s', goal: 1 });
  report.add({ scenario: 'time', value: 3, unit: 'ms', goal: 1 });
  report.add({ scenario: 'unknown', value: 1, unit: 'ms', goal: 1 });
  report.add({ scenario: 'part', value: 0.5, unit: '×', goal: 0.8 });
  const [rate, time, unknown, part] = report.rows();
  expect(rate).toMatchObject({ goal: 300, times: 3, reached: 2, reachedRelative: 1 });
  expect(time).toMatchObject({ goal: 3, times: 4, reached: 1, reachedRelative: 0.5 });
  expect(unknown?.goal).toBeUndefined();
  expect(part).toMatchObject({ goal: 0.8, reached: 0.625, reachedRelative: 0.625 });
});

test('each row is held against the bare server right before and after it', () => {
  const report = new Report();
  report.addCalibration(1000);
  report.add({ scenario: 'first', value: 600, unit: '/s' });
  report.addCalibration(2000);
  report.addCalibration(4000);
  report.add({ scenario: 'second', value: 600, unit: '/s' });
  report.add({ scenario: 'third', value: 600, unit: '/s' });
  report.addCalibration(8000);
  report.add({ scenario: 'last', value: 600, unit: '/s' });
  expect(report.rows().map(({ calibration }) => calibration)).toEqual([1500, 6000, 6000, 8000]);
  expect(report.rows()[0]?.ratio).toBeCloseTo(0.4);
});

test('charts place what they show inside the page', () => {
  const bars = barChart('bars', [
    { name: 'a < b', text: '1 /s', reached: 1000 },
    { name: 'c & d', text: '2 /s', reached: 0.0001 },
  ]);
  const lines = lineChart({
    title: 'lines',
    xLabel: 'x',
    yLabel: 'y',
    series: [{ name: 'one', points: [10, 100].map((x) => ({ x, y: x })) }],
  });
  expect(bars).toContain('a &lt; b');
  expect(bars).toContain('c &amp; d');
  for (const svg of [bars, lines]) {
    const width = Number(/width="(\d+)"/.exec(svg)?.[1]);
    const places = [...svg.matchAll(/ c?x[12]?="([^"]+)"/g)].map((match) => Number(match[1]));
    expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...places)).toBeLessThanOrEqual(width);
  }
});
