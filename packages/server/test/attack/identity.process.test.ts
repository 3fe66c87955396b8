import { createHmac, hash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Key } from '../fuzz/callers.ts';
import { presignV2, presignV4, signV2, signV4, type S3Signed, type S3Unsigned } from '../fuzz/s3-signing.ts';
import type { Answer } from '../start-server.ts';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;
let admin: Key;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  ({ admin } = attacked.target);
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

function unsigned(changes: Partial<S3Unsigned> = {}): S3Unsigned {
  return {
    method: 'PUT',
    path: '/victim/main/planted',
    query: '',
    host: attacked.host,
    headers: {},
    payloadHash: hash('sha256', 'planted'),
    now: new Date(),
    ...changes,
  };
}

/** Sends what was signed, changed on the way. */
function send(
  signed: S3Signed,
  changes: {
    method?: string;
    path?: string;
    query?: string;
    headers?: Record<string, string>;
    body?: string;
  } = {},
): Promise<Answer> {
  const body = changes.body ?? 'planted';
  const query = changes.query ?? signed.query;
  const target = `${changes.path ?? '/victim/main/planted'}${query === '' ? '' : `?${query}`}`;
  return attacked.server.request(target, {
    method: changes.method ?? 'PUT',
    headers: { ...signed.headers, 'content-length': body.length, ...changes.headers },
    body,
  });
}

const refused = (answer: Answer): void => expect([400, 401, 403]).toContain(answer.status);

test('a signature is good for exactly what was signed', async () => {
  for (const sign of [signV4, signV2]) {
    const read = sign(unsigned({ method: 'GET', path: '/victim/main/public/a' }), admin);
    refused(await send(read));
    refused(await send(read, { path: '/victim/main/public/a' }));
    refused(await send(read, { method: 'DELETE', path: '/victim/main/public/a', body: '' }));
    refused(await send(read, { method: 'GET', path: '/victim/main/public/a', query: 'uploads', body: '' }));
    const write = sign(unsigned(), admin);
    refused(await send(write, { path: '/hers/main/planted' }));
    refused(await send(write, { headers: { 'x-amz-copy-source': '/victim/main/secret/plan' } }));
    refused(await send(write, { headers: { 'x-amz-meta-unsigned': 'x' } }));
  }
  const write = signV4(unsigned(), admin);
  refused(await send(write, { body: 'changed' }));
  refused(await send(write, { headers: { host: `localhost:${attacked.server.port}` } }));
  refused(await send(write, { headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }, body: 'changed' }));
});

test('a link that was given away is good for nothing else', async () => {
  const read = presignV4(unsigned({ method: 'GET', path: '/victim/main/public/a' }), admin, 600);
  refused(await send(read, { path: '/victim/main/public/a' }));
  refused(await send(read, { method: 'GET', path: '/victim/main/secret/plan', body: '' }));
  refused(
    await send(read, {
      method: 'GET',
      path: '/victim/main/public/a',
      query: `${read.query}&uploads`,
      body: '',
    }),
  );
  const late = read.query.replace('X-Amz-Expires=600', 'X-Amz-Expires=604800');
  refused(await send(read, { method: 'GET', path: '/victim/main/public/a', query: late, body: '' }));
  const write = presignV4(unsigned(), admin, 600);
  refused(await send(write, { headers: { 'x-amz-copy-source': '/victim/main/secret/plan' } }));
  refused(await send(write, { query: `${write.query}&x-amz-meta-a=b` }));
  const old = presignV2(unsigned({ method: 'GET', path: '/victim/main/public/a' }), admin, 600);
  refused(await send(old, { path: '/victim/main/public/a' }));
  refused(await send(old, { method: 'GET', path: '/victim/main/secret/plan', body: '' }));
  const longer = old.query.replace(/Expires=\d+/, 'Expires=99999999999');
  refused(await send(old, { method: 'GET', path: '/victim/main/public/a', query: longer, body: '' }));
});

test('old and future signatures are refused', async () => {
  const hour = 3_600_000;
  for (const now of [new Date(Date.now() - hour), new Date(Date.now() + hour)]) {
    refused(await send(signV4(unsigned({ now }), admin)));
    refused(await send(signV2(unsigned({ now }), admin)));
  }
  const past = new Date(Date.now() - hour);
  refused(await send(presignV4(unsigned({ now: past }), admin, 60)));
  refused(await send(presignV2(unsigned({ now: past }), admin, 60)));
});

