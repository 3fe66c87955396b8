import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { barChart, lineChart, timeChart } from './chart.ts';
import { format, type JudgedRow } from './report.ts';

/** Every row that has a goal, beside it, as on the machine the goals were set on: `goals.svg`. */
export function writeGoalsChart(folder: string, rows: readonly JudgedRow[]): void {
  const bars = rows.flatMap(({ scenario, value, unit, goal, reachedRelative }) =>
    goal === undefined || reachedRelative === undefined
      ? []
      : [
          {
            name: scenario,
            text: `${format(value)} ${unit} (goal ${format(goal)})`,
            reached: reachedRelative,
          },
        ],
  );
  write(folder, 'goals.svg', barChart('Measured beside the goals, relative to a bare HTTP server', bars));
}

/** `commit-time.svg` */
export function writeChangeSizeChart(
  folder: string,
  sizes: readonly { readonly changes: number; readonly milliseconds: number }[],
  objects: number,
): void {
  const chart = lineChart({
    title: `Commit time by size of the change (${objects} objects)`,
    xLabel: 'changed objects, spread over the tree',
    yLabel: 'ms',
    series: [
      { name: 'commit', points: sizes.map(({ changes, milliseconds }) => ({ x: changes, y: milliseconds })) },
    ],
  });
  write(folder, 'commit-time.svg', chart);
}

export interface Growth {
  readonly scenario: string;
  /** What one costs at each size, in any unit: more is worse. */
  readonly costs: readonly { readonly objects: number; readonly cost: number }[];
}

/** How cost changes with the size of the repository, one at the smallest: `growth.svg`. */
export function writeGrowthChart(folder: string, growth: readonly Growth[]): void {
  const series = growth.map(({ scenario, costs }) => {
    const first = costs[0]?.cost ?? 1;
    return { name: scenario, points: costs.map(({ objects, cost }) => ({ x: objects, y: cost / first })) };
  });
  const chart = lineChart({
    title: 'Cost against the size of the repository',
    xLabel: 'objects in the repository',
    yLabel: 'cost, times that of the smallest; shaded: within 20 %',
    series,
    band: [1 / 1.2, 1.2],
  });
  write(folder, 'growth.svg', chart);
}

/** What was seen in some seconds of a long load. */
export interface HourSlice {
  readonly minute: number;
  readonly perSecond: number;
  /** By kind of request, in ms. */
  readonly p99: ReadonlyMap<string, number>;
  readonly megabytes: number;
  /** Processor time of the server for one request. */
  readonly costUs: number;
  /** What one read past the caches cost meanwhile: how fast the machine was. */
  readonly nsPerRead: number;
}

/** Rate, waiting, memory and cost over a long load: `hour.svg`. */
export function writeHourChart(folder: string, slices: readonly HourSlice[]): void {
  const over = (value: (slice: HourSlice) => number): { x: number; y: number }[] =>
    slices.map((slice) => ({ x: slice.minute, y: value(slice) }));
  const p99 = (kind: string): { x: number; y: number }[] => over((slice) => slice.p99.get(kind) ?? 0);
  const kinds = ['stat', 'get', 'S3 get', 'put', 'S3 put', 'delete'];
  const chart = timeChart('Everything at once', 'minutes', [
    {
      yLabel: 'requests a second',
      series: [{ name: 'all kinds', points: over((slice) => slice.perSecond) }],
    },
    { yLabel: 'ms at the 99th percentile', series: kinds.map((name) => ({ name, points: p99(name) })) },
    {
      yLabel: 'MB held by all processes',
      series: [{ name: 'memory', points: over((slice) => slice.megabytes) }],
    },
    {
      yLabel: 'processor time',
      series: [
        { name: 'of a request, µs', points: over((slice) => slice.costUs) },
        { name: 'of a read from memory, ns', points: over((slice) => slice.nsPerRead) },
      ],
    },
  ]);
  write(folder, 'hour.svg', chart);
}

function write(folder: string, name: string, svg: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), svg);
}
