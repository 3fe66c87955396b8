// What many followers of the events cost the server, and how long the last of them waits for one.
// node bench/src/followers-bench.ts [followers] [moves per second] [seconds]; needs `npm run build`.
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { processorMsOf } from './driver/processor-time.ts';
import { startServer } from './driver/start-server.ts';

const [followers = 1000, rate = 100, seconds = 10] = process.argv.slice(2, 5).map(Number);
const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-followers-'));
const server = await startServer(folder, folder, {});
const { accessKeyId, secretAccessKey } = server.credentials;
const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`;

async function post(path: string, body: object): Promise<void> {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, server.endpoint), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  await answer.arrayBuffer();
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status}`);
}

const answered = new Map<string, number>();
/** When the event of a branch was seen by everybody so far, and by how many. */
const seen = new Map<string, { count: number; last: number }>();
const sockets: Socket[] = [];

/** The cheapest reader there is: the cost of reading is not what is measured. */
function follow(): Promise<void> {
  const { hostname, port } = server.endpoint;
  const socket = connect(Number(port), hostname).setEncoding('latin1');
  sockets.push(socket);
  let rest = '';
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('data', (text: string) => {
      resolve();
      const now = performance.now();
      rest += text;
      const end = rest.lastIndexOf('\n');
      for (const [, name = ''] of rest.slice(0, end).matchAll(/"subject":"branch\/([^"]+)"/g)) {
        const known = seen.get(name) ?? { count: 0, last: 0 };
        seen.set(name, known);
        known.count += 1;
        known.last = now;
      }
      rest = rest.slice(end + 1);
    });
    socket.write(
      `GET /api/v1/events?types=svc.branch.created HTTP/1.1\r\nHost: svc\r\nAccept: text/event-stream\r\n` +
        `Authorization: ${authorization}\r\n\r\n`,
    );
  });
}

await post('/api/v1/repositories', { name: 'bench', storage_namespace: 'local://bench' });
for (let count = 0; count < followers; count += 50) {
  await Promise.all(Array.from({ length: Math.min(50, followers - count) }, follow));
}
await pause(1000);

async function load(prefix: string): Promise<number> {
  const before = processorMsOf('node');
  const own = process.cpuUsage();
  const started = performance.now();
  const requests: Promise<void>[] = [];
  for (let count = 0; count < rate * seconds; count += 1) {
    const due = started + (count * 1000) / rate;
    if (due > performance.now()) await pause(Math.max(1, due - performance.now()));
    const name = `${prefix}${count}`;
    requests.push(
      post('/api/v1/repositories/bench/branches', { name, source: 'main' }).then(() => {
        answered.set(name, performance.now());
      }),
    );
  }
  await Promise.all(requests);
  await pause(1000);
  const { user, system } = process.cpuUsage(own);
  const ms = processorMsOf('node') - before - (user + system) / 1000;
  return ms / (performance.now() - started);
}

const followed = await load('followed');
for (const socket of sockets) socket.destroy();
await pause(1000);
const alone = await load('alone');

const waits = [...answered].filter(([name]) => name.startsWith('followed'));
const complete = waits.filter(([name]) => seen.get(name)?.count === followers).length;
const lasts = waits
  .map(([name, at]) => (seen.get(name)?.last ?? Number.POSITIVE_INFINITY) - at)
  .sort((left, right) => left - right);
const at = (part: number): string => `${(lasts[Math.floor(lasts.length * part)] ?? 0).toFixed(1)} ms`;
console.log(`${followers} followers, ${rate} moves/s: ${complete} of ${waits.length} events seen by all`);
console.log(`answered → the last of them: p50 ${at(0.5)}, p99 ${at(0.99)}`);
console.log(`cores: ${followed.toFixed(2)} with them, ${alone.toFixed(2)} without`);
await server.stop();
rmSync(folder, { recursive: true, force: true });