test.each([
  ['of nobody', (proof: string) => proof.replace(/Credential=[^/]+/, 'Credential=NOBODY')],
  ['without a signature', (proof: string) => proof.replace(/Signature=\w+/, 'Signature=')],
  ['with another case', (proof: string) => proof.replace(/Signature=(\w+)/, (all) => all.toUpperCase())],
  ['that signs no host', (proof: string) => proof.replace('SignedHeaders=host;', 'SignedHeaders=')],
  ['that signs nothing', (proof: string) => proof.replace(/SignedHeaders=[^,]+/, 'SignedHeaders=')],
  ['of another day', (proof: string) => proof.replace(/\/\d{8}\//, '/20200101/')],
  ['of another service', (proof: string) => proof.replace('/s3/', '/sts/')],
  ['given twice', (proof: string) => `${proof}, ${proof.slice(proof.indexOf(' ') + 1)}x`],
  ['cut off', (proof: string) => proof.slice(0, -1)],
  ['without fields', () => 'AWS4-HMAC-SHA256'],
  ['of the second version without a secret', (proof: string) => `AWS ${/=(\w+)\//.exec(proof)?.[1]}:`],
])('a signature %s is refused', async (_kind, change) => {
  const signed = signV4(unsigned(), admin);
  const authorization = change(signed.headers['authorization'] ?? '');
  refused(await send(signed, { headers: { authorization } }));
});

test('a signed request for the API is never the API', async () => {
  const path = '/api/v1/repositories';
  for (const key of [admin, attacked.nobody]) {
    const signed = signV4(unsigned({ method: 'GET', path, payloadHash: hash('sha256', '') }), key);
    const answer = await send(signed, { method: 'GET', path, body: '' });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).not.toContain('storage_namespace');
  }
});

test('credentials beside a wrong signature or token do not make up for it', async () => {
  const signed = signV4(unsigned(), { ...admin, secretAccessKey: 'wrong' });
  refused(await send(signed, { headers: { cookie: 'access_token=a.b.c' } }));
  const { status } = await attacked.call('GET', '/repositories', {
    headers: { authorization: 'Bearer a.b.c', cookie: 'access_token=a.b.c' },
  });
  expect(status).toBe(401);
});

test('a key of a deleted user opens nothing, nor do its links', async () => {
  const { manage } = attacked.target;
  await manage('POST', '/auth/users', { id: 'leaver' });
  const made = (await manage('POST', '/auth/users/leaver/credentials')) as Record<string, string>;
  const key = { accessKeyId: made['access_key_id'] ?? '', secretAccessKey: made['secret_access_key'] ?? '' };
  await manage('PUT', '/auth/groups/Admins/members/leaver');
  const link = presignV4(unsigned({ method: 'GET', path: '/victim/main/public/a' }), key, 600);
  const read = () => send(link, { method: 'GET', path: '/victim/main/public/a', body: '' });
  expect((await read()).body).toBe('a of victim');
  await manage('DELETE', '/auth/users/leaver');
  refused(await read());
  refused(await attacked.s3('GET', '/victim/main/public/a', key));
  refused(await attacked.call('GET', '/repositories', { as: key }));
});

test('access keys compare as a whole', async () => {
  for (const accessKeyId of [
    admin.accessKeyId.toLowerCase(),
    admin.accessKeyId.slice(0, -1),
    `${admin.accessKeyId} `,
    `${admin.accessKeyId}\u0000`,
    '',
  ]) {
    const as = { ...admin, accessKeyId };
    expect((await attacked.call('GET', '/user', { as, from: '127.0.4.1' })).status).toBe(401);
  }
  for (const secretAccessKey of ['', admin.secretAccessKey.slice(0, -1), `${admin.secretAccessKey}x`])
    expect(
      (await attacked.call('GET', '/user', { as: { ...admin, secretAccessKey }, from: '127.0.4.1' })).status,
    ).toBe(401);
});

test('the old Java form of a signature, which names neither method nor headers, writes nothing', async () => {
  const path = '/victim/main/public/a';
  const pairs = [
    ['AWSAccessKeyId', admin.accessKeyId],
    ['SignatureMethod', 'HmacSHA256'],
    ['SignatureVersion', '2'],
    ['Timestamp', new Date().toISOString()],
  ].map(([name = '', value = '']) => `${name}=${encodeURIComponent(value)}`);
  const query = pairs.join('&');
  const signature = createHmac('sha256', admin.secretAccessKey)
    .update(`POST\n${attacked.host}\n${path}\n${query}`)
    .digest('base64');
  const target = `${query}&Signature=${encodeURIComponent(signature)}`;
  const signed = { query: target, headers: { host: attacked.host } };
  refused(await send(signed, { method: 'DELETE', path, body: '' }));
  refused(await send(signed, { method: 'PUT', path, body: 'planted' }));
  refused(
    await send(signed, {
      method: 'PUT',
      path,
      body: '',
      headers: { 'x-amz-copy-source': '/victim/main/secret/plan' },
    }),
  );
});
