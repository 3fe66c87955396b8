import { hash, randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Answer } from '../start-server.ts';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;
/** The browser of the administrator, and that of mallory. */
let victim: Record<string, string>;
let mallory: Record<string, string>;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  const browserOf = async (key: { accessKeyId: string; secretAccessKey: string }) => {
    const body = { access_key_id: key.accessKeyId, secret_access_key: key.secretAccessKey };
    const { token } = (await attacked.target.manage('POST', '/auth/login', body)) as { token: string };
    return { cookie: `access_token=${token}`, origin: `http://${attacked.host}` };
  };
  victim = await browserOf(attacked.target.admin);
  mallory = await browserOf(attacked.mallory);
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

interface Begun {
  readonly name: string;
  readonly verifier: string;
}

async function begin(more: object = {}): Promise<Begun> {
  const verifier = randomBytes(32).toString('base64url');
  const body = { challenge: hash('sha256', verifier, 'base64url'), host: 'laptop', ...more };
  const answer = await attacked.server.request('/api/v1/auth/cli/logins', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.status, answer.body).toBe(201);
  return { name: (JSON.parse(answer.body) as { name: string }).name, verifier };
}

const listening = () => ({ callback: { port: 4711, state: randomBytes(16).toString('base64url') } });

/** Not kept among what attackers saw. */
function approve(name: string, headers: Record<string, string>): Promise<Answer> {
  return attacked.server.request(`/api/v1/auth/cli/logins/${name}/approve`, { method: 'POST', headers });
}

function finish({ name, verifier }: Begun, code?: string): Promise<Answer> {
  return attacked.call('POST', `/auth/cli/logins/${name}/token`, { body: { verifier, code } });
}

function codeOf({ body }: Answer): string {
  const { redirect } = JSON.parse(body) as { redirect: string };
  return new URL(redirect).searchParams.get('code') ?? '';
}

test('a link that somebody sends gives a token to nobody, even when it is approved', async () => {
  const begun = await begin(listening());
  // The code goes to the machine of the person who approves, not to whoever began the login.
  expect((await approve(begun.name, victim)).status).toBe(200);
  expect((await finish(begun)).status).toBe(404);
  expect((await finish(begun, 'a guess')).status).toBe(400);
  expect((await finish(begun, 'aGuess')).status).toBe(404);
});

test('a link approves nothing by being opened', async () => {
  const begun = await begin();
  for (const path of [`/auth/cli?login=${begun.name}`, `/api/v1/auth/cli/logins/${begun.name}`])
    await attacked.server.request(path, { headers: { ...victim, accept: 'text/html' } });
  for (const method of ['GET', 'HEAD', 'PUT']) {
    const path = `/api/v1/auth/cli/logins/${begun.name}/approve`;
    const { status } = await attacked.server.request(path, { method, headers: victim });
    expect(status).toBeGreaterThanOrEqual(400);
  }
  expect(JSON.parse((await finish(begun)).body)).toEqual({});
});

test.each([
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: '', 'sec-fetch-site': 'cross-site' },
])('a page elsewhere approves nothing (%o)', async (site) => {
  const begun = await begin();
  const { origin, ...headers } = { ...victim, ...site };
  const sent = origin === '' ? headers : { ...headers, origin };
  expect((await approve(begun.name, sent as Record<string, string>)).status).toBe(403);
  expect(JSON.parse((await finish(begun)).body)).toEqual({});
});

test('a stolen code is of no use without the verifier, and none is good twice', async () => {
  const begun = await begin(listening());
  const code = codeOf(await approve(begun.name, mallory));
  expect((await finish({ ...begun, verifier: randomBytes(32).toString('base64url') }, code)).status).toBe(
    404,
  );
  const outcomes = await Promise.all([finish(begun, code), finish(begun, code), finish(begun, code)]);
  expect(outcomes.filter(({ status }) => status === 404)).toHaveLength(2);
  expect((await finish(begun, code)).status).toBe(404);
  const { token } = JSON.parse(outcomes.find(({ status }) => status === 200)?.body ?? '') as {
    token: string;
  };
  const headers = { authorization: `Bearer ${token}` };
  expect((await attacked.call('GET', '/auth/users', { headers })).status).toBe(401);
  // A token approves no further ones, or it could be renewed for ever.
  const next = await begin();
  const answer = await attacked.call('POST', `/auth/cli/logins/${next.name}/approve`, { headers });
  expect(answer.status).toBe(403);
});

test('a code of one login finishes no other', async () => {
  const [first, second] = [await begin(listening()), await begin(listening())];
  const code = codeOf(await approve(first.name, mallory));
  await approve(second.name, mallory);
  expect((await finish(second, code)).status).toBe(404);
  expect((await finish({ name: second.name, verifier: first.verifier }, code)).status).toBe(404);
});

test("nobody approves what another's browser has approved, nor with a key alone", async () => {
  const begun = await begin();
  const path = `/auth/cli/logins/${begun.name}/approve`;
  expect((await attacked.call('POST', path)).status).toBe(401);
  expect((await attacked.call('POST', path, { as: attacked.nobody })).status).toBe(403);
  expect((await approve(begun.name, mallory)).status).toBe(200);
  expect((await approve(begun.name, victim)).status).toBe(404);
  const { token } = JSON.parse((await finish(begun)).body) as { token: string };
  const me = await attacked.call('GET', '/user', { headers: { authorization: `Bearer ${token}` } });
  expect(JSON.parse(me.body)).toMatchObject({ user: { id: 'mallory' } });
});

test.each([
  ['a challenge that is no digest', { challenge: 'short' }],
  ['a challenge that never ends', { challenge: 'c'.repeat(1000) }],
  ['a host that never ends', { host: 'h'.repeat(1000) }],
  ['a host that breaks lines', { host: 'laptop\r\nSet-Cookie: a=b' }],
  ['a host that is markup', { host: '<b>bank</b>' }],
  ['a port of a service', { callback: { port: 80, state: 's'.repeat(22) } }],
  ['an address in place of a port', { callback: { port: '@evil.example', state: 's'.repeat(22) } }],
  ['a state that adds parameters', { callback: { port: 4711, state: 's'.repeat(22) + '&code=1' } }],
])('%s begins nothing', async (_kind, more) => {
  const body = { challenge: 'c'.repeat(43), host: 'laptop', ...more };
  expect((await attacked.call('POST', '/auth/cli/logins', { body, from: '127.0.5.9' })).status).toBe(400);
});

test('codes are not guessed, and logins are not begun, without limit', async () => {
  const guess = async (): Promise<number> =>
    (await attacked.call('GET', '/auth/cli/logins/BCDF-GHJK', { as: attacked.nobody })).status;
  const guesses: number[] = [];
  for (let count = 0; count < 11; count += 1) guesses.push(await guess());
  expect(guesses).toEqual([...Array.from({ length: 10 }, () => 404), 429]);
  const body = { challenge: 'c'.repeat(43), host: 'laptop' };
  const begun = await Promise.all(
    Array.from({ length: 35 }, () => attacked.call('POST', '/auth/cli/logins', { body, from: '127.0.5.2' })),
  );
  expect(begun.filter(({ status }) => status === 429).length).toBe(5);
});
