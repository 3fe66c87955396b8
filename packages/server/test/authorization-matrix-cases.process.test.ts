import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quickstartAuth, startSvc, type Answer, type Finished, type RunningSvc } from './start-server.ts';

interface Caller {
  readonly id: string;
  readonly accessKeyId: string;
  readonly authorization: string;
}

interface Options {
  readonly as?: Caller | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly from?: string;
}

const authenticating = '{"message":"error authenticating request"}';

describe('access control over the wire, and what it leaves in the logs', () => {
  let server: RunningSvc;
  let finished: Finished | undefined;
  /** Everything that must never be read in a log. */
  const secrets: string[] = [
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    quickstartAuth.slice('Basic '.length),
  ];

  beforeAll(async () => {
    server = await startSvc(['--quickstart'], {
      SVC_SERVER_WORKERS: '2',
      SVC_DATABASE_LOCAL_SYNC_WRITES: 'false',
      SVC_LOGGING_LEVEL: 'TRACE',
      SVC_LOGGING_AUDIT_LOG_LEVEL: 'INFO',
      SVC_LOGGING_TRACE_REQUEST_HEADERS: 'true',
      SVC_LOGGING_FORMAT: 'json',
    });
    for (const name of ['repo1', 'repo2']) {
      const body = { name, storage_namespace: `local://${name}` };
      expect((await call('POST', '/repositories', { body })).status).toBe(201);
    }
  });
  afterAll(async () => {
    if (finished === undefined) await server.stop();
  });

  function call(method: string, path: string, options: Options = {}): Promise<Answer> {
    const text = options.body === undefined ? '' : JSON.stringify(options.body);
    const caller = options.as?.authorization ?? quickstartAuth;
    return server.request(`/api/v1${path}`, {
      method,
      localAddress: options.from ?? '127.0.0.1',
      headers: {
        ...(options.headers?.['authorization'] === '' ? {} : { authorization: caller }),
        ...(text === '' ? {} : { 'content-type': 'application/json', 'content-length': String(text.length) }),
        ...withoutEmpty(options.headers ?? {}),
      },
      ...(text === '' ? {} : { body: text }),
    });
  }

  const anonymous = { authorization: '' };

  async function newUser(id: string, ...statement: object[]): Promise<Caller> {
    await call('POST', '/auth/users', { body: { id } });
    const created = JSON.parse((await call('POST', `/auth/users/${id}/credentials`)).body) as Record<
      string,
      string
    >;
    const { access_key_id: accessKeyId = '', secret_access_key: secret = '' } = created;
    secrets.push(secret);
    const caller = { id, accessKeyId, authorization: basic(accessKeyId, secret) };
    secrets.push(caller.authorization.slice('Basic '.length));
    if (statement.length > 0) {
      expect((await call('POST', '/auth/policies', { body: { id, statement } })).status).toBe(201);
      expect((await call('PUT', `/auth/users/${id}/policies/${id}`)).status).toBe(201);
    }
    return caller;
  }

  async function login(caller: Caller): Promise<{ token: string; cookie: string }> {
    const [accessKeyId, secret] = decode(caller.authorization);
    const answer = await call('POST', '/auth/login', {
      body: { access_key_id: accessKeyId, secret_access_key: secret },
      headers: { authorization: 'Basic Og==' },
    });
    expect(answer.status).toBe(200);
    const { token, token_expiration: expires } = JSON.parse(answer.body) as {
      token: string;
      token_expiration: number;
    };
    secrets.push(token);
    expect(Math.abs(expires - Date.now() / 1000 - 168 * 3600)).toBeLessThan(60);
    return { token, cookie: answer.headers['set-cookie']?.[0] ?? '' };
  }

  const allow = (action: string, resource = '*', more: object = {}) => ({
    effect: 'allow',
    action: [action],
    resource,
    ...more,
  });
  const deny = (action: string, resource: string) => ({ ...allow(action, resource), effect: 'deny' });

  test('a listing leaves out what is denied and needs the right on everything', async () => {
    const some = await newUser(
      'some',
      allow('fs:ListRepositories'),
      deny('fs:ListRepositories', 'arn:svc:fs:::repository/repo2'),
    );
    const listed = JSON.parse((await call('GET', '/repositories', { as: some })).body) as {
      results: { id: string }[];
    };
    expect(listed.results.map(({ id }) => id)).toStrictEqual(['repo1']);
    const narrow = await newUser('narrow', allow('fs:ListRepositories', 'arn:svc:fs:::repository/repo1'));
    expect(await call('GET', '/repositories', { as: narrow })).toMatchObject({
      status: 401,
      body: '{"message":"insufficient permissions: not allowed to fs:ListRepositories"}',
    });
  });

  test('a namespace may be denied to someone who creates a repository', async () => {
    const maker = await newUser('maker', allow('fs:CreateRepository', 'arn:svc:fs:::repository/made-*'));
    const create = (name: string, namespace: string) =>
      call('POST', '/repositories', { as: maker, body: { name, storage_namespace: namespace } });
    expect((await create('made-one', 'local://made-one')).status).toBe(201);
    const statement = [
      allow('fs:CreateRepository', 'arn:svc:fs:::repository/made-*'),
      deny('fs:AttachStorageNamespace', 'arn:svc:fs:::namespace/local://prod/*'),
    ];
    expect((await call('PUT', '/auth/policies/maker', { body: { id: 'maker', statement } })).status).toBe(
      200,
    );
    expect(await create('made-two', 'local://prod/x')).toMatchObject({
      status: 401,
      body: '{"message":"insufficient permissions: denied permission to fs:AttachStorageNamespace"}',
    });
    // Whatever holds the denied namespace is denied with it.
    expect((await create('made-two', 'local://prod')).status).toBe(401);
    expect((await create('made-two', 'local://prod//x')).status).toBe(401);
    expect((await create('made-two', 'local://made-two')).status).toBe(201);
  });

  test('a bulk deletion refuses path by path', async () => {
    const object = 'arn:svc:fs:::repository/repo1/object/';
    const cleaner = await newUser(
      'cleaner',
      allow('fs:DeleteObject', `${object}dir/*`),
      allow('fs:ReadObject'),
    );
    const objects = '/repositories/repo1/branches/main/objects';
    for (const key of ['dir/a', 'secret/b']) {
      expect((await call('POST', `${objects}?path=${encodeURIComponent(key)}`, { body: 'x' })).status).toBe(
        201,
      );
    }
    const answer = await call('POST', `${objects}/delete`, {
      as: cleaner,
      body: { paths: ['dir/a', 'secret/b'] },
    });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toStrictEqual({
      errors: [{ path: 'secret/b', status_code: 401, message: 'Unauthorized' }],
    });
    const stat = (key: string) =>
      call('GET', `/repositories/repo1/refs/main/objects/stat?path=${encodeURIComponent(key)}`, {
        as: cleaner,
      });
    expect((await stat('dir/a')).status).toBe(404);
    expect((await stat('secret/b')).status).toBe(200);
    const nobody = await call('POST', `${objects}/delete`, {
      body: { paths: ['dir/a'] },
      headers: anonymous,
    });
    expect(nobody).toMatchObject({ status: 401, body: authenticating });
  });

  test('validation comes before authentication', async () => {
    const malformed = await server.request('/api/v1/repositories', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":',
    });
    expect(malformed.status).toBe(400);
    const body = { name: 'repo3', storage_namespace: 'local://repo3' };
    expect(await call('POST', '/repositories', { body, headers: anonymous })).toMatchObject({
      status: 401,
      body: authenticating,
    });
    expect(await call('GET', '/user', { headers: anonymous })).toMatchObject({
      status: 401,
      body: authenticating,
    });
  });

  test('a condition sees the real peer, not what a stranger claims', async () => {
    const condition = { IpAddress: { SourceIp: ['127.0.0.2/32'] } };
    const placed = await newUser('placed', allow('fs:ReadRepository', '*', { condition }));
    const read = (from: string, headers: Record<string, string> = {}) =>
      call('GET', '/repositories/repo1', { as: placed, from, headers });
    expect((await read('127.0.0.2')).status).toBe(200);
    expect((await read('127.0.0.3')).status).toBe(401);
    expect((await read('127.0.0.3', { 'x-forwarded-for': '127.0.0.2' })).status).toBe(401);
  });

  test('unknown keys and wrong secrets get the same answer (cases 21 and 22)', async () => {
    const user = await newUser('typist');
    secrets.push('a mistyped secret');
    const wrong = await call('GET', '/user', {
      as: { ...user, authorization: basic(user.accessKeyId, 'a mistyped secret') },
    });
    const unknown = await call('GET', '/user', {
      as: { ...user, authorization: basic('NOBODY', 'a mistyped secret') },
    });
    expect(wrong).toMatchObject({ status: 401, body: authenticating });
    expect(unknown).toMatchObject({ status: 401, body: wrong.body });
    expect(wrong.headers['www-authenticate']).toBeUndefined();
    const body = { access_key_id: user.accessKeyId, secret_access_key: 'a mistyped secret' };
    expect(await call('POST', '/auth/login', { body })).toMatchObject({ status: 401, body: authenticating });
  });

  test('a session works by token and by cookie, but not for other sites (cases 24 to 26)', async () => {
    const user = await newUser('browser', allow('auth:DeleteUser'));
    const { token, cookie } = await login(user);
    expect(cookie).toMatch(/^access_token=[^;]+; Max-Age=60\d{4}; Path=\/; HttpOnly; SameSite=Lax$/);
    const session = cookie.split(';')[0] ?? '';
    const ask = (headers: Record<string, string>, method = 'GET', path = '/user') =>
      call(method, path, { headers: { authorization: '', ...headers } });
    expect((await ask({ cookie: session })).status).toBe(200);
    expect((await call('GET', '/user', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    expect((await call('GET', '/user', { as: user, headers: { cookie: `${session}x` } })).status).toBe(200);
    expect(
      (await call('GET', '/user', { headers: { authorization: 'Bearer x', cookie: session } })).status,
    ).toBe(401);
    const remove = '/auth/users/nobody';
    expect(await ask({ cookie: session, origin: 'https://evil.example' }, 'DELETE', remove)).toMatchObject({
      status: 403,
      body: '{"message":"cross-origin request refused"}',
    });
    const own = `http://127.0.0.1:${server.port}`;
    expect((await ask({ cookie: session, origin: own }, 'DELETE', remove)).status).not.toBe(403);
    const byBearer = { authorization: `Bearer ${token}`, origin: 'https://evil.example' };
    expect((await call('DELETE', remove, { headers: byBearer })).status).not.toBe(403);
  });

  test('a deleted key stops at once on every worker, and its sessions with it (cases 20 and 29)', async () => {
    const user = await newUser('leaver', allow('fs:ReadRepository'));
    const { token } = await login(user);
    const probes = () =>
      Promise.all([
        ...Array.from({ length: 12 }, () => call('GET', '/repositories/repo1', { as: user })),
        ...Array.from({ length: 12 }, () =>
          call('GET', '/repositories/repo1', { headers: { authorization: `Bearer ${token}` } }),
        ),
      ]);
    expect(new Set((await probes()).map(({ status }) => status))).toStrictEqual(new Set([200]));
    expect((await call('DELETE', `/auth/users/leaver/policies/leaver`)).status).toBe(204);
    expect(new Set((await probes()).map(({ body }) => body))).toStrictEqual(
      new Set(['{"message":"insufficient permissions: not allowed to fs:ReadRepository"}']),
    );
    expect((await call('DELETE', `/auth/users/leaver/credentials/${user.accessKeyId}`)).status).toBe(204);
    expect(new Set((await probes()).map(({ body }) => body))).toStrictEqual(new Set([authenticating]));
  });

  test('keys belong to their user', async () => {
    const [mine, theirs] = [await newUser('mine'), await newUser('theirs')];
    expect((await call('DELETE', `/auth/users/mine/credentials/${theirs.accessKeyId}`)).status).toBe(404);
    expect((await call('GET', '/user', { as: theirs })).status).toBe(200);
    expect((await call('GET', '/user', { as: mine })).status).toBe(200);
  });

  test('setup is over once there is an administrator', async () => {
    expect((await call('POST', '/setup_lakefs', { body: { username: 'second' } })).status).toBe(409);
    expect((await call('POST', '/setup_lakefs', { body: { username: '' } })).status).toBe(400);
    const key = { access_key_id: 'SECOND', secret_access_key: 'the secret of a second setup' };
    secrets.push(key.secret_access_key);
    expect((await call('POST', '/setup', { body: { username: 'second', key } })).status).toBe(409);
    const half = { username: 'second', key: { access_key_id: 'SECOND' } };
    expect((await call('POST', '/setup_lakefs', { body: half })).status).toBe(400);
  });

  test('every request leaves one audit line, and no log holds a secret', async () => {
    const auditor = await newUser('auditor');
    const answer = await call('GET', '/auth/users', {
      as: auditor,
      headers: { 'x-lakefs-client': 'tests/1' },
    });
    expect(answer.status).toBe(401);
    const query = `/repo1/main/a?X-Amz-Signature=0123456789abcdef&token=a-token-in-a-query`;
    secrets.push('0123456789abcdef', 'a-token-in-a-query');
    await server.request(query, { headers: { authorization: quickstartAuth } });
    finished = await server.stop();
    expect(finished.code).toBe(0);
    // The quick start greets with its well-known key pair; that is no log line.
    const log = (finished.stdout + finished.stderr).split('\n').filter((line) => line.startsWith('{'));
    const lines = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    const audits = lines.filter(
      (line) => line['request_id'] === answer.headers['x-request-id'] && line['log_audit'],
    );
    expect(audits).toHaveLength(1);
    expect(audits[0]).toMatchObject({
      level: 'info',
      msg: 'HTTP call ended',
      service_name: 'rest_api',
      operation_id: 'listUsers',
      user: 'auditor',
      method: 'GET',
      path: '/api/v1/auth/users',
      status_code: 401,
      client: 'tests/1',
      auth_method: 'basic',
      access_key_id: auditor.accessKeyId,
      client_ip: '127.0.0.1',
      denied: 'insufficient permissions: not allowed to auth:ListUsers',
    });
    for (const event of [
      'user created',
      'credentials created',
      'login',
      'login failed',
      'credentials deleted',
    ]) {
      expect(lines).toContainEqual(expect.objectContaining({ event, level: 'info' }));
    }
    // Bodies and headers are in the log at this level, so that secrets had every chance to be.
    expect(lines.some((line) => String(line['request_body']).includes('fs:ListRepositories'))).toBe(true);
    expect(lines.some((line) => line['request_headers'] !== undefined)).toBe(true);
    expect(secrets.length).toBeGreaterThan(20);
    for (const secret of secrets) {
      expect([secret, log.find((line) => line.includes(secret))]).toStrictEqual([secret, undefined]);
    }
  });
});

function basic(accessKeyId: string, secret: string): string {
  return `Basic ${Buffer.from(`${accessKeyId}:${secret}`).toString('base64')}`;
}

function decode(authorization: string): [string, string] {
  const [accessKeyId = '', secret = ''] = Buffer.from(authorization.slice(6), 'base64').toString().split(':');
  return [accessKeyId, secret];
}

function withoutEmpty(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
}
