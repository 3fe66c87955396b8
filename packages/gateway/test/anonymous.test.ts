import type { Statement } from '@svc/auth';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { composeGateway, domain, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3Call, S3Response, S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let admin: S3TestClient;
const actor = { username: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  admin = gateway.client();
  for (const name of ['shared', 'private']) {
    await gateway.createRepository(name);
    for (const path of ['pub/a', 'pub/hidden/b', 'own/c']) await admin.put(`/${name}/main/${path}`, path);
  }
});
afterAll(() => gateway.close());
beforeEach(async () => {
  for (const { id } of (await gateway.auth.policies.list({ prefix: 'Anonymous' })).results)
    await gateway.auth.policies.delete(id, actor);
});

const anonymously = (effect: string, action: string | string[], resource: string): Statement => ({
  effect,
  action: [action].flat(),
  resource: `arn:svc:fs:::repository/${resource}`,
  principal: ['anonymous'],
});
const policy = (...statement: Statement[]) =>
  gateway.auth.policies.create({ id: 'Anonymous', statement }, actor);
const send = (method: string, path: string, call: S3Call = {}): Promise<S3Response> =>
  admin.send(method, path, { host: domain, ...call, unsigned: true });
const allReads = ['fs:ReadObject', 'fs:ListObjects', 'fs:ReadRepository', 'fs:ListBranches'];

/** Everything a caller learns, without what names the request. */
function told(reply: S3Response, repository: string): unknown {
  const { 'x-amz-request-id': _id, date: _date, ...headers } = reply.headers;
  const text = reply.text
    .replace(/<RequestId>[^<]*<\/RequestId>/, '')
    .replaceAll(repository, 'R')
    .replaceAll(/<Resource>[^<]*<\/Resource>/g, '');
  return { status: reply.status, headers: { ...headers, 'content-length': '' }, text };
}

describe('requests without credentials', () => {
  it('are refused unless a policy speaks of them, whoever it is attached to', async () => {
    expect(await send('GET', '/shared/main/pub/a')).toMatchObject({ status: 403, code: 'AccessDenied' });
    await gateway.auth.policies.create(
      {
        id: 'Anonymous-not',
        statement: [{ effect: 'allow', action: ['fs:*'], resource: '*' }],
      },
      actor,
    );
    expect((await send('GET', '/shared/main/pub/a')).status).toBe(403);
    await gateway.auth.users.create({ username: 'anonymous' }, actor);
    await gateway.auth.users.attachPolicy('anonymous', 'Anonymous-not', actor);
    expect((await send('GET', '/shared/main/pub/a')).status).toBe(403);
  });

  it('read what a policy allows from the moment it is made until it is changed', async () => {
    const read = async (path: string) => (await send('GET', path)).status;
    await policy(anonymously('allow', 'fs:ReadObject', 'shared/object/pub/*'));
    const reply = await send('GET', '/shared/main/pub/a');
    expect([reply.status, reply.text]).toEqual([200, 'pub/a']);
    expect((await send('HEAD', '/shared/main/pub/a')).status).toBe(200);
    expect((await send('GET', '/main/pub/a', { host: `shared.${domain}` })).text).toBe('pub/a');
    expect(await read('/shared/main/pub/missing')).toBe(404);
    expect(await read('/shared/main/own/c')).toBe(403);
    expect(await read('/private/main/pub/a')).toBe(403);
    expect((await send('GET', '/shared', { query: 'prefix=main/' })).status).toBe(403);
    const denying = [
      anonymously('allow', 'fs:ReadObject', 'shared/object/pub/*'),
      anonymously('deny', 'fs:Read*', '*/object/pub/hidden/*'),
    ];
    await gateway.auth.policies.update('Anonymous', { id: 'Anonymous', statement: denying }, actor);
    expect([await read('/shared/main/pub/a'), await read('/shared/main/pub/hidden/b')]).toEqual([200, 403]);
    await gateway.auth.policies.delete('Anonymous', actor);
    expect(await read('/shared/main/pub/a')).toBe(403);
  });

  it('list and look at what they are allowed to, and are named in the record', async () => {
    await policy(anonymously('allow', allReads, 'shared'), anonymously('allow', allReads, 'shared/*'));
    const list = await send('GET', '/shared', { query: 'list-type=2&prefix=main/pub/&fetch-owner=true' });
    expect(list.all('Key')).toEqual(['main/pub/a', 'main/pub/hidden/b']);
    expect(new Set(list.all('ID'))).toEqual(new Set(['anonymous']));
    expect((await send('GET', '/shared', { query: 'delimiter=/' })).all('Prefix')).toContain('main/');
    for (const [method, path, query] of [
      ['HEAD', '/shared', ''],
      ['GET', '/shared', 'location'],
      ['GET', '/shared/main/pub/a', 'tagging'],
    ] as const)
      expect((await send(method, path, { query })).status).toBe(200);
    expect(gateway.records.at(-1)?.identity).toMatchObject({ method: 'anonymous' });
  });

  it('can never write, list repositories or look at uploads', async () => {
    await policy(anonymously('allow', allReads, 'shared'), anonymously('allow', allReads, 'shared/*'));
    const objects = '<Delete><Object><Key>main/pub/a</Key></Object></Delete>';
    for (const [method, path, call] of [
      ['GET', '/', {}],
      ['PUT', '/shared', {}],
      ['DELETE', '/shared', {}],
      ['PUT', '/shared/main/pub/a', { body: 'x' }],
      ['PUT', '/shared/main/new', { headers: { 'x-amz-copy-source': 'shared/main/pub/a' } }],
      ['PUT', '/shared/main/pub/a', { query: 'tagging', body: '<Tagging/>' }],
      ['DELETE', '/shared/main/pub/a', {}],
      ['POST', '/shared', { query: 'delete', body: objects }],
      ['POST', '/shared/main/new', { query: 'uploads' }],
      ['GET', '/shared', { query: 'uploads' }],
      ['GET', '/shared/main/pub/a', { query: 'uploadId=u' }],
      ['PATCH', '/shared/main/pub/a', {}],
    ] as [string, string, S3Call][]) {
      const reply = await send(method, path, call);
      expect([method, path, call.query, reply.status, reply.code]).toEqual([
        method,
        path,
        call.query,
        403,
        'AccessDenied',
      ]);
    }
    expect((await admin.get('/shared/main/pub/a')).text).toBe('pub/a');
    expect((await admin.get('/shared/main/new')).status).toBe(404);
  });

  it('learn nothing of what they may not read', async () => {
    await policy(anonymously('allow', 'fs:ReadObject', 'shared/object/pub/*'));
    for (const [method, path, call] of [
      ['GET', '', {}],
      ['HEAD', '', {}],
      ['GET', '', { query: 'location' }],
      ['GET', '/main/pub/a', {}],
      ['HEAD', '/main/pub/a', {}],
      ['GET', '/none/x', {}],
      ['PUT', '/main/x', { body: 'x' }],
      ['GET', '/main/pub/a', { query: 'response-content-type=text/html' }],
      ['GET', '', { query: 'max-keys=x' }],
    ] as [string, string, S3Call][])
      expect(told(await send(method, `/private${path}`, call), 'private')).toEqual(
        told(await send(method, `/absent${path}`, call), 'absent'),
      );
    expect(told(await send('GET', '/shared/main/own/c'), 'own/c')).toEqual(
      told(await send('GET', '/shared/main/own/d'), 'own/d'),
    );
  });

  it('do not choose headers of the answer', async () => {
    await policy(anonymously('allow', 'fs:ReadObject', 'shared/object/*'));
    const query = 'response-content-type=text%2Fhtml';
    expect(await send('GET', '/shared/main/pub/a', { query })).toMatchObject({
      status: 400,
      code: 'InvalidRequest',
    });
    expect((await admin.get('/shared/main/pub/a', { query })).headers['content-type']).toBe('text/html');
  });
});

