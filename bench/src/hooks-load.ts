// Commits at a steady rate on a repository with one webhook of 5 ms and one Lua hook, and on one without, in turns;
// and how long other requests take meanwhile.
// Usage: node bench/src/hooks-load.ts [commits per second] [seconds]
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Latencies } from './driver/latencies.ts';
import { startServer } from './driver/start-server.ts';

const perSecond = Number(process.argv[2] ?? 50);
const seconds = Number(process.argv[3] ?? 10);
const hookMs = 5;
/** Commits of one branch wait for each other; those of several do not. */
const branches = 64;

const folder = mkdtempSync(join(tmpdir(), 'hooks-load-'));
const server = await startServer(folder, join(folder, 'import'));
const { accessKeyId, secretAccessKey } = server.credentials;
const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`;

async function call(method: string, path: string, body?: object | string): Promise<void> {
  const isText = typeof body === 'string';
  const response = await fetch(new URL(`/api/v1${path}`, server.endpoint), {
    method,
    headers: { authorization, 'content-type': isText ? 'application/octet-stream' : 'application/json' },
    body: body === undefined ? null : isText ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
}

const receiver = createServer((request, response) => {
  request.resume();
  request.on('end', () => setTimeout(() => response.end(), hookMs));
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
const action = `name: both kinds
on: {pre-commit: }
hooks:
  - {id: call, type: webhook, properties: {url: ${url}}}
  - {id: script, type: lua, properties: {script: 'print(action.commit.message)'}}
`;

for (const repository of ['plain', 'hooked']) {
  await call('POST', '/repositories', { name: repository, storage_namespace: `local://${repository}` });
  if (repository === 'hooked') {
    await call('POST', `/repositories/hooked/branches/main/objects?path=_svc_actions/a.yaml`, action);
  }
  await call('POST', `/repositories/${repository}/branches/main/objects?path=a`, 'a');
  await call('POST', `/repositories/${repository}/branches/main/commits`, { message: 'first' });
  for (let index = 0; index < branches; index += 1) {
    await call('POST', `/repositories/${repository}/branches`, { name: `b${index}`, source: 'main' });
  }
}

/** One second's worth of commits begins each second, whether earlier ones have ended or not. */
async function load(repository: string): Promise<{ commits: Latencies; others: Latencies }> {
  const commits = new Latencies();
  const others = new Latencies();
  const running: Promise<void>[] = [];
  const start = performance.now();
  const one = async (index: number): Promise<void> => {
    const branch = `/repositories/${repository}/branches/b${index % branches}`;
    const began = performance.now();
    await call('POST', `${branch}/commits`, { message: `commit ${index}`, allow_empty: true });
    commits.record(performance.now() - began);
  };
  const other = async (): Promise<void> => {
    const began = performance.now();
    await call('GET', `/repositories/${repository}/refs/main/objects/stat?path=a`);
    others.record(performance.now() - began);
  };
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = start + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait);
    running.push(one(index), other());
  }
  await Promise.all(running);
  return { commits, others };
}

const show = (latencies: Latencies): string =>
  [0.5, 0.9, 0.99].map((share) => latencies.percentile(share).toFixed(1)).join(' / ');
await load('plain');
await load('hooked');
for (let round = 0; round < 3; round += 1) {
  for (const repository of ['plain', 'hooked']) {
    const { commits, others } = await load(repository);
    console.log(
      `${repository.padEnd(7)} commit p50/p90/p99 ${show(commits)} ms, others meanwhile ${show(others)} ms`,
    );
  }
}
receiver.close();
receiver.closeAllConnections();
await server.stop();
rmSync(folder, { recursive: true, force: true });
