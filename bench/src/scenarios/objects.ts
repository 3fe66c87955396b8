import { runLoad } from '../driver/http-load.ts';
import { presignTarget } from '../driver/presign.ts';
import { createBranch, load, type Bench } from './bench.ts';

const small = 'x'.repeat(4096);
const large = Buffer.alloc(64 << 20, 7);
const smallObjects = 200;
const largeRounds = 5;

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
  const { api, credentials, repository, report } = bench;
  const { endpoint } = api;
  const request = (method: string, key: string, length?: number): string => {
    const target = presignTarget(endpoint, credentials, method, `/${repository}/objects/${key}`);
    const body = length === undefined ? '' : `content-length: ${length}\r\n`;
    return `${method} ${target} HTTP/1.1\r\nhost: ${endpoint.host}\r\n${body}\r\n`;
  };
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

  const bigPut = Buffer.concat([Buffer.from(request('PUT', 'big', large.length)), large]);
  const written = await runLoad({
    endpoint,
    connections: 1,
    seconds: 3600,
    requests: largeRounds,
    next: () => bigPut,
  });
  report.add({
    scenario: 'S3 put 64 MiB, one client',
    value: large.length / 1e6 / (written.p50 / 1000),
    unit: 'MB/s',
    goal: 400,
    errors: written.errors,
  });
  const bigGet = request('GET', 'big');
  const got = await runLoad({ endpoint, connections: 4, seconds: bench.seconds, next: () => bigGet });
  report.add({
    scenario: 'S3 get 64 MiB, four clients',
    value: got.megabytesPerSecond,
    unit: 'MB/s',
    goal: 2800,
    errors: got.errors,
  });
}

function any(count: number): number {
  return Math.floor(Math.random() * count);
}
