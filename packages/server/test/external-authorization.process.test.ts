import { startAuthorizationFake, waitUntil, type AuthorizationFake } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const external = { SVC_AUTH_UI_CONFIG_RBAC: 'external', SVC_SERVER_WORKERS: '1' };
const token = 'the token for the authorization service';
let fake: AuthorizationFake;
let svc: RunningSvc;

beforeAll(async () => {
  fake = await startAuthorizationFake(token);
  fake.kept.users.set('admin', { username: 'admin', creation_date: 1_700_000_000 });
  const { accessKeyId, secretAccessKey } = quickstartKey;
  fake.kept.credentials.set(accessKeyId, {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    user_name: 'admin',
    creation_date: 1_700_000_000,
  });
  const everything = { effect: 'allow', action: ['fs:*', 'auth:*'], resource: '*' };
  fake.kept.policies.set('All', { name: 'All', statement: [everything] });
  fake.kept.userPolicies.set('admin', new Set(['All']));
  svc = await startSvc(['--quickstart'], {
    ...external,
    SVC_AUTH_API_ENDPOINT: fake.endpoint,
    SVC_AUTH_API_TOKEN: token,
    // What is asked is asked again for each request.
    SVC_AUTH_CACHE_ENABLED: 'false',
  });
});
afterAll(() => svc.stop());

const ask = (path: string, method = 'GET', body?: object) =>
  svc.request(`/api/v1${path}`, {
    method,
    headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

test('users, policies and keys are those of the service, and calls name the request', async () => {
  expect(JSON.parse((await ask('/user')).body)).toMatchObject({ user: { id: 'admin' } });
  const asked = fake.calls.length;
  const listed = await ask('/auth/users');
  expect(JSON.parse(listed.body)).toMatchObject({ results: [{ id: 'admin' }] });
  const ids = new Set(fake.calls.slice(asked).map(({ headers }) => headers['x-request-id']));
  expect([...ids]).toStrictEqual([listed.headers['x-request-id']]);

  expect((await ask('/auth/users', 'POST', { id: 'bob' })).status).toBe(201);
  expect((await ask('/auth/users', 'POST', { id: 'bob' })).status).toBe(409);
  const made = JSON.parse((await ask('/auth/users/bob/credentials', 'POST')).body) as Record<string, string>;
  const basic = Buffer.from(`${made['access_key_id']}:${made['secret_access_key']}`).toString('base64');
  const asBob = { headers: { authorization: `Basic ${basic}` } };
  const refused = await svc.request('/api/v1/repositories', asBob);
  expect(refused).toMatchObject({
    status: 401,
    body: expect.stringContaining('fs:ListRepositories') as string,
  });
  expect((await ask('/auth/users/bob/policies/All', 'PUT')).status).toBe(201);
  expect((await svc.request('/api/v1/repositories', asBob)).status).toBe(200);
  expect((await ask('/auth/users/bob', 'DELETE')).status).toBe(204);
  expect((await svc.request('/api/v1/repositories', asBob)).status).toBe(401);
  expect(fake.violations).toStrictEqual([]);
});

test('there is nothing to set up, and the policy editor is offered', async () => {
  const state = JSON.parse((await svc.request('/api/v1/setup_lakefs')).body) as object;
  expect(state).toMatchObject({
    state: 'initialized',
    comm_prefs_missing: false,
    login_config: { RBAC: 'external' },
  });
  expect((await ask('/setup_lakefs', 'POST', { username: 'eve' })).status).toBe(409);
  expect(JSON.parse((await ask('/auth/capabilities')).body)).toEqual({
    invite_user: false,
    forgot_password: false,
  });
});

test('a service that fails is an internal error, and one that is away stops no worker from starting', async () => {
  const before = svc.childPids();
  fake.instead = () => ({ status: 503 });
  expect(await ask('/user')).toMatchObject({
    status: 500,
    body: expect.stringContaining('internal server error') as string,
  });
  for (const pid of before) process.kill(pid, 'SIGKILL');
  const started = () => svc.childPids().filter((pid) => !before.includes(pid)).length === before.length;
  await waitUntil(started, { what: 'new processes' });
  await waitUntil(async () => (await svc.request('/_health')).status === 200, { what: 'a new worker' });
  expect((await ask('/user')).status).toBe(500);
  fake.instead = undefined;
  expect((await ask('/user')).status).toBe(200);
});

test('a server does not start without its service', async () => {
  const run = await runSvc(['run', '--quickstart'], {
    ...external,
    SVC_LISTEN_ADDRESS: '127.0.0.1:0',
    SVC_AUTH_API_ENDPOINT: 'http://127.0.0.1:1/api/v1',
    SVC_AUTH_API_HEALTH_CHECK_TIMEOUT: '300ms',
  });
  expect(run.code).toBe(1);
  expect(run.stderr).toContain('auth.api.endpoint: no authorization service at http://127.0.0.1:1/api/v1');
});
