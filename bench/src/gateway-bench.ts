// S3 gateway benchmark against a running server:
// node bench/src/gateway-bench.ts --endpoint http://127.0.0.1:8000 --access-key K --secret-key S --repository r
//   [--branch main] [--seconds 4] [--connections 1,16,64] [--small 4096] [--large 67108864] [--only "GET small"] [--prepared]
// Prints a table and, last, one line of JSON. The load shares the machine's cores with the server.
import { parseArgs } from 'node:util';
import { presignQuery, sigV4Encode, SigningKeyCache } from '@svc/encoding';
import { GatewayConnection } from './gateway-connection.ts';

const { values } = parseArgs({
  options: {
    endpoint: { type: 'string', default: 'http://127.0.0.1:8000' },
    'access-key': { type: 'string', default: '' },
    'secret-key': { type: 'string', default: '' },
    repository: { type: 'string', default: '' },
    branch: { type: 'string', default: 'main' },
    seconds: { type: 'string', default: '4' },
    connections: { type: 'string', default: '1,16,64' },
    small: { type: 'string', default: '4096' },
    large: { type: 'string', default: String(64 * 1024 * 1024) },
    only: { type: 'string' },
    prepared: { type: 'boolean', default: false },
  },
});

const endpoint = new URL(values.endpoint);
const seconds = Number(values.seconds);
const small = Buffer.alloc(Number(values.small), 'x');
const large = Buffer.alloc(Number(values.large), 'y');
const keys = new SigningKeyCache();
const smallKeys = 1000;
const largeKeys = 4;

interface Row {
  readonly name: string;
  readonly connections: number;
  readonly perSecond: number;
  readonly megabytesPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Scenario {
  readonly name: string;
  readonly connections: readonly number[];
  /** The n-th request of the run. */
  readonly request: (n: number) => { readonly head: Buffer; readonly body?: Buffer };
  readonly bodyless?: boolean;
}

function prepared(method: string, path: string, query: [string, string][], length: number): Buffer {
  const encoded = sigV4Encode(path, 'keep');
  const signed = presignQuery(
    { method, host: endpoint.host, path: encoded, query, expiresSeconds: 3600 },
    {
      credentials: { accessKeyId: values['access-key'], secretAccessKey: values['secret-key'] },
      region: 'us-east-1',
      service: 's3',
      now: new Date(),
      keys,
    },
  );
  const bodyHeader = method === 'PUT' ? `Content-Length: ${length}\r\n` : '';
  return Buffer.from(
    `${method} ${encoded}?${signed} HTTP/1.1\r\nHost: ${endpoint.host}\r\n${bodyHeader}\r\n`,
  );
}

const root = `/${values.repository}/${values.branch}/gateway-bench`;
const smallRequests = (method: string, length: number): Buffer[] =>
  Array.from({ length: smallKeys }, (_, i) => prepared(method, `${root}/small/${i}`, [], length));
const puts = smallRequests('PUT', small.length);
const gets = smallRequests('GET', 0);
const heads = smallRequests('HEAD', 0);
const list = prepared(
  'GET',
  `/${values.repository}`,
  [
    ['list-type', '2'],
    ['prefix', `${values.branch}/gateway-bench/small/`],
  ],
  0,
);
const several = values.connections.split(',').map(Number);
const few = [1, 4];
const at = (requests: readonly Buffer[], n: number): Buffer =>
  requests[n % requests.length] ?? Buffer.alloc(0);

const scenarios: readonly Scenario[] = [
  { name: 'PUT small', connections: several, request: (n) => ({ head: at(puts, n), body: small }) },
  { name: 'GET small', connections: several, request: (n) => ({ head: at(gets, n) }) },
  { name: 'HEAD small', connections: several, request: (n) => ({ head: at(heads, n) }), bodyless: true },
  { name: 'LIST 1000', connections: several, request: () => ({ head: list }) },
  {
    name: 'PUT large',
    connections: few,
    request: (n) => ({
      head: prepared('PUT', `${root}/large/${n % largeKeys}`, [], large.length),
      body: large,
    }),
  },
  {
    name: 'GET large',
    connections: few,
    request: (n) => ({ head: prepared('GET', `${root}/large/${n % largeKeys}`, [], 0) }),
  },
];

async function run(scenario: Scenario, connections: number): Promise<Row> {
  const open = await Promise.all(
    Array.from({ length: connections }, () =>
      GatewayConnection.open(endpoint.hostname, Number(endpoint.port)),
    ),
  );
  const latencies: number[] = [];
  let bytes = 0;
  let next = 0;
  const started = performance.now();
  const deadline = started + seconds * 1000;
  await Promise.all(
    open.map(async (connection) => {
      while (performance.now() < deadline) {
        const { head, body } = scenario.request(next++);
        const begun = performance.now();
        const answer = await connection.send(head, body, scenario.bodyless === true);
        if (answer.status !== 200) throw new Error(`${scenario.name}: the server answered ${answer.status}`);
        latencies.push(performance.now() - begun);
        bytes += answer.bytes + (body?.length ?? 0);
      }
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  for (const connection of open) connection.close();
  latencies.sort((a, b) => a - b);
  const percentile = (part: number): number => latencies[Math.floor((latencies.length - 1) * part)] ?? 0;
  return {
    name: scenario.name,
    connections,
    perSecond: latencies.length / elapsed,
    megabytesPerSecond: bytes / elapsed / 1e6,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}

/** Writes what the reading scenarios read. */
async function prepare(): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      const connection = await GatewayConnection.open(endpoint.hostname, Number(endpoint.port));
      while (next < smallKeys) await connection.send(at(puts, next++), small, false);
      connection.close();
    }),
  );
  const connection = await GatewayConnection.open(endpoint.hostname, Number(endpoint.port));
  for (let n = 0; n < largeKeys; n++)
    await connection.send(prepared('PUT', `${root}/large/${n}`, [], large.length), large, false);
  connection.close();
}

if (!values.prepared) await prepare();
const rows: Row[] = [];
for (const scenario of scenarios) {
  if (values.only !== undefined && !scenario.name.includes(values.only)) continue;
  for (const connections of scenario.connections) {
    const row = await run(scenario, connections);
    rows.push(row);
    console.log(
      `${row.name.padEnd(12)} ${String(row.connections).padStart(4)} connections ${row.perSecond.toFixed(0).padStart(8)}/s ` +
        `${row.megabytesPerSecond.toFixed(1).padStart(8)} MB/s  p50 ${row.p50Ms.toFixed(2)} ms  p99 ${row.p99Ms.toFixed(2)} ms`,
    );
  }
}
console.log(JSON.stringify(rows));
