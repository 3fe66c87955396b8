// Commits at a steady rate on a repository with one webhook of 5 ms and one Lua hook, and on one without, in turns, and
// how long other requests take meanwhile; then how long they take while scripts want all time and all memory.
// Usage: node bench/src/hooks-load.ts [commits per second] [seconds] [rounds] [remote]
// `remote`: on PostgreSQL and an S3 store, both on this machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Latencies } from './driver/latencies.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startReceiver } from './driver/slow-receiver.ts';
import { startServer } from './driver/start-server.ts';
import { steadily } from './driver/steady-load.ts';

const perSecond = Number(process.argv[2] ?? 50);
const seconds = Number(process.argv[3] ?? 10);
const rounds = Number(process.argv[4] ?? 3);
const isRemote = process.argv[5] === 'remote';
const hookMs = 5;
/** Commits of one branch wait for each other; those of several do not. */
const branches = 64;

const folder = mkdtempSync(join(tmpdir(), 'hooks-load-'));
const actions = { lua: { timeout: '2s' } };
const remote = isRemote ? await startRemoteStores() : undefined;
const server = await startServer(folder, join(folder, 'import'), { ...remote?.settings, actions });
const { accessKeyId, secretAccessKey } = server.credentials;
const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`;

async function status(method: string, path: string, body?: object | string): Promise<number> {
  const isText = typeof body === 'string';
  const response = await fetch(new URL(`/api/v1${path}`, server.endpoint), {
    method,
    headers: { authorization, 'content-type': isText ? 'application/octet-stream' : 'application/json' },
    body: body === undefined ? null : isText ? body : JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

async function call(method: string, path: string, body?: object | string): Promise<void> {
  const found = await status(method, path, body);
  if (found >= 300) throw new Error(`${method} ${path}: ${found}`);
}

const receiver = await startReceiver(hookMs);
const { url } = receiver;
const lua = (id: string, script: string): string =>
  `  - {id: ${id}, type: lua, if: always(), properties: {script: ${JSON.stringify(script)}}}\n`;
const files: Readonly<Record<string, string>> = {
  plain: '',
  hooked: `name: both kinds
on: {pre-commit: }
hooks:
  - {id: call, type: webhook, properties: {url: ${url}}}
${lua('script', 'print(action.commit.message)')}`,
  bombed: `name: bombs
on: {pre-commit: }
hooks:
${lua('memory', 'local t = {} while true do t[#t + 1] = string.rep("x", 1e6) .. #t end')}${lua('time', 'while true do pcall(function() while true do end end) end')}`,
};

if (isRemote) await setUp(server);
for (const [repository, file] of Object.entries(files)) {
  const storage_namespace = isRemote ? `s3://bench/${repository}` : `local://${repository}`;
  await call('POST', '/repositories', { name: repository, storage_namespace });
  await call('POST', `/repositories/${repository}/branches/main/objects?path=a`, 'a');
  await call('POST', `/repositories/${repository}/branches/main/commits`, { message: 'first' });
  const path = `/repositories/${repository}/branches/main/objects?path=_svc_actions/a.yaml`;
  if (file !== '') await call('POST', path, file);
  if (repository === 'bombed') continue;
  if (file !== '')
    await call('POST', `/repositories/${repository}/branches/main/commits`, { message: 'action' });
  for (let index = 0; index < branches; index += 1) {
    await call('POST', `/repositories/${repository}/branches`, { name: `b${index}`, source: 'main' });
  }
}

const other = (): Promise<void> => call('GET', '/repositories/plain/refs/main/objects/stat?path=a');

const pace = { perSecond, seconds };

async function load(repository: string): Promise<{ commits: Latencies; others: Latencies; cpuMs: number }> {
  const used = server.memory.processorMs();
  const commit = (index: number): Promise<void> =>
    call('POST', `/repositories/${repository}/branches/b${index % branches}/commits`, {
      message: `commit ${index}`,
      allow_empty: true,
    });
  const [commits, others] = await Promise.all([steadily(pace, commit), steadily(pace, other)]);
  return { commits, others, cpuMs: (server.memory.processorMs() - used) / (perSecond * seconds) };
}

/** Other requests alone, or beside a commit whose scripts want everything. */
async function othersBeside(isBombed: boolean): Promise<Latencies> {
  const measuring = new AbortController();
  const bomb = async (): Promise<void> => {
    while (!measuring.signal.aborted)
      if ((await status('POST', '/repositories/bombed/branches/main/commits', { message: 'never' })) !== 412)
        throw new Error('a commit with bombs must be refused');
  };
  const bombs = isBombed ? bomb() : undefined;
  const others = await steadily(pace, other);
  measuring.abort();
  await bombs;
  return others;
}

const show = (latencies: Latencies): string =>
  [0.5, 0.9, 0.99].map((share) => latencies.percentile(share).toFixed(1)).join(' / ');
await load('plain');
await load('hooked');
for (let round = 0; round < rounds; round += 1) {
  for (const repository of ['plain', 'hooked']) {
    const { commits, others, cpuMs } = await load(repository);
    console.log(
      `${repository.padEnd(7)} commit p50/p90/p99 ${show(commits)} ms, others meanwhile ${show(others)} ms, ${cpuMs.toFixed(1)} ms CPU`,
    );
  }
  for (const isBombed of [false, true])
    console.log(
      `others ${isBombed ? 'beside bombs' : 'alone       '} ${show(await othersBeside(isBombed))} ms`,
    );
}
receiver.close();
await server.stop();
await remote?.stop();
rmSync(folder, { recursive: true, force: true });