describe('requests with credentials', () => {
  it('are never served as anonymous', async () => {
    await policy(anonymously('allow', 'fs:ReadObject', 'shared/object/*'));
    const { client: stranger } = await createUser(gateway, 'stranger', []);
    expect((await stranger.get('/shared/main/pub/a')).status).toBe(403);
    const attached = await createUser(gateway, 'attached', []);
    await gateway.auth.users.attachPolicy('attached', 'Anonymous', actor);
    expect((await attached.client.get('/shared/main/pub/a')).status).toBe(403);
    const wrong = gateway.client({ accessKeyId: 'AKIAJNOBODYNOBODYQ', secretAccessKey: 'x' });
    expect((await wrong.get('/shared/main/pub/a')).code).toBe('InvalidAccessKeyId');
    expect((await admin.raw('GET', stranger.presign('GET', '/shared/main/pub/a'), {})).status).toBe(403);
    for (const query of [
      'X-Amz-Signature=0',
      'X-Amz-Credential=x',
      'X-Amz-Algorithm=AWS4-HMAC-SHA256',
      'X-Amz-Date=20260101T000000Z',
      'x-amz-security-token=x',
      'Signature=x&Expires=9999999999',
      'AWSAccessKeyId=x',
    ])
      expect([query, (await send('GET', '/shared/main/pub/a', { query })).status]).not.toEqual([query, 200]);
    for (const headers of [
      { authorization: 'Basic eDp5' },
      { authorization: 'Bearer x' },
      { authorization: 'x' },
      { authorization: 'AWS4-HMAC-SHA256 x' },
      { 'x-amz-signature': '0' },
      { 'x-amz-security-token': 'x' },
    ] as Record<string, string>[])
      expect([headers, (await send('GET', '/shared/main/pub/a', { headers })).status]).not.toEqual([
        headers,
        200,
      ]);
    expect((await send('GET', '/shared/main/pub/a')).status).toBe(200);
  });

  it('are not bound by what is denied to anonymous ones', async () => {
    await policy(anonymously('deny', 'fs:*', '*'));
    await gateway.auth.groups.attachPolicy('Admins', 'Anonymous', actor);
    expect((await admin.get('/shared/main/pub/a')).status).toBe(200);
  });
});
