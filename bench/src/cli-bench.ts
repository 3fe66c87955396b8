// `svcctl` beside rclone over the S3 gateway, on the same files of the same server, in turns:
//   node bench/src/cli-bench.ts [embedded|remote] [--rounds 3] [--only many,medium,large,local]
//     [--many 10000] [--medium 200] [--large-mib 1024]; needs `npm run build`
// `remote` is PostgreSQL and an S3 server on this machine. rclone runs with its defaults and with as many transfers as
// svcctl has; the ratio is that of the faster one's time to ours. Every round begins with another tool, and every
// measurement with nothing left to write to the disk. Medians of wall time; processor time of the client, and of the
// server with its stores. `SVC_BENCH_PROFILE` names a folder for processor profiles of svcctl.
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { rclone } from '@svc/testing';
import { Api, median } from './driver/api.ts';
import { childrenMs, processorMsOf } from './driver/processor-time.ts';
import { startRemoteStores } from './driver/remote-stores.ts';
import { setUp } from './driver/set-up.ts';
import { startServer } from './driver/start-server.ts';

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'many,medium,large,local' },
    many: { type: 'string', default: '10000' },
    medium: { type: 'string', default: '200' },
    'large-mib': { type: 'string', default: '1024' },
  },
  allowPositionals: true,
});
const kind = positionals[0] ?? 'embedded';
if (kind !== 'embedded' && kind !== 'remote') throw new Error(`"${kind}" is neither embedded nor remote`);
const mebibyte = 1024 * 1024;
/** Of each set of `local`, this many files change between two commits. */
const changed = 500;
const dist = join(import.meta.dirname, '..', '..', 'dist');

const work = mkdtempSync(join(process.env['SVC_BENCH_DIR'] ?? tmpdir(), 'cli-bench-'));
const stores = kind === 'remote' ? await startRemoteStores() : undefined;
const server = await startServer(join(work, 'server'), work, stores?.settings, dist);
const { endpoint, credentials } = server;
const rclonePath = await rclone();
const env = {
  PATH: process.env['PATH'],
  HOME: work,
  SVCCTL_SERVER_ENDPOINT_URL: endpoint.origin,
  SVCCTL_CREDENTIALS_ACCESS_KEY_ID: credentials.accessKeyId,
  SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  RCLONE_CONFIG_SVC_TYPE: 's3',
  RCLONE_CONFIG_SVC_PROVIDER: 'Other',
  RCLONE_CONFIG_SVC_ENDPOINT: endpoint.origin,
  RCLONE_CONFIG_SVC_ACCESS_KEY_ID: credentials.accessKeyId,
  RCLONE_CONFIG_SVC_SECRET_ACCESS_KEY: credentials.secretAccessKey,
};
const api = new Api(endpoint, credentials);

interface Cost {
  readonly seconds: number;
  readonly clientMs: number;
  readonly serverMs: number;
}

function serverMs(): number {
  const behind = stores === undefined ? 0 : processorMsOf('postgres') + processorMsOf('versitygw');
  return server.memory.processorMs() + behind;
}

