/** Bar and line charts as SVG text, legible on light and on dark pages. */

const style = `<style>
text{fill:#24292f;font:12px system-ui,sans-serif}.title{font-size:15px;font-weight:600}.dim{fill:#57606a}
.page{fill:#fff}.grid{stroke:#d8dee4}.one{stroke:#57606a;stroke-dasharray:4 3}.band{fill:#8c959f;opacity:.16}
.good{fill:#2da44e}.bad{fill:#d4722c}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b3}.page{fill:#161b22}.grid{stroke:#30363d}.one{stroke:#9da7b3}}
</style>`;
/** Told apart by eyes that confuse colours, on both backgrounds. */
const lineColours = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#a08a00',
  '#8f6fd1',
  '#7f8c8d',
  '#c0504d',
  '#4f9a94',
];

export interface Bar {
  readonly name: string;
  /** What was measured and wanted, in words. */
  readonly text: string;
  /** How many times the goal was reached. */
  readonly reached: number;
}

/** Bars that grow from the line of the goal: to the right what is better, to the left what is worse. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const [left, plot, rowHeight, top] = [270, 360, 22, 64];
  const bottom = top + bars.length * rowHeight;
  const x = (reached: number): number =>
    left + (plot * Math.log10(Math.min(10, Math.max(0.1, reached)) * 10)) / 2;
  const ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10].map(
    (tick) =>
      line(x(tick), top - 6, x(tick), bottom, tick === 1 ? 'one' : 'grid') +
      text(x(tick), top - 12, tick === 1 ? 'goal' : `${tick}×`, 'middle', 'dim'),
  );
  const rows = bars.map(({ name, text: words, reached }, index) => {
    const y = top + index * rowHeight;
    const [from, to] = reached >= 1 ? [x(1), x(reached)] : [x(reached), x(1)];
    const shape = `<rect class="${reached >= 1 ? 'good' : 'bad'}" x="${round(from)}" y="${y + 3}" width="${round(Math.max(2, to - from))}" height="${rowHeight - 6}" rx="2"/>`;
    return (
      text(left - 10, y + 15, name, 'end') + shape + text(left + plot + 12, y + 15, words, 'start', 'dim')
    );
  });
  return page(title, left + plot + 230, bottom + 16, [...ticks, ...rows]);
}

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface LineChart {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly series: readonly Series[];
  /** Shades what the lines should stay within. */
  readonly band?: readonly [number, number];
}

