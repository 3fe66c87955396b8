import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../start-server.ts';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;

beforeAll(async () => {
  attacked = await AttackedServer.start();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

/** Everything but what is different each time, with the asked-for name taken out. */
function shape({ status, body }: Answer, name: string): string {
  return `${status} ${body.replaceAll(name, '…').replaceAll(/<(RequestId|HostId)>[^<]*/g, '<$1>')}`;
}

test.each([
  ['GET', (name: string) => `/repositories/${name}`],
  ['DELETE', (name: string) => `/repositories/${name}`],
  ['GET', (name: string) => `/repositories/${name}/branches`],
  ['GET', (name: string) => `/repositories/${name}/refs/main/objects/ls`],
  ['GET', (name: string) => `/repositories/${name}/refs/main/objects?path=public%2Fa`],
  ['GET', (name: string) => `/repositories/${name}/settings/gc_rules`],
  ['GET', (name: string) => `/repositories/${name}/metadata`],
])('%s of the API does not tell whether a repository exists', async (method, path) => {
  for (const as of [undefined, attacked.nobody, attacked.mallory]) {
    const [there, nowhere] = await Promise.all(
      ['victim', 'nowhere'].map(async (name) => shape(await attacked.call(method, path(name), { as }), name)),
    );
    expect(there).toBe(nowhere);
    expect(there).toMatch(/^401 /);
  }
});

test.each([
  ['GET', (name: string) => `/${name}?list-type=2`],
  ['GET', (name: string) => `/${name}?location`],
  ['HEAD', (name: string) => `/${name}`],
  ['PUT', (name: string) => `/${name}`],
  ['GET', (name: string) => `/${name}/main/public/a`],
  ['HEAD', (name: string) => `/${name}/main/public/a`],
  ['DELETE', (name: string) => `/${name}/main/public/a`],
  ['GET', (name: string) => `/${name}/no-branch/x`],
  ['GET', (name: string) => `/${name}?uploads`],
  ['POST', (name: string) => `/${name}/main/x?uploads`],
])('%s of the gateway does not tell whether a repository exists', async (method, target) => {
  for (const as of [attacked.nobody, attacked.mallory]) {
    const [there, nowhere] = await Promise.all(
      ['victim', 'nowhere'].map(async (name) => shape(await attacked.s3(method, target(name), as), name)),
    );
    expect(there).toBe(nowhere);
    expect(there).toMatch(/^403 /);
  }
});

test('nor whether an object, a branch or a user exists', async () => {
  const pairs: [string, string][] = [
    [
      '/repositories/victim/refs/main/objects/stat?path=public%2Fa',
      '/repositories/victim/refs/main/objects/stat?path=none',
    ],
    ['/repositories/victim/branches/main', '/repositories/victim/branches/none'],
    ['/auth/users/admin', '/auth/users/none'],
    ['/auth/users/admin/credentials', '/auth/users/none/credentials'],
    ['/auth/groups/Admins', '/auth/groups/none'],
    ['/auth/policies/FSFullAccess', '/auth/policies/none'],
  ];
  for (const [there, nowhere] of pairs) {
    const answers = await Promise.all(
      [there, nowhere].map((path) => attacked.call('GET', path, { as: attacked.nobody })),
    );
    expect(answers[0]?.status).toBe(401);
    expect(answers[0]?.body).toBe(answers[1]?.body);
  }
});

test('a wrong name and a wrong secret look the same', async () => {
  const login = (accessKeyId: string) =>
    attacked.call('POST', '/auth/login', {
      body: { access_key_id: accessKeyId, secret_access_key: 'a-guess-of-somebody' },
      from: '127.0.7.1',
    });
  const answers = [
    await login(attacked.target.admin.accessKeyId),
    await login('AKIAJNOBODYNOBODYNOQ'),
    await login('admin'),
  ];
  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
});

test('what is open to strangers names nothing of the installation', async () => {
  const seen: string[] = [];
  for (const path of [
    '/api/v1/setup',
    '/api/v1/setup_lakefs',
    '/api/v1/auth/capabilities',
    '/api/v1/healthcheck',
    '/_health',
    '/_ready',
    '/openapi.json',
    '/',
    '/metrics',
  ])
    seen.push((await attacked.server.request(path)).body);
  const text = seen.join('\n');
  for (const name of [
    'victim',
    'mallory',
    attacked.target.admin.accessKeyId,
    attacked.server.home,
    'local://',
  ])
    expect([name, text.includes(name)]).toEqual([name, false]);
});

test('the configuration is shown without its secrets, and only to users', async () => {
  for (const path of [
    '/config',
    '/config/storage',
    '/config/version',
    '/config/garbage-collection',
    '/usage-report/summary',
  ]) {
    expect((await attacked.call('GET', path)).status, path).toBe(401);
    await attacked.call('GET', path, { as: attacked.target.admin });
  }
  const listed = await attacked.call('GET', '/auth/users/mallory/credentials', { as: attacked.target.admin });
  expect(listed.body).not.toContain('secret');
});

test('no door is left open for developers', async () => {
  for (const path of [
    '/debug/pprof/',
    '/_pprof/',
    '/debug',
    '/_svc',
    '/_internal',
    '/env',
    '/heapdump',
    '/.git/config',
    '/api/v1/_debug',
    '/json/version',
  ]) {
    const { status, body } = await attacked.server.request(path);
    expect([path, /heap|goroutine|webSocketDebuggerUrl|\[core\]/.test(body)]).toEqual([path, false]);
    if (path.startsWith('/_') || path.startsWith('/api')) expect(status, path).toBe(404);
  }
});

test('failures tell no places of the code or the disk', async () => {
  const odd = [
    await attacked.call('POST', '/repositories', {
      as: attacked.target.admin,
      body: { name: 'odd-one', storage_namespace: 'local://../x' },
    }),
    await attacked.call('GET', '/repositories/victim/refs/main~999/objects/ls', {
      as: attacked.target.admin,
    }),
    await attacked.call('POST', '/repositories/victim/branches/main/commits', {
      as: attacked.target.admin,
      body: '{',
    }),
    await attacked.s3('GET', '/victim/main/none', attacked.target.admin),
    await attacked.call('GET', '/%ff'),
    await attacked.call('GET', '/repositories/%ff'),
  ];
  for (const { status, body } of odd) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).not.toMatch(/\bat .+:\d+:\d+|node_modules|\.ts:|\.js:|ENOENT|errno/);
    expect(body).not.toContain(attacked.server.home);
  }
});

test('answers do not advertise what they are made with', async () => {
  for (const path of ['/', '/api/v1/user', '/_health', '/metrics']) {
    const { headers } = await attacked.server.request(path);
    expect(headers['x-powered-by']).toBeUndefined();
    expect(headers['server']).toBeUndefined();
  }
});

test('nor does a bulk deletion tell whether a repository exists', async () => {
  const body = '<Delete><Object><Key>main/public/a</Key></Object></Delete>';
  for (const as of [attacked.nobody, attacked.mallory]) {
    const [there, nowhere] = await Promise.all(
      ['victim', 'nowhere'].map(async (name) =>
        shape(await attacked.s3('POST', `/${name}?delete`, as, { body }), name),
      ),
    );
    expect(there).toBe(nowhere);
  }
});
