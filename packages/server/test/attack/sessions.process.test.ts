import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { gatewayDomain } from '../fuzz/s3-requests.ts';
import { AttackedServer } from './attacked-server.ts';
import { forgedToken, tokenKey } from './forged-token.ts';

let attacked: AttackedServer;
let token: string;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  const { accessKeyId, secretAccessKey } = attacked.target.admin;
  const body = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  ({ token } = (await attacked.target.manage('POST', '/auth/login', body)) as { token: string });
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const soon = Math.floor(Date.now() / 1000) + 3600;
const claims = { iss: 'auth', aud: 'login', sub: 'admin', iat: soon, exp: soon };

function withToken(text: string): Promise<number[]> {
  return Promise.all(
    [
      { authorization: `Bearer ${text}` },
      { cookie: `access_token=${text}` },
      { cookie: `internal_auth_session=${text}` },
    ].map(
      async (headers) => (await attacked.call('GET', '/auth/users', { headers, from: '127.0.5.1' })).status,
    ),
  );
}

test('the forger of these tests knows how tokens are made', async () => {
  expect(await withToken(forgedToken(tokenKey(attacked.target.encryptSecret), claims))).toEqual([
    200, 200, 200,
  ]);
});

test.each<[string, (key: (purpose?: string) => Buffer) => string]>([
  ['has ended', (key) => forgedToken(key(), { ...claims, exp: soon - 7200 })],
  ['never ends', (key) => forgedToken(key(), { ...claims, exp: undefined })],
  ['ends at a text', (key) => forgedToken(key(), { ...claims, exp: '99999999999' })],
  ['is for something else', (key) => forgedToken(key(), { ...claims, aud: 'reset' })],
  ['is older than its user', (key) => forgedToken(key(), { ...claims, iat: soon - 7200 })],
  ['names nobody', (key) => forgedToken(key(), { ...claims, sub: '' })],
  ['names a stranger', (key) => forgedToken(key(), { ...claims, sub: 'stranger' })],
  ['names an object', (key) => forgedToken(key(), { ...claims, sub: { toString: 'admin' } })],
  ['was made with the key of nobody', (key) => forgedToken(key(), { ...claims, akid: 'NOBODY' })],
  [
    "was made with somebody else's key",
    (key) => forgedToken(key(), { ...claims, akid: attacked.nobody.accessKeyId }),
  ],
  ['is signed for resets', (key) => forgedToken(key('svc/jwt-reset'), claims)],
  ['is signed for states', (key) => forgedToken(key('svc/oidc-state'), claims)],
  ['is signed with nothing', () => forgedToken(Buffer.alloc(32), claims)],
  ['has no algorithm', (key) => forgedToken(key(), claims, { alg: 'none', typ: 'JWT' })],
  ['has another algorithm', (key) => forgedToken(key(), claims, { alg: 'RS256', typ: 'JWT' })],
  ['has an inherited algorithm', (key) => forgedToken(key(), claims, { alg: 'constructor' })],
  ['has no signature', (key) => forgedToken(key(), claims).replace(/[^.]+$/, '')],
  ['has two parts', (key) => forgedToken(key(), claims).split('.').slice(0, 2).join('.')],
  ['has four parts', (key) => `${forgedToken(key(), claims)}.x`],
  [
    'was changed',
    () => token.replace(/\.[^.]+\./, `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`),
  ],
])('a token that %s opens nothing', async (_kind, make) => {
  const statuses = await withToken(make((purpose) => tokenKey(attacked.target.encryptSecret, purpose)));
  expect([...new Set(statuses)]).toEqual([401]);
});

