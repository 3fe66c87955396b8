import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { orSkipReason, tempDir, UnavailableError, waitUntil } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { quickstartKey } from './start-server.ts';

const root = join(import.meta.dirname, '../../..');
const out = join(tempDir(), 'out');
const image = tempDir();
const app = join(image, 'app');
const environment = { PATH: process.env['PATH'] ?? '', HOME: tempDir(), NO_COLOR: '1' };
const ended: (() => void)[] = [];

const tarball = (name: string): string =>
  join(out, readdirSync(out).find((file) => file.startsWith(`${name}-`) && file.endsWith('.tgz')) ?? '');

const installed = await orSkipReason('the package registry', async () => {
  execFileSync(process.execPath, [join(root, 'scripts/bootstrap.mjs'), '--build']);
  execFileSync(process.execPath, [join(root, 'scripts/package.ts'), out], { stdio: 'pipe' });
  try {
    // The steps of the image, in a plain folder.
    execFileSync('sh', [join(root, 'deploy/docker/install.sh'), out, image], { stdio: 'pipe' });
  } catch (error) {
    throw new UnavailableError('the packages cannot be installed from a registry', { cause: error });
  }
  return app;
});

afterAll(() => {
  for (const end of ended) end();
});

function svcctl(...args: string[]): string {
  return execFileSync(join(app, 'svcctl'), args, { env: environment, encoding: 'utf8' });
}

test('checksums are those of the tarballs', () => {
  for (const line of readFileSync(join(out, 'SHA256SUMS'), 'utf8').trim().split('\n')) {
    const [sum, file = ''] = line.split('  ');
    expect(
      createHash('sha256')
        .update(readFileSync(join(out, file)))
        .digest('hex'),
    ).toBe(sum);
  }
});

test('svcctl is small and brings nothing of the server', () => {
  expect(statSync(tarball('svcctl')).size).toBeLessThan(2 ** 20);
  const { dependencies } = JSON.parse(readFileSync(join(out, 'svcctl', 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  expect(Object.keys(dependencies)).toEqual(['@node-rs/crc32']);
});

test('the server can do without the credentials of a cloud', () => {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(out, 'svc', 'package.json'), 'utf8'),
  ) as Record<string, Record<string, string>>;
  expect(Object.keys(dependencies ?? {})).toEqual(['@node-rs/crc32', 'lmdb', 'wasmoon']);
  expect(Object.keys(optionalDependencies ?? {})).toEqual(['@aws-sdk/credential-providers']);
});

test.runIf(installed !== undefined)(
  'the client is plain JavaScript with types, and brings next to nothing',
  () => {
    const folder = tempDir();
    const file = join(out, readdirSync(out).find((name) => name.startsWith('svc-client-')) ?? '');
    expect(statSync(file).size).toBeLessThan(200_000);
    writeFileSync(join(folder, 'package.json'), '{"type":"module","private":true}');
    execFileSync('npm', ['install', '--no-audit', '--no-fund', file], { cwd: folder, stdio: 'pipe' });
    expect(readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
      '@svc',
      'openapi-typescript-helpers',
    ]);
    const program = `import { createClient } from '@svc/client';
const client = createClient({ endpoint: 'http://127.0.0.1:1', retry: { attempts: 1 } });
const failed = await client.get('/repositories', {}).catch((error: Error) => error.name);
console.log(failed);
`;
    writeFileSync(join(folder, 'right.ts'), program);
    writeFileSync(join(folder, 'wrong.ts'), program.replace("'/repositories'", "'/repositoriez'"));
    const check = (name: string): void => {
      const types = join(root, 'node_modules/typescript/bin/tsc');
      const options = [
        '--noEmit',
        '--strict',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--lib',
        'es2024,dom',
      ];
      execFileSync(process.execPath, [types, ...options, '--types', '', name], {
        cwd: folder,
        stdio: 'pipe',
      });
    };
    check('right.ts');
    expect(() => check('wrong.ts')).toThrow();
    const printed = execFileSync(process.execPath, ['right.ts'], { cwd: folder, encoding: 'utf8' });
    expect(printed).toBe('ConnectionError\n');
  },
);

test.runIf(installed !== undefined)('both work where nothing else is installed', async () => {
  const server = spawn(join(app, 'svc'), ['run', '--quickstart'], {
    cwd: environment.HOME,
    env: { ...environment, SVC_LISTEN_ADDRESS: '127.0.0.1:0', SVC_SERVER_WORKERS: '1' },
  });
  ended.push(() => server.kill('SIGKILL'));
  let stderr = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const url = await waitUntil(() => /is serving at (\S+)/.exec(stderr)?.[1], {
    timeoutMs: 60_000,
    what: 'the installed server',
  });
  const { port } = new URL(url);
  const healthy = { env: { ...environment, SVC_LISTEN_ADDRESS: `0.0.0.0:${port}` } };
  execFileSync(join(app, 'healthy'), healthy);
  const waited = execFileSync(join(app, 'wait-for'), [`127.0.0.1:${port}`, '--', 'echo', 'there'], healthy);
  expect(waited.toString()).toBe('there\n');
  const page = await (await fetch(url)).text();
  expect(page).not.toContain('not part of this package');
  const guide = await (await fetch(`${url}/docs/quick-start`)).text();
  expect(guide).toContain('Any S3 tool works.');
  // The content policy allows no script in a page, and nothing from elsewhere.
  const sources = [...guide.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes);
  expect(sources.filter((attributes = '') => !/ src="\/docs\/assets\//.test(attributes))).toEqual([]);
  const assets = [...guide.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path]) => path);
  expect(assets.length).toBeGreaterThan(2);
  for (const path of assets) expect((await fetch(new URL(path ?? '', url))).status, path).toBe(200);
  writeFileSync(
    join(environment.HOME, '.svcctl.yaml'),
    JSON.stringify({
      server: { endpoint_url: url },
      credentials: {
        access_key_id: quickstartKey.accessKeyId,
        secret_access_key: quickstartKey.secretAccessKey,
      },
    }),
  );
  svcctl('repo', 'create', 'svc://tour', 'local://tour');
  const file = join(environment.HOME, 'file');
  writeFileSync(file, 'content');
  svcctl('fs', 'upload', 'svc://tour/main/a', '--source', file);
  svcctl('commit', 'svc://tour/main', '--message', 'first');
  expect(svcctl('fs', 'cat', 'svc://tour/main/a')).toBe('content');
  server.kill('SIGTERM');
  expect(await new Promise((resolve) => server.once('close', resolve))).toBe(0);
  expect(() => execFileSync(join(app, 'healthy'), healthy)).toThrow();
});
