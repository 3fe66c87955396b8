import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createClient, type Client } from '@svc/client';
import { tempDir, waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProxy } from './proxy.ts';
import { collect, quickstart, startSvc, Tool, type RunOptions, type Server } from './start-svc.ts';

const repository = 'repo1';
let server: Server;
let tool: Tool;
/** For what others do to the branch: a process of the tool for each would take most of the time. */
let client: Client;
let counter = 0;

beforeAll(async () => {
  server = await startSvc();
  tool = new Tool(server.url);
  client = createClient({ endpoint: server.url, credentials: quickstart });
  await client.post('/repositories', { body: { name: repository, storage_namespace: 'local://repo1' } });
});

afterAll(async () => {
  await server?.stop();
});

function write(folder: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** A branch of its own with committed files under `data/`, and a clone of it. */
async function cloned(files: Record<string, string>): Promise<{ branch: string; folder: string }> {
  counter += 1;
  const name = `b${counter}`;
  const branch = `svc://repo1/${name}`;
  await client.post('/repositories/{repository}/branches', {
    params: { path: { repository } },
    body: { name, source: 'main' },
  });
  await commit(branch, files);
  const folder = join(tempDir(), 'work');
  await tool.ok(['local', 'clone', `${branch}/data`, folder]);
  return { branch, folder };
}

/** Commits files of `data/` from elsewhere. */
async function commit(branch: string, files: Record<string, string>): Promise<void> {
  const name = nameOf(branch);
  for (const [path, body] of Object.entries(files))
    await client.objects.upload({ repository, branch: name, path: `data/${path}`, body });
  await client.post('/repositories/{repository}/branches/{branch}/commits', {
    params: { path: { repository, branch: name } },
    body: { message: 'from elsewhere', allow_empty: true },
  });
}

async function head(branch: string): Promise<string> {
  const { commit_id } = await client.get('/repositories/{repository}/branches/{branch}', {
    params: { path: { repository, branch: nameOf(branch) } },
  });
  return commit_id;
}

const nameOf = (branch: string): string => branch.slice('svc://repo1/'.length);

function index(folder: string): string {
  return readFileSync(join(folder, '.svc_ref.yaml'), 'utf8');
}

async function status(folder: string, options: RunOptions = {}): Promise<string> {
  const lines = (await tool.ok(['local', 'status', folder], options)).split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('diff ')).join('\n');
}

