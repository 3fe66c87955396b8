// A remote store through svc beside the vendor's own client, in turns, on the server that the tests use:
//   node bench/src/cloud-bench.ts s3|gs|azure|postgres|dynamodb|cosmosdb
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { openBlockStore, type BlockAdapter, type BlockStoreConfig, type ObjectPointer } from '@svc/block';
import { openStore, type KvStoreConfig } from '@svc/kv';
import {
  cosmosFake,
  createAzureContainer,
  createGcsBucket,
  startAzurite,
  startDynamoDb,
  startFakeGcs,
  startPostgres,
  startVersitygw,
} from '@svc/testing';
import {
  azureObjects,
  cosmosKeys,
  dynamoKeys,
  googleObjects,
  postgresKeys,
  s3Objects,
  type RawKeys,
  type RawObjects,
} from './cloud/raw-clients.ts';

const rounds = 5;
const largeSize = 64 << 20;

interface Side {
  readonly name: 'svc' | 'raw';
  readonly run: (index: number) => Promise<unknown>;
}

interface Measured {
  readonly rate: number;
  readonly cpuMicros: number;
}

async function loaded(side: Side, count: number, width: number, base: number): Promise<Measured> {
  const began = performance.now();
  const cpu = process.cpuUsage();
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let index = next++; index < count; index = next++) await side.run(base + index);
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  return { rate: count / ((performance.now() - began) / 1000), cpuMicros: (user + system) / count };
}

function middle(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

/** Both sides in turns, the first of them changing: the machine is not equally fast all the time. */
async function beside(
  what: string,
  options: { readonly count: number; readonly width: number; readonly bytes?: number },
  sides: readonly Side[],
): Promise<void> {
  const measured = new Map<string, Measured[]>(sides.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const result = await loaded(side, options.count, options.width, (round + 1) * options.count);
      // The first round warms both up.
      if (round >= 0) measured.get(side.name)?.push(result);
    }
  }
  const of = (name: string, key: keyof Measured): number =>
    middle((measured.get(name) ?? []).map((result) => result[key]));
  const shown = (name: string): string => {
    const rate = of(name, 'rate');
    return options.bytes === undefined
      ? `${Math.round(rate)}/s ${Math.round(of(name, 'cpuMicros'))} µs`
      : `${Math.round((rate * options.bytes) / (1 << 20))} MiB/s ${Math.round((of(name, 'cpuMicros') * (1 << 20)) / options.bytes)} µs/MiB`;
  };
  const ratio = (of('svc', 'rate') / of('raw', 'rate')).toFixed(2);
  console.log(
    `${what.padEnd(34)} svc ${shown('svc').padEnd(22)} raw ${shown('raw').padEnd(22)} ratio ${ratio}`,
  );
}

function largeBody(): Readable {
  const chunk = randomBytes(256 * 1024);
  return Readable.from(
    (function* () {
      for (let sent = 0; sent < largeSize; sent += chunk.length) yield chunk;
    })(),
    { objectMode: false },
  );
}

async function drain(stream: Readable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream
      .on('data', () => undefined)
      .on('end', resolve)
      .on('error', reject);
  });
}

async function objects(config: BlockStoreConfig, namespace: string, raw: RawObjects): Promise<void> {
  const adapter: BlockAdapter = await openBlockStore(config);
  const at = (identifier: string): ObjectPointer => ({
    storageNamespace: namespace,
    identifier,
    identifierType: 'relative',
  });
  const body = randomBytes(4096);
  const puts = (width: number): Side[] => [
    { name: 'svc', run: (i) => adapter.put(at(`svc-${width}-${i}`), body) },
    { name: 'raw', run: (i) => raw.put(`raw-${width}-${i}`, body) },
  ];
  for (const width of [1, 64])
    await beside(`put 4 KiB, ${width} at once`, { count: 150, width }, puts(width));
  await beside('get 4 KiB, 64 at once', { count: 600, width: 64 }, [
    { name: 'svc', run: async (i) => drain((await adapter.get(at(`svc-64-${i % 150}`))).stream()) },
    { name: 'raw', run: (i) => raw.get(`raw-64-${i % 150}`) },
  ]);
  const large = { count: 2, width: 1, bytes: largeSize };
  await beside('put 64 MiB', large, [
    { name: 'svc', run: () => adapter.put(at('large'), { stream: largeBody(), size: largeSize }) },
    { name: 'raw', run: () => raw.putStream('large', largeBody()) },
  ]);
  await beside('get 64 MiB', large, [
    { name: 'svc', run: async () => drain((await adapter.get(at('large'))).stream()) },
    { name: 'raw', run: async () => drain(await raw.getStream('large')) },
  ]);
  await adapter.close();
}

