import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { adminKey, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';
import { stubEngine } from './stub-engine.ts';

let api: RunningApi;
let ask: Ask;

beforeAll(async () => {
  api = await startApi(() =>
    stubEngine({
      'bindings.deleteView': () => undefined,
      'usage.flush': () => undefined,
      'usage.reports': () => [{ year: 2024, month: 3, count: 12 }],
    }),
  );
  ask = checkedClient(api.url);
});

afterAll(() => api.stop());

test('users, groups, memberships, policies and keys', async () => {
  expect((await ask('POST', '/auth/users', { json: { id: 'alice' } })).body).toMatchObject({
    id: 'alice',
    friendly_name: '',
    email: '',
  });
  expect((await ask('POST', '/auth/users', { json: { id: 'alice' } })).status).toBe(409);
  expect((await ask('POST', '/auth/users', { json: { id: 'a/b' } })).status).toBe(400);
  const percent = await checkedClient(api.url, '')('POST', '/auth/users', { json: { id: 'a%b' } });
  expect([percent.status, percent.body.message]).toEqual([400, "User name cannot contain '%'"]);
  expect((await ask('POST', '/auth/users')).status).toBe(400);
  expect((await ask('POST', '/auth/groups', { json: { id: 'team', description: 'd' } })).status).toBe(201);
  expect((await ask('PUT', '/auth/groups/team/members/alice')).status).toBe(201);
  expect((await ask('PUT', '/auth/groups/team/members/alice')).status).toBe(409);
  expect((await ask('GET', '/auth/groups/team/members')).body.results).toHaveLength(1);
  expect((await ask('GET', '/auth/users/alice/groups')).body.results[0]).toMatchObject({
    id: 'team',
    name: 'team',
  });

  const statement = [{ effect: 'allow', action: ['fs:Read*'], resource: '*' }];
  expect((await ask('POST', '/auth/policies', { json: { id: 'p', statement } })).status).toBe(201);
  expect((await ask('POST', '/auth/policies', { json: { id: 'p', statement } })).status).toBe(409);
  expect((await ask('POST', '/auth/policies?update=true', { json: { id: 'p', statement } })).status).toBe(
    200,
  );
  expect((await ask('PUT', '/auth/policies/p', { json: { id: 'other', statement } })).status).toBe(400);
  const badEffect = [{ effect: 'Allow', action: ['fs:*'], resource: '*' }];
  expect((await ask('POST', '/auth/policies', { json: { id: 'q', statement: badEffect } })).status).toBe(400);
  const open = { effect: 'allow', action: ['fs:ReadObject'], resource: 'arn:svc:fs:::repository/r/object/*' };
  const about = (principal: unknown) => ({ id: 'open', statement: [{ ...open, principal }] });
  for (const principal of [['alice'], [], 'anonymous', ['anonymous', 'anonymous']])
    expect((await ask('POST', '/auth/policies', { json: about(principal) })).status).toBe(400);
  expect((await ask('POST', '/auth/policies', { json: about(['anonymous']) })).status).toBe(201);
  expect((await ask('GET', '/auth/policies/open')).body.statement).toEqual(about(['anonymous']).statement);
  expect((await ask('PUT', '/auth/groups/team/policies/p')).status).toBe(201);
  expect((await ask('GET', '/auth/groups/team/policies')).body.results[0].statement).toEqual(statement);
  const effective = await ask('GET', '/auth/users/alice/policies?effective=true');
  expect(effective.body.results.map((policy: { id: string }) => policy.id)).toEqual(['p']);
  expect((await ask('GET', '/auth/users/alice/policies')).body.results).toEqual([]);

  const key = await ask('POST', '/auth/users/alice/credentials');
  expect(key.body.secret_access_key).toHaveLength(40);
  const listed = await ask('GET', '/auth/users/alice/credentials');
  expect(listed.body.results[0]).not.toHaveProperty('secret_access_key');
  const path = `/auth/users/alice/credentials/${key.body.access_key_id}`;
  expect((await ask('GET', path)).status).toBe(200);
  expect((await ask('DELETE', path)).status).toBe(204);
  expect((await ask('GET', path)).status).toBe(404);
  expect((await ask('DELETE', '/auth/groups/team/members/alice')).status).toBe(204);
  expect((await ask('DELETE', '/auth/groups/team')).status).toBe(204);
  expect((await ask('DELETE', '/auth/policies/p')).status).toBe(204);
  expect((await ask('DELETE', '/auth/users/alice')).status).toBe(204);
});

test('why somebody may or may not do something, told to those who may know', async () => {
  await ask('POST', '/auth/users', { json: { id: 'carol' } });
  const statement = [{ effect: 'deny', action: ['fs:Read*'], resource: '*' }];
  await ask('POST', '/auth/policies', { json: { id: 'secret-ban', statement } });
  await ask('PUT', '/auth/users/carol/policies/secret-ban');
  const question = { user: 'carol', action: 'fs:ReadObject', resource: '*' };
  const told = await ask('POST', '/auth/simulate', { json: question });
  expect(told.body).toEqual({
    allowed: false,
    message: 'insufficient permissions: denied permission to fs:Read*',
    reason: 'denied',
    decided_by: { policy: 'secret-ban', index: 0, statement: statement[0] },
    policies: [{ id: 'secret-ban', attached_to_user: true, groups: [] }],
    hidden_policies: 0,
  });
  const draft = { id: 'secret-ban', statement: [{ ...statement[0], effect: 'allow' }] };
  const tried = await ask('POST', '/auth/simulate', { json: { ...question, policy: draft } });
  expect(tried.body).toMatchObject({ allowed: true, reason: 'allowed' });
  for (const [change, status] of [
    [{ user: 'nobody' }, 404],
    [{ action: 'fs:*' }, 400],
    [{ resource: 'lake' }, 400],
    [{ source_ip: 'here' }, 400],
  ] as const)
    expect((await ask('POST', '/auth/simulate', { json: { ...question, ...change } })).status).toBe(status);

  await ask('POST', '/auth/users', { json: { id: 'helpdesk' } });
  const key = (await ask('POST', '/auth/users/helpdesk/credentials')).body;
  const helpdesk = checkedClient(
    api.url,
    `Basic ${Buffer.from(`${key.access_key_id}:${key.secret_access_key}`).toString('base64')}`,
  );
  const refused = await helpdesk('POST', '/auth/simulate', { json: question });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('x-svc-required')).toBe('auth:ReadUser arn:svc:auth:::user/carol');
  const reads = [{ effect: 'allow', action: ['auth:ReadUser'], resource: 'arn:svc:auth:::user/carol' }];
  await ask('POST', '/auth/policies', { json: { id: 'helps', statement: reads } });
  await ask('PUT', '/auth/users/helpdesk/policies/helps');
  const hidden = await helpdesk('POST', '/auth/simulate', { json: question });
  expect(hidden.body).toEqual({ allowed: false, reason: 'denied', policies: [], hidden_policies: 1 });
  expect((await helpdesk('POST', '/auth/simulate', { json: { ...question, user: 'nobody' } })).status).toBe(
    401,
  );
});

