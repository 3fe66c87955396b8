import { median, type Credentials } from '../driver/api.ts';
import { runLoad } from '../driver/http-load.ts';
import { presignTarget } from '../driver/presign.ts';
import type { Report } from '../driver/report.ts';
import { calibrateNow, createBranch, load, type Bench } from './bench.ts';

const small = 'x'.repeat(4096);
const large = Buffer.alloc(64 << 20, 7);
const smallObjects = 200;
const largeRounds = 5;
/** Of the S3 server, beside those of svc. */
export const rawBucket = 'import';

/** Small and large objects through the API and the S3 gateway. */
export async function measureObjects(bench: Bench): Promise<void> {
  const { api, repository, requests } = bench;
  await createBranch(bench, 'objects');
  for (let index = 0; index < smallObjects; index += 1)
    await api.upload(repository, 'objects', `small/${index}`, Buffer.from(small));

  await load(bench, {
    scenario: 'API get 4 KiB',
    goal: 17_000,
    next: () => requests.get('objects', `small/${any(smallObjects)}`),
  });
  const put = ` HTTP/1.1\r\nhost: ${api.endpoint.host}\r\nauthorization: ${api.authorization}\r\ncontent-type: application/octet-stream\r\ncontent-length: ${small.length}\r\n\r\n${small}`;
  const target = `POST /api/v1/repositories/${repository}/branches/objects/objects?path=put%2F`;
  await load(bench, {
    scenario: 'API put 4 KiB',
    goal: 7500,
    next: (sequence) => `${target}${any(1e9)}.${sequence}${put}`,
  });
  await measureGateway(bench);
}

async function measureGateway(bench: Bench): Promise<void> {
  const { api, credentials, repository } = bench;
  const signer = { endpoint: api.endpoint, credentials };
  const request = (method: string, key: string, length?: number): string =>
    signed(signer, method, `/${repository}/objects/${key}`, length);
  const gets = Array.from({ length: smallObjects }, (_, index) => request('GET', `small/${index}`));
  const puts = Array.from({ length: 2000 }, (_, index) => request('PUT', `sput/${index}`, small.length));
  await load(bench, {
    scenario: 'S3 get 4 KiB',
    goal: 16_000,
    next: () => gets[any(gets.length)] ?? '',
  });
  await load(bench, {
    scenario: 'S3 put 4 KiB',
    goal: 7500,
    next: (sequence) => `${puts[sequence % puts.length] ?? ''}${small}`,
  });

  await measureLarge(bench, request);
}

/** Beside the same requests to the S3 server itself, in turns, where the server has one. */
async function measureLarge(
  bench: Bench,
  request: (method: string, key: string, length?: number) => string,
): Promise<void> {
  const { api, objectStore, report, seconds } = bench;
  const raw = objectStore && {
    endpoint: objectStore.endpoint,
    put: withBody(signed(objectStore, 'PUT', `/${rawBucket}/big`, large.length)),
    get: signed(objectStore, 'GET', `/${rawBucket}/big`),
  };
  const put = withBody(request('PUT', 'big', large.length));
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < largeRounds; round += 1) {
    ours.push(await megabytesPerSecondOfOne(api.endpoint, put));
    if (raw !== undefined) theirs.push(await megabytesPerSecondOfOne(raw.endpoint, raw.put));
  }
  const scenario = 'S3 put 64 MiB, one client';
  report.add({ scenario, value: median(ours), unit: 'MB/s', goal: 400 });
  if (raw !== undefined) addRatio(report, scenario, median(ours), median(theirs));
  await calibrateNow(bench);

  const get = request('GET', 'big');
  const got: number[] = [];
  const gotRaw: number[] = [];
  for (let round = 0; round < (raw === undefined ? 1 : 3); round += 1) {
    const load = { connections: 4, seconds };
    got.push((await runLoad({ ...load, endpoint: api.endpoint, next: () => get })).megabytesPerSecond);
    if (raw === undefined) continue;
    gotRaw.push((await runLoad({ ...load, endpoint: raw.endpoint, next: () => raw.get })).megabytesPerSecond);
  }
  const reading = 'S3 get 64 MiB, four clients';
  report.add({ scenario: reading, value: median(got), unit: 'MB/s', goal: 2800 });
  if (raw !== undefined) addRatio(report, reading, median(got), median(gotRaw));
  await calibrateNow(bench);
}

async function megabytesPerSecondOfOne(endpoint: URL, request: Buffer): Promise<number> {
  const options = { endpoint, connections: 1, seconds: 3600, requests: 1 };
  const { p50, errors } = await runLoad({ ...options, next: () => request });
  if (errors > 0) throw new Error('a large object was not written');
  return large.length / 1e6 / (p50 / 1000);
}

function addRatio(report: Report, scenario: string, ours: number, raw: number): void {
  report.add({ scenario: `${scenario}, without svc`, value: raw, unit: 'MB/s' });
  report.add({ scenario: `${scenario}, of that`, value: ours / raw, unit: '×', goal: 0.85 });
}

interface Signer {
  readonly endpoint: URL;
  readonly credentials: Credentials;
}

function signed({ endpoint, credentials }: Signer, method: string, path: string, length?: number): string {
  const target = presignTarget(endpoint, credentials, method, path);
  const body = length === undefined ? '' : `content-length: ${length}\r\n`;
  return `${method} ${target} HTTP/1.1\r\nhost: ${endpoint.host}\r\n${body}\r\n`;
}

function withBody(head: string): Buffer {
  return Buffer.concat([Buffer.from(head), large]);
}

function any(count: number): number {
  return Math.floor(Math.random() * count);
}