describe('a linked folder', () => {
  it('is clean after a clone, whatever the order of its names', async () => {
    const files = { 'subdir-a/x': '1', 'subdir/x': '2', subdir0: '3' };
    const { branch, folder } = await cloned(files);
    expect(await status(folder)).toBe('No diff found.');
    expect(index(folder)).toBe(
      `src: ${branch}/data/\nat_head: ${await head(branch)}\nactive_operation: ""\n`,
    );
    for (const [path, text] of Object.entries(files))
      expect(readFileSync(join(folder, path), 'utf8')).toBe(text);
    utimesSync(join(folder, 'subdir0'), 5, 5);
    expect(await status(folder)).toBe('No diff found.');
    expect(await status(folder, { env: { SVCCTL_LOCAL_VERIFY_CHECKSUM: 'false' } })).toBe(
      'local\tmodified\tsubdir0',
    );
  });

  it('commits what changed, with the commit of the git repository around it', async () => {
    const { branch, folder } = await cloned({ a: '1', b: '2' });
    const git = (...args: string[]): void => {
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
        cwd: dirname(folder),
        stdio: 'pipe',
      });
    };
    git('init', '-q');
    git('remote', 'add', 'origin', 'git@github.com:o/p.git');
    git('commit', '-q', '--allow-empty', '-m', 'x');
    write(folder, { a: 'changed', 'new/c': '3' });
    rmSync(join(folder, 'b'));
    expect(await status(join(folder, 'new'))).toBe(
      'local\tmodified\ta\nlocal\tremoved\tb\nlocal\tadded\tnew/c',
    );
    const text = await tool.ok(['local', 'commit', folder, '-m', 'mine', '--meta', 'k=v']);
    expect(text).toContain('Sync Summary:\n\nDownloaded: 0\nUploaded: 2\nRemoved: 1\n\nCommit for branch');
    const [made] = JSON.parse(await tool.ok(['log', branch, '--amount', '1', '--json'])) as {
      metadata: Record<string, string>;
    }[];
    expect(made?.metadata).toMatchObject({ k: 'v', git_commit_id: expect.stringMatching(/^[0-9a-f]{7,}$/) });
    expect(made?.metadata['::lakefs::github.com::url[url:ui]']).toContain('https://github.com/o/p/commit/');
    expect(await status(folder)).toBe('No diff found.');
    const second = join(dirname(folder), 'b');
    await tool.ok(['local', 'init', 'svc://repo1/main/x', join(dirname(folder), 'a')]);
    await tool.ok(['local', 'init', 'svc://repo1/main/x', second]);
    expect(readFileSync(join(dirname(folder), '.gitignore'), 'utf8')).toBe(
      '# ignored by svcctl local\na/*\n!a/.svc_ref.yaml\nb/*\n!b/.svc_ref.yaml\n# End ignored by svcctl local\n',
    );
    const listed = await tool.ok(['local', 'list'], { cwd: second });
    expect(listed).toContain('b\tsvc://repo1/main/x/\t');
    expect(listed).toContain('work\t');
    const top = await tool.run(['local', 'init', 'svc://repo1/main/x', dirname(folder)]);
    expect(top.stderr).toContain('top of a git repository');
  });

  it('links prefixes only, and clones into empty folders only', async () => {
    await tool.ok(['fs', 'upload', '-s', '-', 'svc://repo1/main/file'], { input: 'x' });
    const object = await tool.run(['local', 'init', 'svc://repo1/main/file', join(tempDir(), 'x')]);
    expect(object).toMatchObject({ code: 1, stderr: expect.stringContaining('file is an object') });
    const folder = join(tempDir(), 'p');
    await tool.ok(['local', 'init', 'svc://repo1/main/p', folder]);
    expect(index(folder)).toMatch(/^src: svc:\/\/repo1\/main\/p\/\n/);
    expect(await tool.run(['local', 'init', 'svc://repo1/main/p', folder])).toMatchObject({ code: 1 });
    await tool.ok(['local', 'init', '--force', 'svc://repo1/main/p', folder]);
    const full = await tool.run(['local', 'clone', 'svc://repo1/main/p', folder], {
      env: { SVCCTL_SERVER_ENDPOINT_URL: 'http://127.0.0.1:9', SVCCTL_SERVER_RETRIES_ENABLED: 'false' },
    });
    expect(full.stderr).toContain('exists and is not empty');
  });

  it('keeps remote objects it cannot hold', async () => {
    const { branch } = await cloned({ a: '1' });
    await tool.ok(['fs', 'upload', '-s', '-', `${branch}/data/d/`], { input: 'abc' });
    await tool.ok(['fs', 'upload', '-s', '-', `${branch}/data/.DS_Store`], { input: 'x' });
    await tool.ok(['commit', branch, '-m', 'odd']);
    const folder = join(tempDir(), 'odd');
    const clone = await tool.run(['local', 'clone', `${branch}/data/`, folder]);
    expect(clone).toMatchObject({ code: 0 });
    expect(clone.stderr).toMatch(/^Warning: objects with data whose key ends in "\/"/);
    write(folder, { f: 'new' });
    expect(await tool.ok(['local', 'commit', folder, '-m', 'x'])).toContain('Uploaded: 1\nRemoved: 0');
    const paths = await tool.ok(['fs', 'ls', '-r', `${branch}/data/`]);
    for (const path of ['data/.DS_Store', 'data/a', 'data/d/', 'data/f'])
      expect(paths).toContain(`${path}\n`);
  });

  it('refuses, skips or keeps symbolic links', async () => {
    const { branch, folder } = await cloned({ a: '1' });
    symlinkSync('a', join(folder, 'link'));
    const refused = await tool.run(['local', 'status', folder]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('link: not a regular file') });
    expect(await status(folder, { env: { SVCCTL_LOCAL_SKIP_NON_REGULAR_FILES: 'true' } })).toBe(
      'No diff found.',
    );
    const kept = { env: { SVCCTL_LOCAL_SYMLINK_SUPPORT: 'true' } };
    await tool.ok(['local', 'commit', folder, '-m', 'link'], kept);
    const stat = JSON.parse(await tool.ok(['fs', 'stat', '--json', `${branch}/data/link`])) as object;
    expect(stat).toMatchObject({ size_bytes: 0, metadata: { '::lakefs::symlink-target': 'a' } });
    expect(await status(folder, kept)).toBe('No diff found.');
    const other = join(tempDir(), 'other');
    await tool.ok(['local', 'clone', `${branch}/data/`, other], kept);
    expect(readlinkSync(join(other, 'link'))).toBe('a');
  });

  it('writes through no link inside of it', async () => {
    const outside = tempDir();
    const { branch, folder } = await cloned({ a: '1' });
    symlinkSync(outside, join(folder, 'sub'));
    await commit(branch, { 'sub/x': 'evil' });
    const skip = { env: { SVCCTL_LOCAL_SKIP_NON_REGULAR_FILES: 'true' } };
    const pulled = await tool.run(['local', 'pull', folder], skip);
    expect(pulled).toMatchObject({ code: 1, stderr: expect.stringContaining('symbolic link') });
    expect(readdirSync(outside)).toEqual([]);
    expect(lstatSync(join(folder, 'sub')).isSymbolicLink()).toBe(true);
  });

  it('leaves ignored files alone', async () => {
    const { folder } = await cloned({ a: '1', '.svcignore': '*.tmp\ncache/\n' });
    write(folder, { 'x.tmp': '', 'cache/y': '' });
    expect(await status(folder)).toBe('No diff found.');
    await tool.ok(['local', 'pull', '--force', folder]);
    expect(existsSync(join(folder, 'x.tmp'))).toBe(true);
  });

  it('keeps permissions where asked for', async () => {
    const posix = { env: { SVCCTL_EXPERIMENTAL_LOCAL_POSIX_PERMISSIONS_ENABLED: 'true' } };
    const { branch, folder } = await cloned({ a: '1' });
    writeFileSync(join(folder, 'run'), 'x', { mode: 0o750 });
    mkdirSync(join(folder, 'empty'), { mode: 0o700 });
    await tool.ok(['local', 'commit', folder, '-m', 'modes'], posix);
    expect(await status(folder, posix)).toBe('No diff found.');
    const other = join(tempDir(), 'other');
    await tool.ok(['local', 'clone', `${branch}/data/`, other], posix);
    expect(statSync(join(other, 'run')).mode & 0o777).toBe(0o750);
    expect(statSync(join(other, 'empty')).mode & 0o777).toBe(0o700);
    expect(await status(other, posix)).toBe('No diff found.');
  });
});

