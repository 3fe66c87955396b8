import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, startSvc, type RunningSvc } from './start-server.ts';

const json = { 'Content-Type': 'application/json' };

async function manage(server: RunningSvc, method: string, path: string, body?: unknown) {
  const answer = await server.request(`/api/v1${path}`, {
    method,
    headers: { ...json, Authorization: quickstartAuth },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: answer.body === '' ? {} : (JSON.parse(answer.body) as never) };
}

/** People whose rights come in every way there is, with the headers they call with. */
async function makePeople(server: RunningSvc): Promise<Map<string, string>> {
  const people = new Map<string, string>();
  const add = async (id: string): Promise<void> => {
    await manage(server, 'POST', '/auth/users', { id });
    const { body } = await manage(server, 'POST', `/auth/users/${id}/credentials`);
    const { access_key_id: key, secret_access_key: secret } = body as Record<string, string>;
    people.set(id, `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`);
  };
  const join = (id: string, group: string) => manage(server, 'PUT', `/auth/groups/${group}/members/${id}`);
  for (const group of ['Admins', 'SuperUsers', 'Developers', 'Viewers']) {
    await add(`of-${group}`);
    await join(`of-${group}`, group);
  }
  await manage(server, 'POST', '/auth/groups', { id: 'mixed' });
  const statement = (effect: string, action: string) => [{ effect, action: [action], resource: '*' }];
  await manage(server, 'POST', '/auth/policies', { id: 'lists', statement: statement('allow', 'fs:List*') });
  await manage(server, 'POST', '/auth/policies', { id: 'ban', statement: statement('deny', 'fs:ListTags') });
  for (const policy of ['lists', 'ban']) await manage(server, 'PUT', `/auth/groups/mixed/policies/${policy}`);
  await add('of-mixed');
  await join('of-mixed', 'mixed');
  await add('direct');
  await manage(server, 'PUT', '/auth/users/direct/policies/FSReadAll');
  await add('nothing');
  return people;
}

const calls: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/repositories'],
  ['GET', '/repositories/lake/tags'],
  ['GET', '/repositories/lake/branches'],
  ['POST', '/repositories/lake/branches', { name: 'main', source: 'main' }],
  ['DELETE', '/repositories/none'],
  ['GET', '/repositories/lake/settings/branch_protection'],
  ['GET', '/auth/users'],
  ['GET', '/user/sessions'],
  ['GET', '/audit?amount=1'],
];

/** What everybody is answered to everything. */
async function matrixOf(server: RunningSvc, people: ReadonlyMap<string, string>) {
  const matrix: Record<string, string> = {};
  for (const [id, Authorization] of people) {
    for (const [method, path, body] of calls) {
      const { status } = await server.request(`/api/v1${path}`, {
        method,
        headers: { ...json, Authorization },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      matrix[`${id} ${method} ${path}`] = status === 401 ? 'refused' : 'allowed';
    }
  }
  return matrix;
}

test('switching between modes takes nothing from anybody and gives nobody anything', async () => {
  const home = tempDir();
  const start = (mode: string) => startSvc(['--quickstart'], { SVC_AUTH_UI_CONFIG_RBAC: mode }, home);
  let server = await start('internal');
  await manage(server, 'POST', '/repositories', { name: 'lake', storage_namespace: 'local://lake' });
  const people = await makePeople(server);
  const before = await matrixOf(server, people);
  expect(Object.values(before)).toContain('refused');
  expect(Object.values(before)).toContain('allowed');
  await server.stop();

  server = await start('simplified');
  expect(await matrixOf(server, people)).toEqual(before);
  expect((await manage(server, 'GET', '/auth/policies')).status).toBe(501);
  expect((await manage(server, 'GET', '/auth/groups/mixed/acl')).body).toMatchObject({ no_acl: true });
  // A level chosen for one group changes that group, and no other.
  expect((await manage(server, 'POST', '/auth/groups/mixed/acl', { permission: 'Read' })).status).toBe(201);
  const levelled = await matrixOf(server, people);
  expect(levelled['of-mixed GET /repositories/lake/tags']).toBe('allowed');
  const others = (matrix: Record<string, string>) =>
    Object.entries(matrix).filter(([name]) => !name.startsWith('of-mixed'));
  expect(others(levelled)).toEqual(others(before));
  await server.stop();

  for (const mode of ['internal', 'none']) {
    server = await start(mode);
    expect(await matrixOf(server, people)).toEqual(levelled);
    const { body } = await manage(server, 'GET', '/auth/groups/mixed/policies');
    expect((body as { results: { id: string }[] }).results.map(({ id }) => id)).toEqual(['ACL(_-_)mixed']);
    expect((await manage(server, 'GET', '/auth/policies/lists')).status).toBe(200);
    await server.stop();
  }
});
