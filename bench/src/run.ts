// Measures a server of this API over its public interfaces.
//   npm run bench                                   a short run against a server of its own (under five minutes)
//   npm run bench -- --objects 1000000 --seconds 8  the full table
//   npm run bench -- --endpoint http://host:8000 --access-key K --secret-key S --import-folder /data --namespace s3://b/p
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Api, type Credentials } from './driver/api.ts';
import { Report } from './driver/report.ts';
import { startServer, type BenchServer } from './driver/start-server.ts';
import { calibrate } from './scenarios/calibrate.ts';
import { makeImportFolder, importObjects } from './scenarios/import.ts';
import { measureHistory } from './scenarios/history.ts';
import { measureObjects } from './scenarios/objects.ts';
import { measureReads } from './scenarios/reads.ts';
import { measureWrites } from './scenarios/writes.ts';
import type { Bench } from './scenarios/bench.ts';

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string' },
    'access-key': { type: 'string' },
    'secret-key': { type: 'string' },
    'import-folder': { type: 'string' },
    namespace: { type: 'string' },
    objects: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '64' },
    json: { type: 'string' },
    chart: { type: 'string' },
  },
});

const objects = Number(values.objects);
const scratch = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-bench-'));
const importFolder = values['import-folder'] ?? join(scratch, 'import');
let server: BenchServer | undefined;
const report = new Report();
try {
  if (values['import-folder'] === undefined) makeImportFolder(importFolder, objects);
  report.add({ scenario: 'calibration: bare node:http', value: await calibrate(), unit: '/s' });
  let endpoint: URL;
  let credentials: Credentials;
  if (values.endpoint === undefined) {
    server = await startServer(join(scratch, 'server'), importFolder);
    ({ endpoint, credentials } = server);
    report.add({ scenario: 'start to healthy', value: server.startMs / 1000, unit: 's', goal: 0.5 });
  } else {
    endpoint = new URL(values.endpoint);
    credentials = { accessKeyId: values['access-key'] ?? '', secretAccessKey: values['secret-key'] ?? '' };
  }
  const bench: Bench = {
    api: new Api(endpoint, credentials),
    credentials,
    report,
    objects,
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    importFolder,
    repository: `bench${Date.now().toString(36)}`,
    fullSize: objects >= 1_000_000,
  };
  const namespace = values.namespace ?? 'local://bench';
  await importObjects(bench, `${namespace}/${bench.repository}`);
  await measureReads(bench);
  await measureWrites(bench);
  await measureHistory(bench);
  await measureObjects(bench);
  if (server !== undefined) {
    console.log(`memory of all server processes at the end: ${server.memory().toFixed(0)} MB`);
  }
  report.add({ scenario: 'calibration again', value: await calibrate(), unit: '/s' });
  if (values.json !== undefined) report.writeJson(values.json);
  if (values.chart !== undefined) report.writeChart(values.chart);
} finally {
  await server?.stop();
  rmSync(scratch, { recursive: true, force: true });
}