describe('pull, checkout and commit', () => {
  it('pull --force makes the folder equal to the commit, listing what goes', async () => {
    const { branch, folder } = await cloned({ a: '1', b: '2', 'gone/c': '3' });
    await commit(branch, { b: 'two' });
    await tool.ok(['fs', 'rm', `${branch}/data/gone/c`]);
    await tool.ok(['commit', branch, '-m', 'gone']);
    mkdirSync(join(folder, 'mine'));
    write(folder, { a: 'edited', added: 'x' });
    const refused = await tool.run(['local', 'pull', folder]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('2 uncommitted changes') });
    const forced = await tool.ok(['local', 'pull', '--force', folder]);
    expect(forced).toContain('will delete local: added\n');
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('1');
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('two');
    expect(readdirSync(folder).toSorted()).toEqual(['.svc_ref.yaml', 'a', 'b', 'mine']);
    expect(await status(folder)).toBe('No diff found.');
  });

  it('switches to a branch at the same commit without transfers', async () => {
    const { branch, folder } = await cloned({ a: '1' });
    await tool.ok(['branch', 'create', `${branch}-same`, '-s', branch]);
    const text = await tool.ok(['local', 'checkout', folder, '-r', `${branch}-same`]);
    expect(text).toContain('Checkout Summary:\n\nNo changes\n');
    expect(index(folder)).toContain(`src: ${branch}-same/data/\n`);
  });

  it('checks out another ref and asks before it loses changes', async () => {
    const { branch, folder } = await cloned({ a: '1', b: '2' });
    await tool.ok(['branch', 'create', `${branch}-next`, '-s', branch]);
    await commit(`${branch}-next`, { a: 'next', c: '3' });
    await tool.ok(['local', 'checkout', folder, '-r', `${branch}-next`]);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('next');
    expect(await status(folder)).toBe('No diff found.');
    write(folder, { a: 'edited' });
    const refused = await tool.run(['local', 'checkout', folder]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('checkout aborted') });
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('edited');
    await tool.ok(['local', 'checkout', dirname(folder), '--all', '-y']);
    expect(readFileSync(join(folder, 'a'), 'utf8')).toBe('next');
  });

  it('refuses a commit of what both sides changed', async () => {
    const { branch, folder } = await cloned({ x: '1', y: '1' });
    await commit(branch, { x: 'theirs' });
    write(folder, { x: 'mine' });
    const before = index(folder);
    expect(await status(folder)).toBe('local\tconflict\tx');
    const refused = await tool.run(['local', 'commit', folder, '-m', 'x']);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/nothing was committed:\nx\n/) });
    expect(index(folder)).toBe(before);
    expect(await tool.ok(['fs', 'cat', `${branch}/data/x`])).toBe('theirs');
  });

  it('syncs without a commit when only the branch changed', async () => {
    const { branch, folder } = await cloned({ x: '1' });
    await commit(branch, { x: 'theirs', y: 'new' });
    const there = await head(branch);
    await tool.ok(['local', 'commit', folder, '-m', 'x']);
    expect(readFileSync(join(folder, 'y'), 'utf8')).toBe('new');
    expect(await head(branch)).toBe(there);
    expect(index(folder)).toContain(`at_head: ${there}\n`);
    expect(await tool.ok(['local', 'commit', folder, '-m', 'x'])).toContain('\nNo changes\n');
  });

  it('minds uncommitted changes outside of its path', async () => {
    const { branch, folder } = await cloned({ x: '1' });
    write(folder, { x: 'mine' });
    for (const other of ['data0', 'otherPrefix/a', 'a/first']) {
      await tool.ok(['fs', 'upload', '-s', '-', `${branch}/${other}`], { input: 'x' });
      const refused = await tool.run(['local', 'commit', folder, '-m', 'x']);
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('outside of data/') });
      await tool.ok(['branch', 'reset', branch, '-y']);
    }
    await tool.ok(['fs', 'upload', '-s', '-', `${branch}/data0`], { input: 'x' });
    await tool.ok(['local', 'commit', folder, '-m', 'x', '--force']);
    write(folder, { x: 'again' });
    await tool.ok(['fs', 'upload', '-s', '-', `${branch}/data/inside`], { input: 'x' });
    await tool.ok(['local', 'commit', folder, '-m', 'y']);
  });

  it('tells that a branch is protected', async () => {
    const { branch, folder } = await cloned({ x: '1' });
    await tool.ok(['branch-protect', 'add', 'svc://repo1', branch.split('/').at(-1) ?? '']);
    write(folder, { x: 'mine' });
    const refused = await tool.run(['local', 'commit', folder, '-m', 'x']);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/protected branch[\s\S]*403 Forbidden\n$/),
    });
  });
});

