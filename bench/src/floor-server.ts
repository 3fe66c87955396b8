// The least a server on this machine could do for a request: `node:http` in as many processes as the service has, the
// bytes of a real answer, and the storage alone; no versioning, no callers, no permissions, no validation.
//   node bench/src/floor-server.ts FOLDER [STORES]    prints its port; load it with `npm run bench` or any other tool
// STORES is a JSON file (`FloorStores`); without it both stores are local, in the folder.
//   GET  /stat    an answer as long as that of a stat
//   GET  /get     4 KiB read from a file
//   PUT  /stage…  a JSON body, kept as a durable record under the request's path
//   PUT  /put…    a body, kept as a synced file and a durable record
import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { openBlockStores, type BlockStoreConfig } from '@svc/block';
import { openStore, type KvStoreConfig } from '@svc/kv';

/** Where a bare server keeps what it is sent. */
export interface FloorStores {
  readonly records: KvStoreConfig;
  readonly objects: BlockStoreConfig;
  /** Of the objects. */
  readonly namespace: string;
}

const [folder = '', storesFile] = process.argv.slice(2);
const files = 200;
const fileSize = 4096;
const answer = JSON.stringify({
  path: 'd0001/f0001',
  path_type: 'object',
  physical_address: 'local:///data/import/d0001/f0001',
  checksum: '0123456789abcdef0123456789abcdef',
  size_bytes: 1234,
  mtime: 1_763_251_200,
  metadata: {},
  content_type: 'application/octet-stream',
});

if (cluster.isPrimary) startWorkers();
else await serve();

function startWorkers(): void {
  if (folder === '') throw new Error('usage: node bench/src/floor-server.ts FOLDER [STORES]');
  mkdirSync(join(folder, 'files'), { recursive: true });
  for (let index = 0; index < files; index += 1)
    writeFileSync(join(folder, 'files', String(index)), Buffer.alloc(fileSize, 'x'));
  // Like the service's: connections go to whoever accepts them, without passing through the primary.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  let ready = 0;
  const count = availableParallelism();
  cluster.setupPrimary({ execArgv: ['--min-semi-space-size=16', '--max-semi-space-size=24'] });
  for (let index = 0; index < count; index += 1) {
    cluster.fork().once('listening', (address) => {
      ready += 1;
      if (ready === count) console.log(address.port);
    });
  }
  process.once('SIGTERM', () => process.exit());
}

async function serve(): Promise<void> {
  const stores = storesFile === undefined ? localStores() : storesOf(storesFile);
  const records = await openStore(stores.records);
  const objects = (await openBlockStores([stores.objects])).get('');
  const partition = Buffer.from('records');
  const keep = (request: IncomingMessage, value: Buffer): Promise<void> =>
    records.set(partition, Buffer.from(request.url ?? ''), value);

  const stage = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse((await bodyOf(request)).toString()) as object;
    await keep(request, Buffer.from(JSON.stringify(body)));
    send(response, 201, 'application/json', answer);
  };
  const put = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pointer = {
      storageNamespace: stores.namespace,
      identifier: `data/${randomUUID()}`,
      identifierType: 'relative' as const,
    };
    await objects.put(pointer, await bodyOf(request), { fresh: true });
    await keep(request, Buffer.from(answer));
    send(response, 201, 'application/json', answer);
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/stat') send(response, 200, 'application/json', answer);
    else if (path === '/get') send(response, 200, 'application/octet-stream', anyFile());
    else void (path.startsWith('/stage') ? stage : put)(request, response);
  });
  server.listen(0, '127.0.0.1');
}

function localStores(): FloorStores {
  return {
    records: { type: 'local', path: join(folder, 'kv'), syncWrites: true },
    objects: { type: 'local', path: join(folder, 'objects') },
    namespace: 'local://floor',
  };
}

function storesOf(file: string): FloorStores {
  return JSON.parse(readFileSync(file, 'utf8')) as FloorStores;
}

function anyFile(): Buffer {
  const fd = openSync(join(folder, 'files', String(Math.floor(Math.random() * files))), 'r');
  const bytes = Buffer.allocUnsafe(fileSize);
  readSync(fd, bytes);
  closeSync(fd);
  return bytes;
}

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

function send(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  const headers = {
    'content-type': type,
    'content-length': body.length,
    'x-request-id': randomUUID(),
    'x-content-type-options': 'nosniff',
  };
  response.writeHead(status, headers);
  response.end(body);
}
