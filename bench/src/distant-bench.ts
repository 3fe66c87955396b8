// Large reads through a server whose S3 server is far away: each connection to it gives so many MB a second, and answers
// come so much later. A proxy on this machine makes it so.
//   node bench/src/distant-bench.ts [--rate 60] [--delay 15] [--rounds 8] [dist of another build …]; needs `npm run build`
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Api, median } from './driver/api.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer } from './driver/start-server.ts';

const { values, positionals } = parseArgs({
  options: {
    rate: { type: 'string', default: '60' },
    delay: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '8' },
  },
  allowPositionals: true,
});
const bytesPerMs = Number(values.rate) * 1000;
const delayMs = Number(values.delay);
const own = resolve(import.meta.dirname, '..', '..', 'dist');
const size = 64 * 1024 * 1024;

/** Passes on what the server sends at a rate, and the first of each answer late. */
async function slowed(server: Socket, client: Socket): Promise<void> {
  let free = 0;
  for await (const piece of server as AsyncIterable<Buffer>) {
    const now = performance.now();
    // After a rest something was asked for in between.
    const begin = now - free > delayMs ? now + delayMs : free;
    free = begin + piece.length / bytesPerMs;
    const wait = free - performance.now();
    if (wait > 1) await delay(wait);
    if (client.destroyed) return;
    if (!client.write(piece)) await new Promise((go) => client.once('drain', go).once('close', go));
  }
  client.end();
}

function startProxy(target: URL): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((client) => {
    const store = connect(Number(target.port), target.hostname);
    client.pipe(store);
    client.on('error', () => store.destroy()).on('close', () => store.destroy());
    store.on('error', () => client.destroy());
    slowed(store, client).catch(() => client.destroy());
  });
  return new Promise((go) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      go({ url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, server });
    });
  });
}

for (const dist of [own, ...positionals.map((path) => resolve(path))]) {
  const folder = mkdtempSync(join(tmpdir(), 'distant-bench-'));
  const stores = await startRemoteStores();
  const proxy = await startProxy(stores.objectStore.endpoint);
  const settings = stores.settings as { blockstore: { s3: object } };
  const { blockstore } = settings;
  const distant = {
    ...settings,
    blockstore: { ...blockstore, s3: { ...blockstore.s3, endpoint: proxy.url } },
  };
  const server = await startServer(folder, folder, distant, dist);
  try {
    await setUp(server);
    const api = new Api(server.endpoint, server.credentials);
    await api.call('POST', '/repositories', { name: 'bench', storage_namespace: 's3://bench/distant' });
    await api.upload('bench', 'main', 'large', Buffer.alloc(size, 'x'));
    const rates: number[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1) {
      const began = performance.now();
      const url = new URL('/api/v1/repositories/bench/refs/main/objects?path=large', server.endpoint);
      const response = await fetch(url, { headers: { authorization: api.authorization } });
      let received = 0;
      for await (const piece of response.body ?? []) received += (piece as Uint8Array).length;
      if (received !== size) throw new Error(`${received} of ${size} bytes came`);
      rates.push(size / 1e6 / ((performance.now() - began) / 1000));
    }
    const all = rates.map((rate) => rate.toFixed(0)).join(', ');
    console.log(`${dist}: median ${median(rates).toFixed(0)} MB/s (${all})`);
  } finally {
    await server.stop();
    proxy.server.close();
    await stores.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