test('sessions are listed and ended, by their user or an administrator', async () => {
  await ask('POST', '/auth/users', { json: { id: 'dora' } });
  const key = (await ask('POST', '/auth/users/dora/credentials')).body;
  const login = async () => {
    const { token } = (
      await checkedClient(api.url, '')('POST', '/auth/login', {
        json: { access_key_id: key.access_key_id, secret_access_key: key.secret_access_key },
        headers: { 'user-agent': 'test' },
      })
    ).body as { token: string };
    return checkedClient(api.url, `Bearer ${token}`);
  };
  const [first, second, third] = [await login(), await login(), await login()];
  const own = (await first('GET', '/user/sessions')).body.results as { id: string; current: boolean }[];
  expect(own).toHaveLength(3);
  expect(own.filter(({ current }) => current)).toMatchObject([{ client: 'test', source_ip: '127.0.0.1' }]);
  const other = (await second('GET', '/user/sessions')).body.results.find(
    (session: { current: boolean }) => session.current,
  ) as { id: string };
  expect((await first('DELETE', `/user/sessions/${other.id}`)).status).toBe(204);
  expect((await first('DELETE', `/user/sessions/${other.id}`)).status).toBe(404);
  expect((await second('GET', '/user')).status).toBe(401);
  expect((await third('GET', '/user')).status).toBe(200);
  expect((await third('GET', '/auth/users/admin/sessions')).status).toBe(401);
  expect((await third('DELETE', '/auth/users/dora/sessions')).status).toBe(401);
  expect((await ask('GET', '/auth/users/dora/sessions')).body.results).toHaveLength(2);
  expect((await ask('GET', '/auth/users/nobody/sessions')).status).toBe(404);
  const [ended] = own.filter(({ current }) => current);
  expect((await ask('DELETE', `/auth/users/dora/sessions/${ended?.id}`)).status).toBe(204);
  expect((await first('GET', '/user')).status).toBe(401);
  expect((await third('DELETE', '/user/sessions')).status).toBe(204);
  expect((await third('GET', '/user')).status).toBe(401);
  expect((await ask('DELETE', '/auth/users/dora/sessions')).status).toBe(204);
  expect((await ask('DELETE', '/auth/users/nobody/sessions')).status).toBe(404);
});