async function keys(config: KvStoreConfig, openRaw: () => Promise<RawKeys>): Promise<void> {
  const store = await openStore(config);
  const raw = await openRaw();
  const partition = Buffer.from('bench');
  const value = randomBytes(200);
  for (const width of [1, 8, 64])
    await beside(`put 200 B, ${width} writers`, { count: width === 1 ? 200 : 800, width }, [
      { name: 'svc', run: (i) => store.set(partition, Buffer.from(`${width}-${i}`), value) },
      { name: 'raw', run: (i) => raw.put(`${width}-${i}`, value) },
    ]);
  await beside('get 200 B, 64 readers', { count: 1500, width: 64 }, [
    { name: 'svc', run: (i) => store.get(partition, Buffer.from(`64-${i % 800}`)) },
    { name: 'raw', run: (i) => raw.get(`64-${i % 800}`) },
  ]);
  await store.close();
}

type Stop = () => Promise<void>;

const benches: Record<string, (onEnd: (stop: Stop) => void) => Promise<void>> = {
  async s3(onEnd) {
    const server = await startVersitygw();
    onEnd(() => server.dispose());
    const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = server.address;
    const credentials = { accessKeyId, secretAccessKey };
    // It makes the bucket.
    const raw = await s3Objects({ endpoint, region, credentials }, 'bench', largeSize);
    await objects({ type: 's3', endpoint, region, credentials, forcePathStyle: true }, 's3://bench', raw);
  },
  async gs(onEnd) {
    const server = await startFakeGcs();
    onEnd(() => server.dispose());
    const { endpoint = '' } = server.address;
    await createGcsBucket({ endpoint }, 'bench');
    await objects({ type: 'gs', endpoint }, 'gs://bench', await googleObjects(endpoint, 'bench'));
  },
  async azure(onEnd) {
    const server = await startAzurite();
    onEnd(() => server.dispose());
    const { endpoint = '', account = '', accountKey = '' } = server.address;
    const place = { endpoint, account, accountKey };
    await createAzureContainer(place, 'bench');
    const config = {
      type: 'azure',
      storageAccount: account,
      storageAccessKey: accountKey,
      testEndpointUrl: endpoint,
    } as const;
    const namespace = `https://${account}.blob.core.windows.net/bench`;
    await objects(config, namespace, await azureObjects(place, 'bench'));
  },
  async postgres(onEnd) {
    const server = await startPostgres();
    onEnd(() => server.dispose());
    const { connectionString = '' } = server.address;
    const connections = 16;
    const pool = { maxOpenConnections: connections, maxIdleConnections: connections };
    await keys(
      { type: 'postgres', connectionString, ...pool, connectionMaxLifetimeMs: 0, scanPageSize: 1000 },
      () => postgresKeys(connectionString, connections),
    );
  },
  async dynamodb(onEnd) {
    const server = await startDynamoDb();
    onEnd(() => server.dispose());
    const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = server.address;
    const credentials = { accessKeyId, secretAccessKey };
    const limits = { scanLimit: 1025, maxAttempts: 10, maxConnections: 64, healthCheckIntervalMs: 0 };
    await keys({ type: 'dynamodb', tableName: 'svc', endpoint, region, credentials, ...limits }, () =>
      dynamoKeys({ endpoint, region, ...credentials }),
    );
  },
  async cosmosdb() {
    const { endpoint, key } = await cosmosFake();
    const place = { endpoint, key, database: 'svc', container: 'kv' };
    await keys({ type: 'cosmosdb', ...place, throughput: undefined, autoscale: false }, () =>
      cosmosKeys(place),
    );
  },
};

const [kind = ''] = process.argv.slice(2);
const bench = benches[kind];
if (bench === undefined) throw new Error(`choose a store: ${Object.keys(benches).join(', ')}`);
const stops: Stop[] = [];
try {
  await bench((stop) => stops.push(stop));
} finally {
  for (const stop of stops) await stop();
}
process.exit(0);
