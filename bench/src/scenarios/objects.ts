import { median, timed } from '../driver/api.ts';
import { runLoad } from '../driver/http-load.ts';
import { presignTarget } from '../driver/presign.ts';
import { load, type Bench } from './bench.ts';

const small = Buffer.alloc(4096, 'x');
const large = Buffer.alloc(64 << 20, 7);

/** Small and large objects through the API and the S3 gateway. */
export async function measureObjects(bench: Bench): Promise<void> {
  const { api, credentials, repository, report } = bench;
  const base = `/api/v1/repositories/${repository}`;
  const headers = { authorization: api.authorization };
  await api.call('POST', `/repositories/${repository}/branches`, { name: 'objects', source: 'main' });
  for (let index = 0; index < 200; index += 1)
    await api.upload(repository, 'objects', `small/${index}`, small);
  const any = (count: number): number => Math.floor(Math.random() * count);

  await load(bench, {
    scenario: 'API get 4 KiB',
    goal: 17_000,
    next: () => ({ method: 'GET', target: `${base}/refs/objects/objects?path=small%2F${any(200)}`, headers }),
  });
  await load(bench, {
    scenario: 'API put 4 KiB',
    goal: 7500,
    next: (sequence) => ({
      method: 'POST',
      target: `${base}/branches/objects/objects?path=put%2F${any(1e9)}.${sequence}`,
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: small,
    }),
  });

  const sign = (method: string, key: string): string =>
    presignTarget(api.endpoint, credentials, method, `/${repository}/objects/${key}`);
  const gets = Array.from({ length: 200 }, (_, index) => sign('GET', `small/${index}`));
  const puts = Array.from({ length: 2000 }, (_, index) => sign('PUT', `sput/${index}`));
  await load(bench, {
    scenario: 'S3 get 4 KiB',
    goal: 16_000,
    next: () => ({ method: 'GET', target: gets[any(gets.length)] ?? '' }),
  });
  await load(bench, {
    scenario: 'S3 put 4 KiB',
    goal: 7500,
    next: (sequence) => ({ method: 'PUT', target: puts[sequence % puts.length] ?? '', body: small }),
  });

  const megabytes = large.length / 1e6;
  const target = sign('PUT', 'big');
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { milliseconds } = await timed(() =>
      fetch(new URL(target, api.endpoint), { method: 'PUT', body: large }),
    );
    times.push(milliseconds);
  }
  report.add({
    scenario: 'S3 put 64 MiB, one client',
    value: megabytes / (median(times) / 1000),
    unit: 'MB/s',
    goal: 400,
  });
  const bigGet = sign('GET', 'big');
  const got = await runLoad({
    endpoint: api.endpoint,
    connections: 4,
    seconds: bench.seconds,
    next: () => ({ method: 'GET', target: bigGet }),
  });
  report.add({
    scenario: 'S3 get 64 MiB, four clients',
    value: got.megabytesPerSecond,
    unit: 'MB/s',
    goal: 2800,
    errors: got.errors,
  });
}
