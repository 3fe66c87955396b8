// How a server's costs change with the number of objects in the repository.
//   npm run bench:growth                                    10 thousand to 10 million objects
//   npm run bench:growth -- --sizes 10000,100000 --seconds 1 --json growth.json --chart-dir docs/performance
// The trees are written as ranges in this process before the server starts, so no object needs a file.
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
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    'chart-dir': { type: 'string' },
  },
});
const sizes = values.sizes.split(',').map(Number);
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

/** Measures a server on stores that already hold the repository. */
async function measureSize(folder: string, objects: number): Promise<Report> {
  const repository = 'growth';
  const outside = join(folder, 'outside');
  mkdirSync(outside, { recursive: true });
  // The first start sets the installation up; the one that is measured finds everything in place.
  await (await startServer(folder, outside)).stop();
  const engine = await openBenchEngine({ ...storesIn(folder), allowedExternalPrefixes: [outside] });
  const { milliseconds } = await timed(() => writeRepository(engine, { repository, objects }));
  await engine.close();
  console.log(`\n${objects} objects, written in ${(milliseconds / 1000).toFixed(1)} s`);

  const report = new Report();
  report.addCalibration(await calibrate());
  const server = await startServer(folder, outside);
  try {
    report.add({ scenario: 'start to healthy', value: server.startMs / 1000, unit: 's' });
    await delay(1000);
    report.add({ scenario: 'idle memory per worker', value: server.memory.largestWorker(), unit: 'MB' });
    const api = new Api(server.endpoint, server.credentials);
    const bench: Bench = {
      api,
      credentials: server.credentials,
      requests: new Requests(api, repository, `local://${outside}/file`),
      report,
      objects,
      seconds: Number(values.seconds),
      connections: Number(values.connections),
      importFolder: outside,
      repository,
      memory: server.memory,
      fullSize: false,
    };
    await warmUp(bench);
    await measureStat(bench);
    await measureList(bench, { amount: 100 });
    await measureStaging(bench);
    await measureBranchCreation(bench);
    await measureCommitOne(bench);
    await measureDiff(bench);
    await measureMergeBoth(bench, 'in one range');
  } finally {
    await server.stop();
  }
  return report;
}

/** Rates as parts of the calibration of the same minute, since sizes are measured minutes apart; others as they are. */
function costOf(row: Row, report: Report): number {
  return isRate(row) ? report.calibration / row.value : row.value;
}

const results: { objects: number; report: Report }[] = [];
for (const objects of sizes) {
  const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-growth-'));
  try {
    results.push({ objects, report: await measureSize(folder, objects) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const scenarios = results[0]?.report.rows() ?? [];
const growth = scenarios.map(({ scenario, unit }) => {
  const measured = results.map(({ objects, report }) => {
    const row = report.rows().find((one) => one.scenario === scenario);
    if (row === undefined) throw new Error(`${scenario} was not measured with ${objects} objects`);
    return { objects, value: row.value, cost: costOf(row, report) };
  });
  const values = measured.map(({ value }) => value);
  const costs = measured.map(({ cost }) => cost);
  return {
    scenario,
    unit,
    costs: measured,
    spread: Math.max(...values) / Math.min(...values),
    relativeSpread: Math.max(...costs) / Math.min(...costs),
    ...(flat.has(scenario) && { goal: allowed }),
  };
});

const verdict = (spread: number, goal: number | undefined): string =>
  `${spread.toFixed(2)}${goal === undefined ? '' : spread <= goal ? ' reached' : ' missed'}`;
console.log('\nBy objects in the repository; relative: rates as parts of the bare server of the same minute');
printCells(
  ['scenario', ...sizes.map((size) => size.toLocaleString('en')), 'worst/best', 'relative'],
  growth.map(({ scenario, unit, costs, spread, relativeSpread, goal }) => [
    `${scenario} (${unit})`,
    ...costs.map(({ value }) => format(value)),
    verdict(spread, goal),
    verdict(relativeSpread, goal),
  ]),
);
if (values.json !== undefined) {
  const calibrations = results.map(({ objects, report }) => ({ objects, perSecond: report.calibration }));
  writeJson(values.json, { calibrations, growth });
}
if (values['chart-dir'] !== undefined) {
  const shown = growth.filter(({ scenario }) => inChart.has(scenario));
  writeGrowthChart(values['chart-dir'], shown);
}