test('login gives a token and a cookie', async () => {
  const json = { access_key_id: adminKey.accessKeyId, secret_access_key: adminKey.secretAccessKey };
  const session = await checkedClient(api.url, 'Basic Og==')('POST', '/auth/login', { json });
  expect(session.status).toBe(200);
  expect(session.headers.get('set-cookie')).toMatch(/^access_token=.*HttpOnly/);
  const withToken = checkedClient(api.url, `Bearer ${session.body.token}`);
  expect((await withToken('GET', '/user')).body.user).toMatchObject({ id: 'admin', friendly_name: 'admin' });
  const wrong = await ask('POST', '/auth/login', { json: { ...json, secret_access_key: 'x' } });
  expect([wrong.status, wrong.body.message]).toEqual([401, 'error authenticating request']);
  const cookie = `access_token=${session.body.token}`;
  const foreign = await checkedClient(api.url, '')('POST', '/auth/users', {
    json: { id: 'evil' },
    headers: { cookie, origin: 'https://evil.example' },
  });
  expect(foreign.status).toBe(403);
  expect((await checkedClient(api.url, '')('GET', '/user')).status).toBe(401);
});

test('what the installation says of itself', async () => {
  const config = await ask('GET', '/config');
  expect(config.body).toMatchObject({
    version_config: { version: '0.1.0' },
    storage_config: {
      blockstore_type: 'mem',
      blockstore_namespace_ValidityRegex: '^mem://',
      blockstore_id: '',
    },
    storage_config_list: [],
    ui_config: {},
    capabilities_config: {
      reflog: true,
      time_refs: true,
      aliases: true,
      events: true,
      audit: false,
      actions_enabled: true,
    },
  });
  expect((await ask('GET', '/config/storage')).body).toEqual(config.body.storage_config);
  expect((await ask('GET', '/config/version')).body).toEqual(config.body.version_config);
  expect((await ask('GET', '/auth/capabilities')).body).toEqual({
    invite_user: false,
    forgot_password: false,
  });
  expect((await ask('GET', '/healthcheck')).status).toBe(204);
  expect((await ask('GET', '/audit')).status).toBe(501);
});

test('usage as JSON and as text', async () => {
  const report = await ask('GET', '/usage-report/summary');
  expect(report.body.reports).toEqual([{ year: 2024, month: 3, count: 12 }]);
  const text = await ask('GET', '/usage-report/summary', { headers: { accept: 'text/plain' } });
  expect(text.text).toBe(
    `Usage for installation ID: ${report.body.installation_id}\n2024-03:           12\n`,
  );
});

test('counts are checked by field', async () => {
  const event = { class: 'c', name: 'n', count: 1 };
  expect((await ask('POST', '/statistics', { json: { events: [event] } })).status).toBe(204);
  const negative = await ask('POST', '/statistics', { json: { events: [event, { ...event, count: -1 }] } });
  expect([negative.status, negative.body.message]).toEqual([
    400,
    'request body has an error: field "events[1].count": must not be negative',
  ]);
});

test('setup runs once', async () => {
  const fresh = await startApi(() => stubEngine(), { withoutSetup: true });
  try {
    const anonymous = checkedClient(fresh.url, '');
    expect((await anonymous('GET', '/setup')).body.state).toBe('not_initialized');
    expect(
      (
        await anonymous('POST', '/setup_comm_prefs', {
          json: { featureUpdates: true, securityUpdates: true },
        })
      ).status,
    ).toBe(412);
    expect((await anonymous('POST', '/setup', { json: { username: '' } })).status).toBe(400);
    expect(
      (await anonymous('POST', '/setup', { json: { username: 'a', key: { access_key_id: 'x' } } })).status,
    ).toBe(400);
    const done = await anonymous('POST', '/setup_lakefs', { json: { username: 'admin' } });
    expect([done.status, done.body.access_key_id.length, done.body.secret_access_key.length]).toEqual([
      200, 20, 40,
    ]);
    expect((await anonymous('POST', '/setup', { json: { username: 'admin' } })).status).toBe(409);
  } finally {
    await fresh.stop();
  }
});

test('the simplified mode has no policies, whoever asks', async () => {
  const simplified = await startApi(() => stubEngine(), { mode: 'simplified' });
  try {
    const anonymous = await checkedClient(simplified.url, '')('GET', '/auth/policies');
    expect([anonymous.status, anonymous.body.message]).toEqual([501, 'Not Implemented']);
    const admin = checkedClient(simplified.url);
    await admin('POST', '/auth/groups', { json: { id: 'g' } });
    expect((await admin('POST', '/auth/groups/g/acl', { json: { permission: 'write' } })).status).toBe(400);
    expect((await admin('POST', '/auth/groups/g/acl', { json: { permission: 'Write' } })).status).toBe(201);
    expect((await admin('GET', '/auth/groups/g/acl')).body).toEqual({ permission: 'Write' });
  } finally {
    await simplified.stop();
  }
});
