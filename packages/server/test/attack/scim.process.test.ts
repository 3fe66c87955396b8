import { noteSecret } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { basic } from '../fuzz/callers.ts';
import { AttackedServer } from './attacked-server.ts';

const token = 'the-token-of-the-identity-provider-at-the-attacked-server';
let attacked: AttackedServer;

beforeAll(async () => {
  noteSecret('the token of the identity provider', token);
  attacked = await AttackedServer.start({
    auth: {
      encrypt: { secret_key: 'encrypts the keys of the attacked server' },
      ui_config: { rbac: 'internal' },
      scim: { token },
    },
  });
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const scim = (method: string, path: string, headers: Record<string, string>, body?: object) =>
  attacked.server.request(`/scim/v2${path}`, {
    method,
    headers: { 'content-type': 'application/scim+json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const asProvider = { authorization: `Bearer ${token}` };
const planted = { userName: 'planted', active: true };

test('nobody but the provider is heard, not even an administrator', async () => {
  const { accessKeyId, secretAccessKey } = attacked.target.admin;
  const login = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const session = (await attacked.target.manage('POST', '/auth/login', login)) as { token: string };
  for (const headers of [
    {},
    { authorization: basic(attacked.target.admin) },
    { authorization: `Bearer ${session.token}` },
    { cookie: `access_token=${session.token}` },
    { authorization: `Bearer ${token.slice(0, -1)}` },
    { authorization: `Bearer ${token} ${token}` },
    { authorization: `Basic ${Buffer.from(`scim:${token}`).toString('base64')}` },
  ]) {
    const [read, written] = [
      await scim('GET', '/Users', headers),
      await scim('POST', '/Users', headers, planted),
    ];
    expect([read.status, written.status]).toEqual([401, 401]);
  }
});

test('the token opens nothing else', async () => {
  for (const path of ['/user', '/auth/users', '/repositories'])
    expect((await attacked.call('GET', path, { headers: asProvider })).status).toBe(401);
  const answer = await attacked.server.request('/iceberg/v1/config', { headers: asProvider });
  expect(answer.status).toBe(401);
});

test('the provider takes over nobody, joins nobody to a group of others and deletes none', async () => {
  const member = { op: 'add', path: 'members', value: [{ value: 'mallory' }] };
  for (const [method, path, body] of [
    ['GET', '/Users/admin', undefined],
    ['PUT', '/Users/admin', { userName: 'admin', active: false }],
    ['PATCH', '/Users/mallory', { Operations: [{ op: 'replace', path: 'active', value: false }] }],
    ['DELETE', '/Users/admin', undefined],
    ['PATCH', '/Groups/Admins', { Operations: [member] }],
    ['PUT', '/Groups/Admins', { displayName: 'Admins', members: [] }],
    ['DELETE', '/Groups/Admins', undefined],
  ] as const)
    expect([path, (await scim(method, path, asProvider, body)).status]).toEqual([path, 404]);
  expect((await scim('POST', '/Users', asProvider, { userName: 'admin', active: true })).status).toBe(409);
  const group = { displayName: 'Admins', members: [{ value: 'mallory' }] };
  expect((await scim('POST', '/Groups', asProvider, group)).status).toBe(404);
  expect((await scim('POST', '/Groups', asProvider, { displayName: 'Admins' })).status).toBe(409);
  expect(
    (await scim('POST', '/Groups', asProvider, { displayName: 'x', members: [{ value: 'admin' }] })).status,
  ).toBe(404);
});

test.each([
  ['../Users/admin'],
  ['%2e%2e/Groups/Admins'],
  ['Users/..%2fadmin'],
  ['Users/__proto__'],
  ['constructor'],
  ['Users/admin/extra'],
])('the path %s leads nowhere', async (path) => {
  for (const method of ['GET', 'DELETE'])
    expect((await scim(method, `/${path}`, asProvider)).status).toBeGreaterThanOrEqual(400);
});

test('guessing the token stops', async () => {
  const guess = async (): Promise<number> =>
    (
      await attacked.server.request('/scim/v2/Users', {
        localAddress: '127.0.7.3',
        headers: { authorization: 'Bearer a-guess-of-somebody' },
      })
    ).status;
  await Promise.all(Array.from({ length: 100 }, guess));
  expect(await guess()).toBe(429);
  expect((await scim('GET', '/Users', asProvider)).status).toBe(200);
});
