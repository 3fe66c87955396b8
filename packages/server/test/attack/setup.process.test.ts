import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { runSvc, startSvc, type RunningSvc } from '../start-server.ts';

function settings(folder: string, changes: object = {}): string {
  const file = join(folder, 'config.yaml');
  const config = {
    database: { type: 'local', local: { path: join(folder, 'kv'), sync_writes: false } },
    blockstore: {
      type: 'local',
      local: { path: join(folder, 'blocks') },
      signing: { secret_key: 'signs the addresses of a fresh server' },
    },
    auth: { encrypt: { secret_key: 'encrypts the keys of a fresh server' }, ui_config: { rbac: 'internal' } },
    committed: { local_cache: { dir: join(folder, 'cache') } },
    server: { workers: 2 },
    ...changes,
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

function setUp(
  server: RunningSvc,
  username: string,
  path = '/api/v1/setup',
): Promise<{ status: number; body: string }> {
  return server.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username }),
  });
}

test('of many who set a new server up at once, one becomes its administrator', async () => {
  const folder = tempDir('svc-setup');
  const server = await startSvc(['--config', settings(folder)], {}, folder);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      setUp(server, `first-${index}`, index % 2 === 0 ? '/api/v1/setup' : '/api/v1/setup_lakefs'),
    ),
  );
  const [winner, ...others] = answers.filter(({ status }) => status === 200);
  expect(others).toEqual([]);
  const key = JSON.parse(winner?.body ?? '{}') as { access_key_id: string; secret_access_key: string };
  const authorization = `Basic ${Buffer.from(`${key.access_key_id}:${key.secret_access_key}`).toString('base64')}`;
  const users = await server.request('/api/v1/auth/users', { headers: { authorization } });
  expect((JSON.parse(users.body) as { results: unknown[] }).results).toHaveLength(1);
  // And nobody after.
  for (const path of ['/api/v1/setup', '/api/v1/setup_lakefs'])
    expect((await setUp(server, 'late', path)).status).toBe(409);
  expect((await server.stop()).code).toBe(0);
});

test.each([
  ['no secret for keys', { auth: { encrypt: {} } }, /auth\.encrypt\.secret_key/],
  ['an empty secret for keys', { auth: { encrypt: { secret_key: '' } } }, /auth\.encrypt\.secret_key/],
])('a server with %s does not start', async (_kind, changes, reason) => {
  const folder = tempDir('svc-setup');
  const finished = await runSvc(
    ['run', '--config', settings(folder, changes)],
    { SVC_LISTEN_ADDRESS: '127.0.0.1:0' },
    folder,
  );
  expect(finished.code).not.toBe(0);
  expect(finished.stderr).toMatch(reason);
});

test('two servers never share one embedded store', async () => {
  const folder = tempDir('svc-setup');
  const file = settings(folder);
  const server = await startSvc(['--config', file], {}, folder);
  const second = await runSvc(['run', '--config', file], { SVC_LISTEN_ADDRESS: '127.0.0.1:0' }, folder);
  expect(second.code).not.toBe(0);
  expect(second.stderr + second.stdout).toContain(String(server.pid));
  expect((await server.request('/_health')).status).toBe(200);
  expect((await server.stop()).code).toBe(0);
});

test('a mistake in the configuration is told without its secrets', async () => {
  const folder = tempDir('svc-setup');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'config.yaml');
  writeFileSync(file, 'auth:\n  encrypt:\n    secret_key: "a secret that must not be shown\n  x: [');
  const broken = await runSvc(['run', '--config', file], {}, folder);
  expect(broken.code).not.toBe(0);
  expect(broken.stderr + broken.stdout).not.toContain('must not be shown');
  const unknown = settings(folder, {
    auth: { encrypt: { secret_key: 'another secret, long enough' }, no_such_key: 1 },
  });
  const refused = await runSvc(['run', '--config', unknown], {}, folder);
  expect(refused.stderr + refused.stdout).not.toContain('another secret, long enough');
});

test.each([
  ['empty', Buffer.alloc(0)],
  ['damaged', Buffer.alloc(65_536, 0x5a)],
])('a server whose database is %s does not start as a new one', async (_kind, content) => {
  const folder = tempDir('svc-setup');
  mkdirSync(join(folder, 'kv'));
  writeFileSync(join(folder, 'kv', 'data.mdb'), content);
  const outcome = await startSvc(['--config', settings(folder)], {}, folder).then(
    async (server) => {
      await server.stop();
      return 'it started';
    },
    (error: Error) => error.message,
  );
  expect(outcome).toMatch(/ended with [1-9]/);
  expect(outcome).toMatch(/data\.mdb|database/);
});
