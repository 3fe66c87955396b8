// How a server's costs change with the number of objects in the repository.
//   npm run bench:growth                                    10 thousand to 10 million objects
//   npm run bench:growth -- --sizes 10000,100000 --seconds 1 --json growth.json --chart-dir docs/performance
// The trees are written as ranges in this process before the servers start, so no object needs a file. There is one
// server for each size, and they take turns.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openBenchEngine, writeRepository } from './bench-engine.ts';
import { Api, timed } from './driver/api.ts';
import { writeGrowthChart } from './driver/performance-charts.ts';
import { format, isRate, printCells, Report, writeJson, type Row } from './driver/report.ts';
import { startServer, storesIn } from './driver/start-server.ts';
import { warmUp, type Bench } from './scenarios/bench.ts';
import { calibrate } from './scenarios/calibrate.ts';
import { measureCommitOne, measureDiff, measureMergeBoth } from './scenarios/history.ts';
import { measureList, measureStat } from './scenarios/reads.ts';
import { Requests } from './scenarios/requests.ts';
import { measureBranchCreation, measureStaging } from './scenarios/writes.ts';

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000,10000000' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    'chart-dir': { type: 'string' },
  },
});
const sizes = values.sizes.split(',').map(Number);
/** Many short ones rather than a few long ones: the machine changes its speed by the minute. */
const passes = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const warmUpSeconds = 8;
/** These are to stay within a fifth over all sizes; the others follow the change or are only shown. */
const flat = new Set(['stat, committed', 'list, 100 entries a page', 'stage write', 'create branch']);
const allowed = 1.2;
const inChart = new Set([
  ...flat,
  'start to healthy',
  'idle memory per worker',
  'commit 1 change',
  'diff 3 changes, first time',
  'merge, both sides moved in one range',
]);
/** Keys of more objects would no longer be in order. */
const mostObjects = 10_000_000;
if (!sizes.every((size) => Number.isInteger(size) && size > 0 && size <= mostObjects)) {
  throw new Error(`--sizes ${values.sizes}: give numbers of objects from 1 to ${mostObjects}, with commas`);
}

/** A server on stores that hold one repository, with what each pass measured on it. */
interface Site {
  readonly bench: Omit<Bench, 'pass' | 'report'>;
  readonly start: Report;
  readonly passes: Report[];
  stop(): Promise<void>;
}

const repository = 'growth';

async function openSite(folder: string, objects: number): Promise<Site> {
  const outside = join(folder, 'outside');
  mkdirSync(outside, { recursive: true });
  // The first start sets the installation up; the one that is measured finds everything in place.
  await (await startServer(folder, outside)).stop();
  const engine = await openBenchEngine({ ...storesIn(folder), allowedExternalPrefixes: [outside] });
  const { milliseconds } = await timed(() => writeRepository(engine, { repository, objects }));
  await engine.close();
  console.log(`\n${objects} objects, written in ${(milliseconds / 1000).toFixed(1)} s`);
  const server = await startServer(folder, outside);
  const start = new Report();
  start.add({ scenario: 'start to healthy', value: server.startMs / 1000, unit: 's' });
  await delay(1000);
  start.add({ scenario: 'idle memory per worker', value: server.memory.largestWorker(), unit: 'MB' });
  const api = new Api(server.endpoint, server.credentials);
  const bench = {
    api,
    credentials: server.credentials,
    requests: new Requests(api, repository, `local://${outside}/file`),
    objects,
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    importSource: `local://${outside}/`,
    objectStore: undefined,
    repository,
    memory: server.memory,
    fullSize: false,
  };
  return { bench, start, passes: [], stop: () => server.stop() };
}

/** The sizes take turns, scenario by scenario: a machine whose speed changes by the minute changes it for all of them. */
async function measurePass(sites: readonly Site[], pass: string): Promise<void> {
  for (const site of sites) site.passes.push(new Report());
  const scenarios = [
    measureStat,
    (bench: Bench) => measureList(bench, { amount: 100 }),
    measureStaging,
    measureBranchCreation,
    measureCommitOne,
    measureDiff,
    (bench: Bench) => measureMergeBoth(bench, 'in one range'),
  ];
  for (const measure of scenarios) {
    for (const site of sites) {
      const report = site.passes.at(-1) ?? site.start;
      console.log(`pass ${pass}, ${site.bench.objects} objects`);
      await measure({ ...site.bench, pass, report });
    }
  }
}

/** The middle of what the passes measured: the best would be whichever size met the quietest moment of the machine. */
function measuredAt(site: Site, scenario: string): Row {
  const reports = [site.start, ...site.passes];
  const found = reports.flatMap((report) => report.rows().filter((row) => row.scenario === scenario));
  const [row] = found;
  if (row === undefined) throw new Error(`${scenario} was not measured with ${site.bench.objects} objects`);
  const figures = found.map(({ value }) => value).toSorted((a, b) => a - b);
  return { ...row, value: figures[Math.floor(figures.length / 2)] ?? row.value };
}

const calibrations: number[] = [];
const sites: Site[] = [];
const folders: string[] = [];
try {
  for (const objects of sizes) {
    const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-growth-'));
    folders.push(folder);
    sites.push(await openSite(folder, objects));
  }
  for (const site of sites)
    await warmUp({ ...site.bench, seconds: warmUpSeconds, pass: '', report: site.start });
  for (const pass of passes) {
    calibrations.push(await calibrate());
    await measurePass(sites, pass);
  }
} finally {
  for (const site of sites) await site.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

const scenarios = [...(sites[0]?.start.rows() ?? []), ...(sites[0]?.passes[0]?.rows() ?? [])];
const growth = scenarios.map(({ scenario, unit }) => {
  const measured = sites.map((site) => {
    const row = measuredAt(site, scenario);
    return { objects: site.bench.objects, value: row.value, cost: isRate(row) ? 1 / row.value : row.value };
  });
  const figures = measured.map(({ value }) => value);
  return {
    scenario,
    unit,
    costs: measured,
    spread: Math.max(...figures) / Math.min(...figures),
    ...(flat.has(scenario) && { goal: allowed }),
  };
});

const verdict = (spread: number, goal: number | undefined): string =>
  `${spread.toFixed(2)}${goal === undefined ? '' : spread <= goal ? ' reached' : ' missed'}`;
const bare = calibrations.map((rate) => format(rate)).join(', ');
console.log(
  `\nBy objects in the repository, median of ${passes.length} passes; bare server before each: ${bare} /s`,
);
printCells(
  ['scenario', ...sizes.map((size) => size.toLocaleString('en')), 'worst/best'],
  growth.map(({ scenario, unit, costs, spread, goal }) => [
    `${scenario} (${unit})`,
    ...costs.map(({ value }) => format(value)),
    verdict(spread, goal),
  ]),
);
if (values.json !== undefined) writeJson(values.json, { calibrations, growth });
if (values['chart-dir'] !== undefined) {
  const shown = growth.filter(({ scenario }) => inChart.has(scenario));
  writeGrowthChart(values['chart-dir'], shown);
}