describe('an interrupted operation', () => {
  const files = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`f${at}`, `new ${at}`]));

  it('killed in the middle is known and can be repaired', async () => {
    const { branch, folder } = await cloned({ a: '1' });
    const before = await head(branch);
    await commit(branch, files);
    let served = 0;
    const proxy = await startProxy(server.url, (request) => {
      if (!/\/refs\/[^/]+\/objects\?/.test(request.url ?? '')) return false;
      served += 1;
      return served > 3;
    });
    const child = new Tool(proxy.url, tool.home).start(['local', 'pull', folder, '-p', '1']);
    const killed = collect(child);
    await waitUntil(() => (served > 3 ? true : undefined), { timeoutMs: 30_000, what: 'three files' });
    child.kill('SIGKILL');
    await killed;
    await proxy.stop();
    expect(index(folder)).toContain(`at_head: ${before}\nactive_operation: pull\n`);
    const refused = await tool.run(['local', 'status', folder]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('pull --force') });
    expect(await tool.run(['local', 'commit', folder, '-m', 'x'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('commit aborted'),
    });
    await tool.ok(['local', 'pull', '--force', folder]);
    expect(index(folder)).toContain(`at_head: ${await head(branch)}\nactive_operation: ""\n`);
    expect(readdirSync(folder)).toHaveLength(12);
    expect(await status(folder)).toBe('No diff found.');
  });

  it('by a refused download leaves the old head, and checkout clears the marker', async () => {
    const { branch, folder } = await cloned({ a: '1' });
    const before = await head(branch);
    await commit(branch, files);
    const proxy = await startProxy(server.url, (request, response) => {
      if (!/\/refs\/[^/]+\/objects\?path=data%2Ff5/.test(request.url ?? '')) return false;
      response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"not yours"}');
      return true;
    });
    const failed = await new Tool(proxy.url, tool.home).run(['local', 'pull', folder]);
    await proxy.stop();
    expect(failed).toMatchObject({ code: 1, stderr: 'not yours\n403 Forbidden\n' });
    expect(index(folder)).toContain(`at_head: ${before}\nactive_operation: pull\n`);
    await tool.ok(['local', 'checkout', folder, '-y']);
    expect(index(folder)).toContain('active_operation: ""');
    expect(readdirSync(folder).toSorted()).toEqual(['.svc_ref.yaml', 'a']);
  });

  it('by a signal says so', async () => {
    const { branch, folder } = await cloned({ a: '1' });
    await commit(branch, files);
    let stalled = false;
    const proxy = await startProxy(server.url, (request) => {
      if (!/\/refs\/[^/]+\/objects\?/.test(request.url ?? '')) return false;
      stalled = true;
      return true;
    });
    const child = new Tool(proxy.url, tool.home).start(['local', 'pull', folder]);
    const ended = collect(child);
    await waitUntil(() => (stalled ? true : undefined), { timeoutMs: 30_000, what: 'the first download' });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('operation cancelled, local data may be incomplete'),
    });
    await proxy.stop();
    expect(index(folder)).toContain('active_operation: pull\n');
    expect(readdirSync(folder).filter((name) => name.includes('.svcpart-'))).toEqual([]);
  });
});