async function cost(program: string, args: readonly string[]): Promise<Cost> {
  spawnSync('sync');
  const before = { server: serverMs(), client: childrenMs(), at: performance.now() };
  const child = spawn(program, args, { env, cwd: work, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2000)));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${said}`);
  return {
    seconds: (performance.now() - before.at) / 1000,
    clientMs: childrenMs() - before.client,
    serverMs: serverMs() - before.server,
  };
}

const profile = process.env['SVC_BENCH_PROFILE'];
const svcctl = (...args: string[]): Promise<Cost> =>
  cost(process.execPath, [
    ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
    join(dist, 'svcctl.js'),
    ...args,
  ]);

/** `from` and `to` are paths of the repository, branch first. */
interface Tool {
  readonly name: string;
  upload(folder: string, to: string): Promise<Cost>;
  download(from: string, folder: string): Promise<Cost>;
  readonly local: {
    clone(from: string, folder: string): Promise<Cost>;
    status(from: string, folder: string): Promise<Cost>;
    commit(folder: string, to: string): Promise<Cost>;
    pull(from: string, folder: string): Promise<Cost>;
    checkout(from: string, folder: string): Promise<Cost>;
  };
}

/** The counterpart of a commit or pull is `rclone sync` of the folder, that of a status `rclone check`. */
function withRclone(name: string, flags: readonly string[]): Tool {
  const run = (verb: string, ...args: string[]): Promise<Cost> => cost(rclonePath, [verb, ...flags, ...args]);
  const get = (from: string, folder: string): Promise<Cost> => run('sync', `svc:bench/${from}`, folder);
  return {
    name,
    upload: (folder, to) => run('copy', folder, `svc:bench/${to}`),
    download: (from, folder) => run('copy', `svc:bench/${from}`, folder),
    local: {
      clone: get,
      status: (from, folder) => run('check', `svc:bench/${from}`, folder),
      commit: (folder, to) => run('sync', folder, `svc:bench/${to}`),
      pull: get,
      checkout: get,
    },
  };
}

const tools: readonly Tool[] = [
  {
    name: 'svcctl',
    upload: (folder, to) => svcctl('fs', 'upload', '-r', '-s', folder, `svc://bench/${to}`),
    download: (from, folder) => svcctl('fs', 'download', '-r', `svc://bench/${from}`, folder),
    local: {
      clone: (from, folder) => svcctl('local', 'clone', `svc://bench/${from}/`, folder),
      status: (_from, folder) => svcctl('local', 'status', folder),
      commit: (folder) => svcctl('local', 'commit', '-m', 'changes', folder),
      pull: (_from, folder) => svcctl('local', 'pull', folder),
      checkout: (_from, folder) => svcctl('local', 'checkout', '-y', folder),
    },
  },
  withRclone('rclone', []),
  withRclone('rclone, 25 transfers', ['--transfers', '25', '--checkers', '25']),
];

/** All tools; every round begins with another. */
function inTurns(round: number): readonly Tool[] {
  const first = round % tools.length;
  return [...tools.slice(first), ...tools.slice(0, first)];
}

const rows = new Map<string, Map<string, Cost[]>>();

function note(row: string, tool: string, measured: Cost): void {
  const known = rows.get(row) ?? new Map<string, Cost[]>();
  rows.set(row, known.set(tool, [...(known.get(tool) ?? []), measured]));
}

let made = 0;
const fresh = (): string => join(work, `out-${made++}`);

function makeFiles(folder: string, count: number, size: number): void {
  for (let n = 0; n < count; n += 1) {
    const sub = join(folder, `folder-${n % Math.min(20, count)}`);
    if (n < 20) mkdirSync(sub, { recursive: true });
    const file = join(sub, `file-${n}`);
    writeFileSync(file, '');
    for (let at = 0; at < size; at += 64 * mebibyte) {
      appendFileSync(file, randomBytes(Math.min(size - at, 64 * mebibyte)));
    }
  }
}

function expectFiles(folder: string, count: number): void {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && entry.name.startsWith('file-')).length;
  if (files !== count) throw new Error(`${folder} has ${files} files instead of ${count}`);
}

async function transfers(name: string, count: number, size: number): Promise<void> {
  const folder = join(work, name);
  makeFiles(folder, count, size);
  for (let round = 0; round < Number(values.rounds); round += 1) {
    for (const [n, tool] of inTurns(round).entries()) {
      const path = `main/${name}-${round}-${n}`;
      note(`upload ${name}`, tool.name, await tool.upload(folder, path));
      const out = fresh();
      note(`download ${name}`, tool.name, await tool.download(path, out));
      expectFiles(out, count);
      remove(out, count);
      await svcctl('fs', 'rm', '-r', `svc://bench/${path}/`);
    }
  }
  remove(folder, count);
}

/**
 * Many files stay until the end: ext4 makes a new file twenty times slower where thousands were deleted in the last
 * seconds.
 */
function remove(folder: string, count: number): void {
  if (count < 1000) rmSync(folder, { recursive: true });
}