test.each([
  ['another site', { origin: 'https://evil.example' }],
  ['no site', { origin: 'null' }],
  ['a site that begins like ours', { origin: 'ours.evil.example' }],
  ['another port', { origin: 'http://127.0.0.1:1' }],
  ['another scheme', { origin: 'https' }],
  ['a page elsewhere without an origin', { 'sec-fetch-site': 'cross-site' }],
  ['a sub-domain without an origin', { 'sec-fetch-site': 'same-site' }],
])('a browser sent by %s changes nothing', async (_kind, site) => {
  const headers: Record<string, string> = { cookie: `access_token=${token}`, ...site };
  if (headers['origin'] === 'ours.evil.example') headers['origin'] = `http://${attacked.host}.evil.example`;
  if (headers['origin'] === 'https') headers['origin'] = `https://${attacked.host}`;
  const attempts = [
    attacked.call('POST', '/auth/users', { headers, body: { id: 'planted' } }),
    attacked.call('DELETE', '/repositories/victim', { headers }),
    // What a form can send without asking first.
    attacked.call('POST', '/repositories/victim/branches/main/objects?path=planted', {
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'planted',
    }),
    attacked.server.request('/victim/main/planted', {
      method: 'PUT',
      headers: { ...headers, host: `${gatewayDomain}:${attacked.server.port}` },
      body: 'planted',
    }),
    attacked.server.request('/main/public/a', {
      method: 'DELETE',
      headers: { ...headers, host: `victim.${gatewayDomain}:${attacked.server.port}` },
    }),
  ];
  for (const { status } of await Promise.all(attempts)) expect([401, 403]).toContain(status);
});

test('no answer lets other sites read it', async () => {
  for (const [method, headers] of [
    ['GET', { origin: 'https://evil.example', cookie: `access_token=${token}` }],
    ['OPTIONS', { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' }],
  ] as const) {
    const answer = await attacked.server.request('/api/v1/user', { method, headers });
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  }
});

test('the session cookie cannot be read by a page nor sent by another site', async () => {
  const { accessKeyId, secretAccessKey } = attacked.target.admin;
  const answer = await attacked.server.request('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https', host: 'evil.example' },
    body: JSON.stringify({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }),
  });
  const cookie = answer.headers['set-cookie']?.join(';') ?? '';
  expect(cookie).toContain('HttpOnly');
  expect(cookie).toContain('SameSite=Lax');
  expect(cookie).not.toContain('Domain');
});

test('a logout sends nobody elsewhere', async () => {
  for (const query of [
    '?next=https://evil.example',
    '?returnTo=//evil.example',
    '?redirect_uri=https://evil.example',
  ]) {
    const answer = await attacked.server.request(`/logout${query}`, { headers: { host: 'evil.example' } });
    expect(answer.headers.location ?? '').not.toContain('evil');
  }
});

test('guessing stops, and keeps nobody out who comes from elsewhere', async () => {
  const { accessKeyId } = attacked.target.admin;
  const guess = async (number: number): Promise<number> => {
    const body = { access_key_id: accessKeyId, secret_access_key: `guess-number-${number}` };
    return (await attacked.call('POST', '/auth/login', { body, from: '127.0.6.1' })).status;
  };
  await Promise.all(Array.from({ length: 100 }, (_, number) => guess(number)));
  expect(await guess(100)).toBe(429);
  expect((await attacked.call('GET', '/user', { as: attacked.nobody })).status).toBe(200);
});

test('a session that was logged out is over', async () => {
  const { accessKeyId, secretAccessKey } = attacked.mallory;
  const body = { access_key_id: accessKeyId, secret_access_key: secretAccessKey };
  const session = JSON.parse((await attacked.call('POST', '/auth/login', { body })).body) as {
    token: string;
  };
  const headers = { cookie: `access_token=${session.token}` };
  expect((await attacked.call('GET', '/user', { headers })).status).toBe(200);
  await attacked.server.request('/logout', { headers });
  expect((await attacked.call('GET', '/user', { headers })).status).toBe(401);
});

test('a right guess is of no use to somebody who guessed too often', async () => {
  const from = '127.0.8.1';
  const login = async (secret: string): Promise<number> => {
    const body = { access_key_id: attacked.mallory.accessKeyId, secret_access_key: secret };
    return (await attacked.call('POST', '/auth/login', { body, from })).status;
  };
  await Promise.all(Array.from({ length: 101 }, (_, number) => login(`guess-number-${number}`)));
  expect(await login(attacked.mallory.secretAccessKey)).toBe(429);
});
