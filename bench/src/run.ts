// Measures a server of this API over its public interfaces.
//   npm run bench                                   a short run against a server of its own (under five minutes)
//   npm run bench -- --objects 1000000 --seconds 8  the full table
//   npm run bench -- --release                      the same, kept as what the next runs are compared with
//   npm run bench -- --json result.json --chart-dir docs/performance
//   npm run bench -- --stores postgres              the same on PostgreSQL and an S3 server, beside another server of this API
//   npm run bench -- --endpoint http://host:8000 --access-key K --secret-key S --import-folder /data --namespace s3://b/p
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Api, type Credentials } from './driver/api.ts';
import { BareServer } from './driver/bare-server.ts';
import { writeChangeSizeChart, writeGoalsChart } from './driver/performance-charts.ts';
import { keepAsRelease, printSlower } from './driver/last-release.ts';
import { Report } from './driver/report.ts';
import { startRemoteStores, type RemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer, type BenchServer } from './driver/start-server.ts';
import { calibrateNow, warmUp, type Bench } from './scenarios/bench.ts';
import { measureBigCommit } from './scenarios/big-commit.ts';
import { measureChangeSizes, type ChangeSize } from './scenarios/change-size.ts';
import { measureFloors } from './scenarios/floors.ts';
import { measureHistory } from './scenarios/history.ts';
import { measureHooks } from './scenarios/hooks.ts';
import { fillBucket, makeImportFolder, importObjects } from './scenarios/import.ts';
import { measureMixed } from './scenarios/mixed.ts';
import { measureObjects, rawBucket } from './scenarios/objects.ts';
import { measureReads } from './scenarios/reads.ts';
import { remoteGoals } from './scenarios/remote-goals.ts';
import { Requests } from './scenarios/requests.ts';
import manifest from '../package.json' with { type: 'json' };
import { measureWrites } from './scenarios/writes.ts';

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    'access-key': { type: 'string' },
    'secret-key': { type: 'string' },
    'import-folder': { type: 'string' },
    namespace: { type: 'string' },
    stores: { type: 'string', default: 'local' },
    objects: { type: 'string' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    'chart-dir': { type: 'string' },
    release: { type: 'boolean', default: false },
  },
});

if (values.stores !== 'local' && values.stores !== 'postgres')
  throw new Error('--stores is local or postgres');
const onPostgres = values.stores === 'postgres';
const objects = Number(values.objects ?? (onPostgres ? 50_000 : 100_000));
const scratch = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-bench-'));
const importFolder = values['import-folder'] ?? join(scratch, 'import');
let server: BenchServer | undefined;
let stores: RemoteStores | undefined;
let bare: BareServer | undefined;
const report = new Report(onPostgres ? remoteGoals : undefined);
try {
  if (onPostgres) {
    stores = await startRemoteStores();
    await fillBucket(stores.objectStore, rawBucket, objects);
  } else if (values['import-folder'] === undefined) makeImportFolder(importFolder, objects);
  bare = await BareServer.start();
  report.addCalibration(await bare.rate());
  if (values.endpoint === undefined) {
    const load = { seconds: Number(values.seconds), connections: Number(values.connections) };
    await measureFloors(report, join(scratch, 'floor'), load, stores?.floor);
    report.addCalibration(await bare.rate());
  }
  let endpoint: URL;
  let credentials: Credentials;
  if (values.endpoint === undefined) {
    server = await startServer(join(scratch, 'server'), importFolder, stores?.settings);
    if (onPostgres) await setUp(server);
    ({ endpoint, credentials } = server);
    report.add({ scenario: 'start to healthy', value: server.startMs / 1000, unit: 's', goal: 0.5 });
    await delay(1000);
    const idle = server.memory.largestWorker();
    report.add({ scenario: 'idle memory per worker', value: idle, unit: 'MB', goal: 150 });
  } else {
    endpoint = new URL(values.endpoint);
    credentials = { accessKeyId: values['access-key'] ?? '', secretAccessKey: values['secret-key'] ?? '' };
  }
  const api = new Api(endpoint, credentials);
  const importSource = onPostgres ? `s3://${rawBucket}/` : `local://${importFolder}/`;
  const repository = `bench${Date.now().toString(36)}`;
  const bench: Bench = {
    api,
    credentials,
    requests: new Requests(api, repository, `${importSource}d0000/f0001`),
    report,
    bare,
    objects,
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    importSource,
    repository,
    pass: '',
    memory: server?.memory,
    objectStore: stores?.objectStore,
    fullSize: objects >= 1_000_000,
  };
  const namespace = values.namespace ?? (onPostgres ? 's3://bench' : 'local://bench');
  await importObjects(bench, `${namespace}/${bench.repository}`);
  await warmUp(bench);
  await measureReads(bench);
  await measureWrites(bench);
  await measureHistory(bench);
  await measureObjects(bench);
  let changeSizes: ChangeSize[] = [];
  if (!onPostgres) {
    await measureMixed(bench);
    await calibrateNow(bench);
    if (server !== undefined) await measureHooks(bench, namespace);
    await calibrateNow(bench);
    changeSizes = await measureChangeSizes(bench);
    await calibrateNow(bench);
    await measureBigCommit(bench);
  }
  if (server !== undefined) {
    report.add({ scenario: 'memory at the end', value: server.memory.now(), unit: 'MB' });
  }
  report.addCalibration(await bare.rate());
  report.printTable();
  if (values.endpoint === undefined && !onPostgres) {
    const { version } = manifest;
    const measured = { version, objects, calibration: report.calibration, rows: report.rows() };
    if (values.release) keepAsRelease(measured);
    else printSlower(measured);
  }
  if (values.json !== undefined) report.writeJson(values.json);
  const charts = values['chart-dir'];
  if (charts !== undefined) {
    writeGoalsChart(charts, report.rows());
    writeChangeSizeChart(charts, changeSizes, objects);
  }
} finally {
  bare?.stop();
  await server?.stop();
  await stores?.stop();
  rmSync(scratch, { recursive: true, force: true });
}
