// Object-store speed beside the raw limit of the same machine.
//   node bench/src/block-bench.ts local [folder]
//   node bench/src/block-bench.ts s3          (SVC_BENCH_S3_ENDPOINT, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY, _BUCKET name
//                                              a server; without them versitygw is started)
import { randomBytes } from 'node:crypto';
import {
  close,
  closeSync,
  fdatasync,
  fsync,
  open,
  openSync,
  write,
  writeSync,
  fdatasyncSync,
  constants,
} from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { openBlockStore, type BlockAdapter, type ObjectPointer } from '@svc/block';
import { startVersitygw } from '@svc/testing';

const smallSize = 4096;
const largeSize = 512 * 1024 * 1024;
const mebibyte = 1024 * 1024;

interface Row {
  readonly what: string;
  readonly rate: number;
  readonly unit: string;
  readonly cpuMicros?: number;
}

const rows: Row[] = [];

function report(row: Row): void {
  rows.push(row);
  const cpu = row.cpuMicros === undefined ? '' : `   ${row.cpuMicros.toFixed(0)} µs CPU each`;
  console.log(
    `${row.what.padEnd(52)} ${Math.round(row.rate).toLocaleString('en').padStart(9)} ${row.unit}${cpu}`,
  );
}

/** Runs `work(i)` for i in 0..count with `width` at once; best of `rounds` by rate. */
async function rate(
  what: string,
  options: { readonly count: number; readonly width: number; readonly rounds?: number },
  work: (index: number, round: number) => Promise<unknown>,
): Promise<void> {
  let best: Row | undefined;
  for (let round = 0; round < (options.rounds ?? 3); round++) {
    const began = performance.now();
    const cpu = process.cpuUsage();
    let next = 0;
    await Promise.all(
      Array.from({ length: options.width }, async () => {
        for (let index = next++; index < options.count; index = next++) await work(index, round);
      }),
    );
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const row = {
      what,
      rate: options.count / seconds,
      unit: '/s',
      cpuMicros: (user + system) / options.count,
    };
    if (best === undefined || row.rate > best.rate) best = row;
  }
  if (best !== undefined) report(best);
}

interface LargeWork {
  readonly what: string;
  readonly run: () => Promise<unknown>;
  readonly cleanUp?: () => Promise<unknown>;
}

/**
 * Best rate of each over some rounds. They take turns and leave nothing behind: memory a virtual machine has just got
 * from its host costs several times what memory in use does, and would be paid by whoever comes last.
 */
async function throughput(...works: LargeWork[]): Promise<void> {
  const best = works.map(() => 0);
  for (let round = 0; round < 5; round++) {
    for (const [index, work] of works.entries()) {
      const began = performance.now();
      await work.run();
      const seconds = (performance.now() - began) / 1000;
      best[index] = Math.max(best[index] ?? 0, largeSize / mebibyte / seconds);
      await work.cleanUp?.();
    }
  }
  for (const [index, { what }] of works.entries()) report({ what, rate: best[index] ?? 0, unit: 'MiB/s' });
}

function largeBody(): { stream: Readable; size: number } {
  const chunk = randomBytes(256 * 1024);
  let sent = 0;
  const stream = new Readable({
    highWaterMark: mebibyte,
    read() {
      sent += chunk.length;
      this.push(sent > largeSize ? null : chunk);
    },
  });
  return { stream, size: largeSize };
}

async function drain(stream: Readable): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream
      .on('data', () => undefined)
      .on('end', resolve)
      .on('error', reject);
  });
}

async function adapterRates(
  name: string,
  adapter: BlockAdapter,
  namespace: string,
  count: number,
  rawLargeWrite: LargeWork[] = [],
): Promise<void> {
  const at = (identifier: string): ObjectPointer => ({
    storageNamespace: namespace,
    identifier,
    identifierType: 'relative',
  });
  const body = randomBytes(smallSize);
  for (const width of [1, 64]) {
    const some = width === 1 ? Math.ceil(count / 10) : count;
    await rate(`${name}: put 4 KiB, fresh address, ${width} at once`, { count: some, width }, (i, round) =>
      adapter.put(at(`data/fresh-${width}-${round}/${i}`), body, { fresh: true }),
    );
  }
  await rate(`${name}: put 4 KiB, given name, 64 at once`, { count, width: 64 }, (i) =>
    adapter.put(at(`data/named/${i}`), body),
  );
  await rate(`${name}: get 4 KiB, 64 at once`, { count: count * 5, width: 64 }, async (i) => {
    (await adapter.get(at(`data/named/${i % count}`))).dispose();
  });
  await rate(`${name}: get range of 1 KiB, 64 at once`, { count: count * 2, width: 64 }, async (i) => {
    (await adapter.getRange(at(`data/named/${i % count}`), 1024, 2047)).dispose();
  });
  await rate(`${name}: delete, 64 at once`, { count, width: 64, rounds: 1 }, (i) =>
    adapter.delete(at(`data/named/${i}`)),
  );
  const large = at('data/large');
  await throughput(...rawLargeWrite, {
    what: `${name}: put 512 MiB stream`,
    run: () => adapter.put(large, largeBody()),
    cleanUp: () => adapter.delete(large),
  });
  await adapter.put(large, largeBody());
  await throughput({
    what: `${name}: get 512 MiB stream`,
    run: async () => drain((await adapter.get(large)).stream()),
  });
}

