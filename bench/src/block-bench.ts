// Object-store speed beside the raw limit of the same machine.
//   node bench/src/block-bench.ts local [folder]
//   node bench/src/block-bench.ts s3          (SVC_BENCH_S3_ENDPOINT, _ACCESS_KEY_ID, _SECRET_ACCESS_KEY, _BUCKET)
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
import { openBlockStore, type BlockAdapter, type ObjectPointer } from '@svc/block';

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

async function throughput(
  what: string,
  bytes: number,
  work: () => Promise<unknown>,
  rounds = 3,
): Promise<void> {
  let best = 0;
  for (let round = 0; round < rounds; round++) {
    const began = performance.now();
    await work();
    best = Math.max(best, bytes / mebibyte / ((performance.now() - began) / 1000));
  }
  report({ what, rate: best, unit: 'MiB/s' });
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
  await throughput(`${name}: put 512 MiB stream`, largeSize, () =>
    adapter.put(at('data/large'), largeBody()),
  );
  await throughput(`${name}: get 512 MiB stream`, largeSize, async () =>
    drain((await adapter.get(at('data/large'))).stream()),
  );
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
    await throughput('raw: write 512 MiB + fdatasync', largeSize, async () => {
      const fd = openSync(join(base, 'raw'), 'w');
      for (let written = 0; written < largeSize; written += chunk.length) writeSync(fd, chunk);
      fdatasyncSync(fd);
      closeSync(fd);
    });
    const adapter = await openBlockStore({ type: 'local', path: join(base, 'store') });
    await adapterRates('local', adapter, 'local://bench', count);
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

async function s3(): Promise<void> {
  const setting = (name: string): string => {
    const value = process.env[`SVC_BENCH_S3_${name}`];
    if (value === undefined) throw new Error(`set SVC_BENCH_S3_${name} (see the head of this file)`);
    return value;
  };
  await rawLoopback();
  const adapter = await openBlockStore({
    type: 's3',
    endpoint: setting('ENDPOINT'),
    forcePathStyle: true,
    credentials: { accessKeyId: setting('ACCESS_KEY_ID'), secretAccessKey: setting('SECRET_ACCESS_KEY') },
  });
  await adapterRates('s3', adapter, `s3://${setting('BUCKET')}/bench-${Date.now()}`, 2000);
  await adapter.close();
}

const [kind = 'local', folder = tmpdir()] = process.argv.slice(2);
if (kind === 'local') await local(folder);
else if (kind === 's3') await s3();
else throw new Error(`unknown store "${kind}": choose local or s3`);
console.log(JSON.stringify(rows));