/** Lines over two logarithmic axes, with a tick at each x that was measured. */
export function lineChart(chart: LineChart): string {
  const [left, plot, top, height] = [64, 460, 52, 300];
  const bottom = top + height;
  // One line needs no legend, and has room for its figures.
  const alone = chart.series.length === 1;
  const points = chart.series.flatMap((series) => series.points);
  const xs = [...new Set(points.map((point) => point.x))].toSorted((a, b) => a - b);
  const ys = [...points.map((point) => point.y), ...(chart.band ?? [])];
  const [yFrom, yTo] = [Math.min(...ys) / 1.25, Math.max(...ys) * 1.25];
  const x = (value: number): number => left + 12 + (plot - 24) * along(value, xs[0] ?? 1, xs.at(-1) ?? 1);
  const y = (value: number): number => bottom - height * along(value, yFrom, yTo);

  const band =
    chart.band === undefined
      ? ''
      : `<rect class="band" x="${left}" y="${round(y(chart.band[1]))}" width="${plot}" height="${round(y(chart.band[0]) - y(chart.band[1]))}"/>`;
  const xTicks = xs.map(
    (value) =>
      line(x(value), top, x(value), bottom, 'grid') +
      text(x(value), bottom + 18, short(value), 'middle', 'dim'),
  );
  const yTicks = ticksWithin(yFrom, yTo).map(
    (value) =>
      line(left, y(value), left + plot, y(value), 'grid') +
      text(left - 8, y(value) + 4, short(value), 'end', 'dim'),
  );
  const lines = chart.series.map((series, index) => {
    const colour = lineColours[index % lineColours.length] ?? '';
    const path = series.points.map((point) => `${round(x(point.x))},${round(y(point.y))}`);
    const dots = path.map((at) => {
      const [cx, cy] = at.split(',');
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
    });
    const legendY = top + 10 + index * 20;
    const legend = `<rect x="${left + plot + 20}" y="${legendY - 9}" width="14" height="8" rx="2" fill="${colour}"/>${text(left + plot + 40, legendY, series.name)}`;
    const figures = series.points.map((point) =>
      text(x(point.x), y(point.y) - 9, String(Number(point.y.toPrecision(3))), 'middle'),
    );
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${alone ? figures.join('') : legend}`;
  });
  const labels = [
    text(left + plot / 2, bottom + 38, chart.xLabel, 'middle'),
    text(left, top - 10, chart.yLabel),
  ];
  return page(chart.title, left + plot + (alone ? 40 : 280), bottom + 52, [
    band,
    ...xTicks,
    ...yTicks,
    ...lines,
    ...labels,
  ]);
}

export interface Panel {
  readonly yLabel: string;
  readonly series: readonly Series[];
}

/** Panels one below the other over the same time; every axis is linear, and those of values begin at zero. */
export function timeChart(title: string, xLabel: string, panels: readonly Panel[]): string {
  const [left, plot, top, height, gap] = [64, 560, 64, 130, 46];
  const end = Math.max(
    ...panels.flatMap(({ series }) => series.flatMap(({ points }) => points.map(({ x }) => x))),
  );
  const x = (value: number): number => left + (plot * value) / end;
  const bottomOf = (index: number): number => top + index * (height + gap) + height;
  const parts = panels.flatMap(({ yLabel, series }, index) => {
    const bottom = bottomOf(index);
    const most = roundUp(Math.max(...series.flatMap(({ points }) => points.map(({ y }) => y))));
    const y = (value: number): number => bottom - (height * value) / most;
    const yTicks = [0, 0.5, 1].map(
      (share) =>
        line(left, y(most * share), left + plot, y(most * share), 'grid') +
        text(left - 8, y(most * share) + 4, short(most * share), 'end', 'dim'),
    );
    const xTicks = [0, 1, 2, 3, 4, 5, 6].map((sixth) => {
      const value = (end * sixth) / 6;
      const tick = line(x(value), bottom - height, x(value), bottom, 'grid');
      const isLast = index === panels.length - 1;
      return tick + (isLast ? text(x(value), bottom + 18, String(Math.round(value)), 'middle', 'dim') : '');
    });
    const lines = series.map(({ name, points }, which) => {
      const colour = lineColours[which % lineColours.length] ?? '';
      const path = points.map((point) => `${round(x(point.x))},${round(y(point.y))}`).join(' ');
      const legendY = bottom - height + 10 + which * 20;
      return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="1.5"/><rect x="${left + plot + 20}" y="${legendY - 9}" width="14" height="8" rx="2" fill="${colour}"/>${text(left + plot + 40, legendY, name)}`;
    });
    return [...yTicks, ...xTicks, ...lines, text(left, bottom - height - 8, yLabel)];
  });
  const bottom = bottomOf(panels.length - 1);
  return page(title, left + plot + 140, bottom + 52, [
    ...parts,
    text(left + plot / 2, bottom + 38, xLabel, 'middle'),
  ]);
}

/** The next of 1, 2 and 5, times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

/** Where a value is between two others on a logarithmic axis, from 0 to 1. */
function along(value: number, from: number, to: number): number {
  return from === to ? 0.5 : Math.log(value / from) / Math.log(to / from);
}

function ticksWithin(from: number, to: number): number[] {
  const ticks: number[] = [];
  const steps = to / from > 100 ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power += 1) {
    for (const step of steps) ticks.push(step * 10 ** power);
  }
  return ticks.filter((tick) => tick >= from && tick <= to);
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1e4 ? `${value / 1e3} k` : String(Number(value.toPrecision(3)));
}

function page(title: string, width: number, height: number, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img"><title>${escape(title)}</title>${style}<rect class="page" width="100%" height="100%" rx="6"/>${text(16, 26, title, 'start', 'title')}${parts.join('\n')}</svg>\n`;
}

function line(x1: number, y1: number, x2: number, y2: number, name: string): string {
  return `<line class="${name}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function text(x: number, y: number, words: string, anchor = 'start', name = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${name === '' ? '' : ` class="${name}"`}>${escape(words)}</text>`;
}

function round(value: number): string {
  return String(Number(value.toFixed(1)));
}

function escape(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
