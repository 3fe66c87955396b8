import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orSkipReason, tempDir, UnavailableError, waitUntil } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const out = join(tempDir(), 'out');
const target = tempDir();
const ended: (() => void)[] = [];
afterAll(() => {
  for (const end of ended) end();
});

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
const file = join(out, `svc_${version}_${architecture}.deb`);

const dpkg = (...args: string[]): string =>
  execFileSync(
    'dpkg',
    [`--root=${target}`, '--force-not-root', '--force-depends', '--force-script-chrootless', ...args],
    {
      encoding: 'utf8',
      stdio: 'pipe',
    },
  );

const built = await orSkipReason('the Debian package', async () => {
  execFileSync(process.execPath, [join(root, 'scripts/bootstrap.mjs'), '--build']);
  execFileSync(process.execPath, [join(root, 'scripts/package.ts'), out], { stdio: 'pipe' });
  try {
    execFileSync('dpkg', ['--version'], { stdio: 'pipe' });
    execFileSync(process.execPath, [join(root, 'scripts/package-debian.ts'), out, architecture], {
      stdio: 'pipe',
    });
  } catch (error) {
    throw new UnavailableError('dpkg or a package registry is missing', { cause: error });
  }
  return file;
});

test.runIf(built !== undefined)(
  'the package installs, its server serves, and purging leaves the data',
  async () => {
    mkdirSync(join(target, 'var/lib/dpkg/info'), { recursive: true });
    mkdirSync(join(target, 'var/lib/dpkg/updates'));
    writeFileSync(join(target, 'var/lib/dpkg/status'), '');
    dpkg('--install', file);
    const config = join(target, 'etc/svc/config.yaml');
    const text = readFileSync(config, 'utf8');
    const secrets = [...text.matchAll(/secret_key: ([\da-f]{64})$/gm)].map(([, secret]) => secret);
    expect(new Set(secrets).size).toBe(2);
    expect(statSync(config).mode & 0o777).toBe(0o640);
    const unit = readFileSync(join(target, 'usr/lib/systemd/system/svc.service'), 'utf8');
    expect(unit).toContain('ExecStart=/usr/bin/svc -c /etc/svc/config.yaml run');

    // Only the folders and the port differ from what systemd would start; no Node.js of this machine is used.
    const data = join(target, 'var/lib/svc');
    const server = spawn(join(target, 'usr/bin/svc'), ['-c', config, 'run'], {
      cwd: data,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: data,
        SVC_LISTEN_ADDRESS: '127.0.0.1:0',
        SVC_SERVER_WORKERS: '1',
        SVC_DATABASE_LOCAL_PATH: join(data, 'metadata'),
        SVC_BLOCKSTORE_LOCAL_PATH: join(data, 'data'),
        SVC_COMMITTED_LOCAL_CACHE_DIR: join(data, 'cache'),
      },
    });
    ended.push(() => server.kill('SIGKILL'));
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
    const url = await waitUntil(() => /serving at (http:\S+?)"?\s/.exec(output)?.[1], {
      timeoutMs: 60_000,
      what: 'the packaged server',
    });
    expect(await (await fetch(`${url}/_health`)).text()).toMatch(/^alive!/);
    expect((await fetch(`${url}/docs/quick-start`)).status).toBe(200);
    const help = execFileSync(join(target, 'usr/bin/svcctl'), ['--version'], { encoding: 'utf8' });
    expect(help).toContain(version);
    server.kill('SIGTERM');
    expect(await new Promise((resolve) => server.once('close', resolve))).toBe(0);

    // An upgrade keeps the configuration.
    dpkg('--install', file);
    expect(readFileSync(config, 'utf8')).toBe(text);
    dpkg('--purge', 'svc');
    expect(() => statSync(config)).toThrow();
    expect(statSync(join(data, 'metadata')).isDirectory()).toBe(true);
  },
);
