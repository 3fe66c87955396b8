import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3Call, S3Response, S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let stranger: S3TestClient;

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('there');
  await gateway.engine.repositories.create({
    name: 'frozen',
    storageNamespace: gateway.namespace('frozen'),
    actor: { committer: 'admin' },
    readOnly: true,
  });
  await gateway.client().put('/there/main/x', 'content');
  stranger = (await createUser(gateway, 'stranger', [])).client;
});
afterAll(() => gateway.close());

const keys = '<Delete><Object><Key>main/x</Key></Object></Delete>';
const noKeys = '<Delete><Object><Key>main/</Key></Object></Delete>';

interface Request {
  readonly method: string;
  /** After the repository. */
  readonly path: string;
  readonly call?: S3Call;
}

const copy = (source: string): S3Call => ({ headers: { 'x-amz-copy-source': source } });
const requests: readonly Request[] = [
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH'].map((method) => ({ method, path: '' })),
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'POST', 'PATCH'].map((method) => ({ method, path: '/main/x' })),
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'POST'].map((method) => ({ method, path: '/none/x' })),
  ...['GET', 'HEAD', 'PUT', 'DELETE', 'POST'].map((method) => ({ method, path: '/main/' })),
  ...['GET', 'HEAD', 'PUT', 'DELETE'].map((method) => ({ method, path: '//x' })),
  ...['acl', 'policy', 'uploads', 'location', 'versioning', 'versions', 'list-type=9', 'max-keys=x'].map(
    (query) => ({ method: 'GET', path: '', call: { query } }),
  ),
  ...['acl', 'tagging', 'uploadId=u', 'versionId=v', 'partNumber=9'].map((query) => ({
    method: 'GET',
    path: '/main/x',
    call: { query },
  })),
  ...['acl', 'tagging', 'partNumber=1&uploadId=u', 'partNumber=x&uploadId=u', 'versionId=v'].map((query) => ({
    method: 'PUT',
    path: '/main/x',
    call: { query, body: 'x' },
  })),
  ...['uploads', 'uploadId=u', 'restore', 'select'].map((query) => ({
    method: 'POST',
    path: '/main/x',
    call: { query, body: '<a/>' },
  })),
  ...['there/main/x', 'none/main/x', 'short', '', 'there/main/x?versionId=v'].map((source) => ({
    method: 'PUT',
    path: '/main/y',
    call: copy(source),
  })),
  ...[keys, noKeys, '<Delete></Delete>', 'no document', ''].map((body) => ({
    method: 'POST',
    path: '',
    call: { query: 'delete', body },
  })),
  { method: 'POST', path: '', call: { query: 'delete', body: keys, payloadHash: 'nonsense' } },
  { method: 'POST', path: '', call: { query: 'delete', body: keys, headers: { 'content-md5': 'AAAA' } } },
  {
    method: 'POST',
    path: '',
    call: { query: 'delete', body: keys, headers: { 'x-amz-checksum-crc32': 'AAAAAA==' } },
  },
  { method: 'POST', path: '', call: { query: 'other', body: keys } },
];

/** Everything a caller learns, without what names the request. */
function told(reply: S3Response, repository: string): unknown {
  const { 'x-amz-request-id': _id, date: _date, ...headers } = reply.headers;
  const text = reply.text
    .replace(/<RequestId>[^<]*<\/RequestId>/, '')
    .replaceAll(repository, 'R')
    .replaceAll(/<Resource>[^<]*<\/Resource>/g, '');
  return { status: reply.status, headers: { ...headers, 'content-length': '' }, text };
}

describe('a caller without rights', () => {
  it.each(
    requests.map((request): [string, Request] => [
      `${request.method} /R${request.path} ${request.call?.query ?? ''}`,
      request,
    ]),
  )('learns nothing of a repository by %s', async (_name, request) => {
    const { method, path, call } = request;
    const missing = told(await stranger.send(method, `/missing${path}`, call), 'missing');
    for (const repository of ['there', 'frozen'])
      expect(told(await stranger.send(method, `/${repository}${path}`, call), repository)).toEqual(missing);
  });
});

describe('DeleteObjects', () => {
  it('answers key by key whoever may delete some, or know of the repository', async () => {
    const allow = (action: string, resource: string) => ({
      effect: 'allow' as const,
      action: [action],
      resource,
    });
    const some = await createUser(gateway, 'some', [
      allow('fs:DeleteObject', 'arn:svc:fs:::repository/there/object/mine/*'),
    ]);
    const both = '<Delete><Object><Key>main/mine/a</Key></Object><Object><Key>main/x</Key></Object></Delete>';
    const reply = await some.client.post('/there', both, { query: 'delete' });
    expect(reply.status).toBe(200);
    expect(reply.all('Key')).toEqual(['main/mine/a', 'main/x']);
    expect(reply.all('Code')).toEqual(['AccessDenied']);
    for (const [name, statement] of [
      ['reader', allow('fs:ReadRepository', 'arn:svc:fs:::repository/there')],
      ['lister', allow('fs:ListRepositories', '*')],
    ] as const) {
      const { client } = await createUser(gateway, name, [statement]);
      const refused = await client.post('/there', keys, { query: 'delete' });
      expect([refused.status, refused.all('Code')]).toEqual([200, ['AccessDenied']]);
    }
    expect((await gateway.client().get('/there/main/x')).text).toBe('content');
  });
});
