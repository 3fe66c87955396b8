// How long after a move was answered its event is in a stream and at a webhook.
// node bench/src/events-bench.ts [moves per second] [seconds] [local|postgres] [webhook]; needs `npm run build`.
// For postgres, SVC_BENCH_POSTGRES names a server; without it one is started.
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgres } from '@svc/testing';
import { setUp } from './driver/set-up.ts';
import { startServer } from './driver/start-server.ts';

const [rate = 200, seconds = 10] = process.argv.slice(2, 4).map(Number);
const isPostgres = process.argv[4] === 'postgres';
const hasWebhook = process.argv[5] === 'webhook';
const folder = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'svc-events-'));
const named = process.env['SVC_BENCH_POSTGRES'];
const postgres = isPostgres && named === undefined ? await startPostgres() : undefined;
const connectionString = named ?? postgres?.address['connectionString'];
const server = await startServer(folder, folder, {
  ...(isPostgres && { database: { type: 'postgres', postgres: { connection_string: connectionString } } }),
  events: { webhooks: { allowed_networks: ['127.0.0.0/8'] } },
});
if (isPostgres) await setUp(server);
const { accessKeyId, secretAccessKey } = server.credentials;
const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

function post(path: string, body: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { authorization, 'content-type': 'application/json' };
    const sent = request(new URL(path, server.endpoint), { method: 'POST', agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(body));
  });
}

const answered = new Map<string, number>();
const inStream = new Map<string, number>();
const atWebhook = new Map<string, number>();
const cut = new AbortController();

const subjectOf = (event: string): string | undefined => /"subject":"branch\/([^"]+)"/.exec(event)?.[1];

const receiver = createServer((message, reply) => {
  const now = performance.now();
  let text = '';
  message.on('data', (chunk) => (text += String(chunk)));
  message.on('end', () => {
    const name = subjectOf(text);
    if (name !== undefined) atWebhook.set(name, now);
    reply.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');

async function follow(): Promise<void> {
  const response = await fetch(new URL('/api/v1/events?types=svc.branch.created', server.endpoint), {
    headers: { authorization, accept: 'text/event-stream' },
    signal: cut.signal,
  });
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const now = performance.now();
    const lines = (text + Buffer.from(chunk).toString()).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const name = subjectOf(line);
      if (name !== undefined) inStream.set(name, now);
    }
  }
}

await post('/api/v1/repositories', { name: 'bench', storage_namespace: 'local://bench' });
const { port } = receiver.address() as AddressInfo;
const types = ['svc.branch.created'];
if (hasWebhook) {
  const subscribed = await post('/api/v1/events/subscriptions', { url: `http://127.0.0.1:${port}/`, types });
  if (subscribed !== 201) throw new Error(`the webhook was refused with ${subscribed}`);
}
const following = follow().catch(() => undefined);
await pause(500);
const started = performance.now();
const requests: Promise<void>[] = [];
for (let count = 0; count < rate * seconds; count += 1) {
  const due = started + (count * 1000) / rate;
  if (due > performance.now()) await pause(Math.max(1, due - performance.now()));
  const name = `b${count}`;
  const path = '/api/v1/repositories/bench/branches';
  requests.push(
    post(path, { name, source: 'main' }).then((status) => {
      if (status === 201) answered.set(name, performance.now());
    }),
  );
}
await Promise.all(requests);
const took = (performance.now() - started) / 1000;
const arrivals = { 'in the stream': inStream, ...(hasWebhook && { 'at the webhook': atWebhook }) };
const isMissing = (): boolean =>
  Object.values(arrivals).some((arrived) => [...answered.keys()].some((name) => !arrived.has(name)));
while (isMissing() && performance.now() - started < (seconds + 20) * 1000) await pause(20);
cut.abort();
await following;
console.log(`${(answered.size / took).toFixed(0)} moves/s answered`);
for (const [where, arrived] of Object.entries(arrivals)) {
  const waits = [...answered]
    .map(([name, at]) => (arrived.get(name) ?? Infinity) - at)
    .sort((left, right) => left - right);
  const at = (part: number): string => `${(waits[Math.floor(waits.length * part)] ?? 0).toFixed(1)} ms`;
  console.log(
    `answered → ${where}: ${arrived.size} of ${answered.size}, p50 ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}`,
  );
}
agent.destroy();
await server.stop();
receiver.close();
receiver.closeAllConnections();
await postgres?.dispose();
if (process.env['KEEP'] === undefined) rmSync(folder, { recursive: true, force: true });
else console.log(folder);
