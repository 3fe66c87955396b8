import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { svcBundle } from '@svc/testing';
import { expect, it } from 'vitest';
import { FakeServer } from './fake-server.ts';

/** Tells at the end of the process which files it loaded as modules, and which modules of Node.js. */
const reporter = `data:text/javascript,
  import { registerHooks } from 'node:module';
  const files = [];
  registerHooks({ load: (url, context, next) => { files.push(url); return next(url, context); } });
  const native = process.moduleLoadList;
  process.on('exit', () => process.stderr.write(JSON.stringify({ files, native })));`;

// What a start costs is what it loads; times would say how busy the machine is (bench/notes/cli.md has them).
function start(...words: string[]): { stdout: string; files: string[]; native: string[] } {
  const args = ['--import', reporter, join(svcBundle(), 'svcctl.js'), ...words];
  const env = { ...process.env, SVCCTL_SERVER_ENDPOINT_URL: 'http://127.0.0.1:9' };
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', env });
  const loaded = JSON.parse(stderr.slice(stderr.indexOf('{"files"'))) as {
    files: string[];
    native: string[];
  };
  return { stdout, ...loaded };
}

it('shows help without loading what only commands need', () => {
  const loaded = start('--help');
  expect(loaded.stdout).toContain('Usage: svcctl');
  const files = loaded.files.filter((url) => url.startsWith('file:')).map((url) => new URL(url));
  expect(files.map(({ pathname }) => pathname.split('/').at(-1))).toContain('svcctl.js');
  expect(files.reduce((sum, url) => sum + statSync(url).size, 0)).toBeLessThan(150_000);
  expect(loaded.native).toContain('NativeModule fs');
  for (const dear of ['http', 'https', 'tls', 'crypto', 'worker_threads'])
    expect(loaded.native).not.toContain(`NativeModule ${dear}`);
});

it('speaks to a plain address without loading TLS', () => {
  const { native } = start('repo', 'list');
  expect(native).toContain('NativeModule http');
  for (const dear of ['https', 'tls', 'crypto']) expect(native).not.toContain(`NativeModule ${dear}`);
});

it('asks once for the version of a server, which may be down', async () => {
  const server = await FakeServer.start(() => ({ status: 503 }));
  try {
    const env = { ...process.env, SVCCTL_SERVER_ENDPOINT_URL: server.url };
    const program = join(svcBundle(), 'svcctl.js');
    const { stdout } = await promisify(execFile)(process.execPath, [program, '--version'], { env });
    expect(stdout).toMatch(/^svcctl version: \S+\n$/);
    expect(server.seen.map(({ path }) => path)).toEqual(['/api/v1/config']);
  } finally {
    await server.stop();
  }
});
