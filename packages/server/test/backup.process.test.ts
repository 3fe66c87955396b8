import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { orSkipReason, svcBundle, tempDir, UnavailableError, waitUntil } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { quickstartAuth, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const repository = '/api/v1/repositories/lake';
const mounted: string[] = [];

afterAll(() => {
  for (const folder of mounted) execFileSync('umount', ['--lazy', folder]);
});

function post(server: RunningSvc, path: string, body: object) {
  return server.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function put(server: RunningSvc, path: string, body: string): Promise<void> {
  const answer = await server.request(`${repository}/branches/main/objects?path=${path}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/octet-stream' },
    body,
  });
  expect(answer.status).toBe(201);
}

async function lake(home: string): Promise<RunningSvc> {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, home);
  await post(server, '/api/v1/repositories', { name: 'lake', storage_namespace: 'local://lake' });
  return server;
}

/** Every object of main by its path. */
async function contents(server: RunningSvc): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const list = await server.request(`${repository}/refs/main/objects/ls?amount=1000`, { headers });
  for (const { path } of (JSON.parse(list.body) as { results: { path: string }[] }).results) {
    const answer = await server.request(`${repository}/refs/main/objects?path=${path}`, { headers });
    expect(answer.status, path).toBe(200);
    found.set(path, answer.body);
  }
  return found;
}

/** Files that belong to nobody in particular, so that copying takes its time. */
function manyFiles(folder: string, count: number): void {
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < count; i++) writeFileSync(join(folder, `f${i}`), 'x');
}

/** Starts a command and kills it as soon as `isTime`. */
async function killed(args: string[], home: string, isTime: (stderr: string) => boolean): Promise<void> {
  const child = spawn(process.execPath, [join(svcBundle(), 'svc.js'), ...args], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.once('close', (_code, signal) => resolve(signal)),
  );
  await waitUntil(() => isTime(stderr), { what: 'the moment to kill' });
  child.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
}

test('a backup taken under load holds every object acknowledged before it, and only what is new is copied again', async () => {
  const home = tempDir();
  const server = await lake(home);
  for (let i = 0; i < 20; i++) await put(server, `k${i}`, `content ${i}`);
  await post(server, `${repository}/branches/main/commits`, { message: 'first' });
  await put(server, 'staged', 'not committed');
  // What was written a moment ago is copied by every backup.
  const blocks = join(home, 'svc', 'data', 'block');
  const hourAgo = new Date(Date.now() - 3_600_000);
  for (const name of readdirSync(blocks, { recursive: true, encoding: 'utf8' })) {
    if (statSync(join(blocks, name)).isFile()) utimesSync(join(blocks, name), hourAgo, hourAgo);
  }

  const ended = new AbortController();
  const load = (async () => {
    for (let i = 0; !ended.signal.aborted; i++) await put(server, `later${i}`, `later ${i}`);
  })();
  const folder = join(tempDir(), 'backup');
  const first = await runSvc(['backup', '--quickstart', folder], {}, home);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('backup taken') as string });
  ended.abort();
  await load;

  await put(server, 'afterwards', 'new');
  const second = await runSvc(['backup', '--quickstart', folder], {}, home);
  const copied = Number(/of them (\d+) copied/.exec(second.stdout)?.[1]);
  const [all] = /^\d+/.exec(second.stdout.slice(second.stdout.indexOf(': ') + 2)) ?? [];
  expect(copied).toBeGreaterThan(0);
  expect(copied).toBeLessThan(Number(all));
  expect(readdirSync(folder).filter((name) => name.startsWith('kv-'))).toHaveLength(1);
  const before = await contents(server);
  expect(before.get('staged')).toBe('not committed');
  expect(before.get('afterwards')).toBe('new');
  await server.stop();

  const elsewhere = tempDir();
  const restored = await runSvc(['restore', '--quickstart', folder], {}, elsewhere);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('svc verify') as string });
  expect(await runSvc(['verify', '--quickstart'], {}, elsewhere)).toMatchObject({ code: 0, stdout: '' });
  const copy = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, elsewhere);
  expect(await contents(copy)).toEqual(before);
  await copy.stop();

  const again = await runSvc(['restore', '--quickstart', folder], {}, elsewhere);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is not empty') as string });
});

test('a backup or restore that is killed leaves what was there, and the next one goes on', async () => {
  const home = tempDir();
  const server = await lake(home);
  await put(server, 'k', 'content');
  await post(server, `${repository}/branches/main/commits`, { message: 'first' });
  await server.stop();
  const folder = join(tempDir(), 'backup');
  manyFiles(join(home, 'svc', 'data', 'block', 'other'), 3000);
  await killed(['backup', '--quickstart', folder], home, (stderr) => stderr.includes('store is copied'));
  expect(existsSync(join(folder, 'backup.json'))).toBe(false);
  const early = await runSvc(['restore', '--quickstart', folder], {}, tempDir());
  expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('no complete backup') as string });
  expect(await runSvc(['backup', '--quickstart', folder], {}, home)).toMatchObject({ code: 0 });

  const elsewhere = tempDir();
  const kv = join(elsewhere, 'svc', 'metadata');
  await killed(['restore', '--quickstart', folder], elsewhere, () => existsSync(join(kv, 'restoring')));
  const refused = await runSvc(['run', '--quickstart'], { SVC_LISTEN_ADDRESS: '127.0.0.1:0' }, elsewhere);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('restore it from a backup') as string,
  });
  expect(await runSvc(['restore', '--quickstart', folder], {}, elsewhere)).toMatchObject({ code: 0 });
  const copy = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, elsewhere);
  expect(await contents(copy)).toEqual(new Map([['k', 'content']]));
  await copy.stop();
});

test('a target that is full, no folder or not a backup is refused with the reason, and an older backup in it stays', async () => {
  const home = tempDir();
  const server = await lake(home);
  await put(server, 'k', 'content');
  const full = await orSkipReason('a small disk', async () => {
    const folder = tempDir();
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'pipe' });
    } catch (error) {
      throw new UnavailableError('mounting a file system needs the rights of root', { cause: error });
    }
    mounted.push(folder);
    return folder;
  });
  if (full !== undefined) {
    const folder = join(full, 'backup');
    expect(await runSvc(['backup', '--quickstart', folder], {}, home)).toMatchObject({ code: 0 });
    const manifest = readFileSync(join(folder, 'backup.json'), 'utf8');
    await put(server, 'large', 'x'.repeat(8 * 2 ** 20));
    expect(await runSvc(['backup', '--quickstart', folder], {}, home)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/as it was: .*no space left.*free some space/i) as string,
    });
    expect(readFileSync(join(folder, 'backup.json'), 'utf8')).toBe(manifest);
    const elsewhere = tempDir();
    expect(await runSvc(['restore', '--quickstart', folder], {}, elsewhere)).toMatchObject({ code: 0 });
  }
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  expect(await runSvc(['backup', '--quickstart', file], {}, home)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(file) as string,
  });
  const foreign = tempDir();
  writeFileSync(join(foreign, 'letter.txt'), 'dear');
  expect(await runSvc(['backup', '--quickstart', foreign], {}, home)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('letter.txt') as string,
  });
  expect(readdirSync(foreign)).toEqual(['letter.txt']);
  const inside = join(home, 'svc', 'data', 'block', 'backup');
  expect(await runSvc(['backup', '--quickstart', inside], {}, home)).toMatchObject({ code: 1 });
  expect(existsSync(inside)).toBe(false);
  await server.stop();
});

test('a backup that has lost files is not restored as if it were whole', async () => {
  const home = tempDir();
  const server = await lake(home);
  await put(server, 'k', 'content');
  const folder = join(tempDir(), 'backup');
  expect(await runSvc(['backup', '--quickstart', folder], {}, home)).toMatchObject({ code: 0 });
  await server.stop();
  const [data] = readdirSync(join(folder, 'blocks', 'lake'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, 'blocks', 'lake', name))
    .filter((path) => statSync(path).isFile() && readFileSync(path, 'utf8') === 'content');
  rmSync(data ?? '');
  expect(await runSvc(['restore', '--quickstart', folder], {}, tempDir())).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('files are missing') as string,
  });
});