/** Each tool has a branch with the same files, and two folders of it: changes are made in one and come to the other. */
async function linkedFolders(count: number): Promise<void> {
  const source = join(work, 'local');
  makeFiles(source, count, 4096);
  await svcctl('fs', 'upload', '-r', '-s', source, 'svc://bench/main/local/');
  await commit('main');
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const users = inTurns(round).map((tool, n) => {
      const branch = `local-${round}-${n}`;
      return { tool, branch, path: `${branch}/local`, folder: fresh(), other: fresh() };
    });
    for (const { branch } of users)
      await api.call('POST', '/repositories/bench/branches', { name: branch, source: 'main' });
    for (const { tool, path, folder } of users)
      note('local clone', tool.name, await tool.local.clone(path, folder));
    for (const { tool, path, folder } of users)
      note('local status', tool.name, await tool.local.status(path, folder));
    for (const { tool, path, other } of users) await tool.local.clone(path, other);
    for (const { tool, branch, path, folder } of users) {
      change(folder, count);
      note('local commit', tool.name, await tool.local.commit(folder, path));
      if (tool.name !== 'svcctl') await commit(branch);
    }
    for (const { tool, path, other } of users)
      note('local pull', tool.name, await tool.local.pull(path, other));
    for (const { tool, path, other } of users) {
      change(other, count);
      note('local checkout', tool.name, await tool.local.checkout(path, other));
    }
    for (const { folder, other } of users) {
      expectFiles(folder, count);
      if (hashOf(folder) !== hashOf(other)) throw new Error(`${other} is not what ${folder} is`);
      for (const each of [folder, other]) remove(each, count);
    }
  }
  remove(source, count);
}

/** Of all files and their names. */
function hashOf(folder: string): string {
  const hash = createHash('sha1');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((each) => /file-\d+$/.test(each)).sort())
    hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex');
}

/** Other content of the same size in every so many files. */
function change(folder: string, count: number): void {
  const step = Math.max(1, Math.floor(count / changed));
  for (let n = 0; n < count; n += step) {
    writeFileSync(join(folder, `folder-${n % Math.min(20, count)}`, `file-${n}`), randomBytes(4096));
  }
}

function commit(branch: string): Promise<unknown> {
  return api.call('POST', `/repositories/bench/branches/${branch}/commits`, { message: 'bench' });
}

function print(): void {
  console.log(`On ${kind} stores, medians of ${values.rounds} rounds.\n`);
  console.log('| | Tool | Time | Client | Server | Faster rclone : svcctl |');
  console.log('|---|---|---|---|---|---|');
  for (const [row, of] of rows) {
    const time = (tool: string): number => median((of.get(tool) ?? []).map(({ seconds }) => seconds));
    const ratio = Math.min(...tools.slice(1).map(({ name }) => time(name))) / time('svcctl');
    for (const { name } of tools) {
      const client = median((of.get(name) ?? []).map(({ clientMs }) => clientMs)) / 1000;
      const behind = median((of.get(name) ?? []).map((each) => each.serverMs)) / 1000;
      const cells = [row, name, ...[time(name), client, behind].map((value) => `${value.toFixed(2)} s`)];
      console.log(`| ${[...cells, name === 'svcctl' ? `${ratio.toFixed(2)}×` : ''].join(' | ')} |`);
    }
  }
}

try {
  if (stores !== undefined) await setUp(server);
  const namespace = stores === undefined ? 'local://bench' : 's3://bench/cli';
  await api.call('POST', '/repositories', { name: 'bench', storage_namespace: namespace });
  const only = values.only.split(',');
  if (only.includes('many')) await transfers(`${values.many}-of-4-KiB`, Number(values.many), 4096);
  if (only.includes('medium')) await transfers(`${values.medium}-of-1-MiB`, Number(values.medium), mebibyte);
  if (only.includes('large'))
    await transfers(`one-of-${values['large-mib']}-MiB`, 1, Number(values['large-mib']) * mebibyte);
  if (only.includes('local')) await linkedFolders(Number(values.many));
} finally {
  print();
  await server.stop();
  await stores?.stop();
  rmSync(work, { recursive: true, force: true });
}