/** The bare loop: four I/O threads, exclusive create, fdatasync, one folder sync for all that wait. */
async function rawSmallWrites(folder: string, count: number): Promise<void> {
  const body = randomBytes(smallSize);
  await rate(
    'raw: exclusive create + fdatasync + grouped folder sync',
    { count, width: 64 },
    async (index, round) => {
      const directory = join(folder, `raw-${round}`);
      if (index < 64) await mkdir(directory, { recursive: true });
      await new Promise<void>((resolve, reject) => {
        open(join(directory, String(index)), 'wx', (openError, fd) => {
          if (openError !== null) {
            reject(openError);
            return;
          }
          write(fd, body, 0, smallSize, 0, () =>
            fdatasync(fd, () => close(fd, () => syncFolder(directory, resolve))),
          );
        });
      });
    },
  );
}

let waiting: (() => void)[] = [];
let syncing = false;

function syncFolder(folder: string, done: () => void): void {
  waiting.push(done);
  if (syncing) return;
  syncing = true;
  const served = waiting;
  waiting = [];
  const fd = openSync(folder, constants.O_RDONLY);
  fsync(fd, () => {
    closeSync(fd);
    syncing = false;
    for (const finish of served) finish();
    if (waiting.length > 0) {
      const next = waiting.pop();
      if (next !== undefined) syncFolder(folder, next);
    }
  });
}

async function local(folder: string): Promise<void> {
  const base = await mkdtemp(join(folder, 'svc-block-bench-'));
  try {
    const count = 20_000;
    await rawSmallWrites(base, count);
    const chunk = randomBytes(mebibyte);
    const rawLargeWrite: LargeWork = {
      what: 'raw: write 512 MiB + fdatasync',
      run: async () => {
        const fd = openSync(join(base, 'raw'), 'w');
        for (let written = 0; written < largeSize; written += chunk.length) writeSync(fd, chunk);
        fdatasyncSync(fd);
        closeSync(fd);
      },
      cleanUp: () => rm(join(base, 'raw')),
    };
    const adapter = await openBlockStore({ type: 'local', path: join(base, 'store') });
    await adapterRates('local', adapter, 'local://bench', count, [rawLargeWrite]);
    await adapter.close();
    const unsynced = await openBlockStore({ type: 'local', path: join(base, 'unsynced'), sync: false });
    await rate('local, sync off: put 4 KiB, fresh address, 64 at once', { count, width: 64 }, (i, round) =>
      unsynced.put(
        { storageNamespace: 'local://bench', identifier: `data/${round}/${i}`, identifierType: 'relative' },
        chunk.subarray(0, smallSize),
        { fresh: true },
      ),
    );
    await unsynced.close();
  } finally {
    await rm(base, { recursive: true, force: true });
  }
}

/** Plain HTTP between two ends of one process: what no client over loopback can pass. */
async function rawLoopback(): Promise<void> {
  const small = randomBytes(smallSize);
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end(small));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await rate('raw: HTTP over loopback, 4 KiB, 64 at once', { count: 10_000, width: 64 }, async () => {
    await new Promise<void>((resolve, reject) => {
      httpRequest({ port, host: '127.0.0.1' }, (response) => void response.resume().on('end', resolve))
        .on('error', reject)
        .end();
    });
  });
  server.closeAllConnections();
  server.close();
}

interface S3Target {
  readonly endpoint: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly bucket: string;
  readonly dispose?: () => Promise<void>;
}

async function s3Target(): Promise<S3Target> {
  const { env } = process;
  if (env.SVC_BENCH_S3_ENDPOINT !== undefined) {
    const setting = (name: string): string => {
      const value = env[`SVC_BENCH_S3_${name}`];
      if (value === undefined) throw new Error(`set SVC_BENCH_S3_${name} (see the head of this file)`);
      return value;
    };
    const credentials = {
      accessKeyId: setting('ACCESS_KEY_ID'),
      secretAccessKey: setting('SECRET_ACCESS_KEY'),
    };
    return { endpoint: env.SVC_BENCH_S3_ENDPOINT, credentials, bucket: setting('BUCKET') };
  }
  const server = await startVersitygw();
  const { endpoint = '', region = '', accessKeyId = '', secretAccessKey = '' } = server.address;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: 'bench' }));
  client.destroy();
  return { endpoint, credentials, bucket: 'bench', dispose: () => server.dispose() };
}

async function s3(): Promise<void> {
  await rawLoopback();
  const { endpoint, credentials, bucket, dispose } = await s3Target();
  try {
    const adapter = await openBlockStore({ type: 's3', endpoint, credentials, forcePathStyle: true });
    await adapterRates('s3', adapter, `s3://${bucket}/bench-${Date.now()}`, 2000);
    await adapter.close();
  } finally {
    await dispose?.();
  }
}

const [kind = 'local', folder = tmpdir()] = process.argv.slice(2);
if (kind === 'local') await local(folder);
else if (kind === 's3') await s3();
else throw new Error(`unknown store "${kind}": choose local or s3`);
console.log(JSON.stringify(rows));
