import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { basic, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
let counter = 0;
let repository = '';

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
});

afterAll(() => api.stop());

beforeEach(async () => {
  repository = `objects-${counter++}`;
  const created = await ask('POST', '/repositories', {
    json: { name: repository, storage_namespace: `mem://${repository}` },
  });
  expect(created.status).toBe(201);
});

function objects(branch = 'main'): string {
  return `/repositories/${repository}/branches/${branch}/objects`;
}

function refs(ref = 'main'): string {
  return `/repositories/${repository}/refs/${ref}/objects`;
}

async function put(path: string, content = path): Promise<void> {
  const { status } = await ask('POST', `${objects()}?path=${encodeURIComponent(path)}`, { body: content });
  expect(status).toBe(201);
}

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

test('a raw upload is stored with its type and the metadata of its headers', async () => {
  const uploaded = await ask('POST', `${objects()}?path=${encodeURIComponent('dir/ä b.txt')}`, {
    body: 'hello',
    headers: { 'content-type': 'text/plain', 'X-Lakefs-Meta-Color': 'gr\u00C3\u00BCn', 'x-svc-meta-b': '1' },
  });
  expect(uploaded.status).toBe(201);
  expect(uploaded.body).toMatchObject({
    path: 'dir/ä b.txt',
    path_type: 'object',
    checksum: md5('hello'),
    size_bytes: 5,
    content_type: 'text/plain',
    metadata: { color: 'grün', b: '1' },
  });
  const read = await ask('GET', `${refs()}?path=${encodeURIComponent('dir/ä b.txt')}`);
  expect([read.status, read.text]).toEqual([200, 'hello']);
  expect(Object.fromEntries(read.headers)).toMatchObject({
    etag: `"${md5('hello')}"`,
    'content-type': 'text/plain',
    'content-length': '5',
    'accept-ranges': 'bytes',
    'cache-control': 'no-store, must-revalidate',
    expires: '0',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-disposition': 'inline',
  });
  expect(Date.parse(read.headers.get('last-modified') ?? '')).not.toBeNaN();
});

test.each([
  ['text/html', 'attachment', "default-src 'none'; sandbox"],
  ['text/plain; charset=utf-8', 'attachment', "default-src 'none'; sandbox"],
  ['application/pdf', 'inline', "default-src 'none'"],
  ['image/svg+xml', 'inline', "default-src 'none'; sandbox"],
])('an object of type %s is shown as %s', async (type, disposition, policy) => {
  await ask('POST', `${objects()}?path=x`, { body: 'x', headers: { 'content-type': type } });
  const { headers } = await ask('GET', `${refs()}?path=x`);
  expect(headers.get('content-disposition')).toBe(disposition);
  expect(headers.get('content-security-policy')).toBe(policy);
});

test('a form stores its part named content with the type of that part', async () => {
  const form = new FormData();
  form.append('other', 'ignored');
  form.append('content', new Blob(['form data'], { type: 'text/csv; header=present' }), 'x.csv');
  form.append('content', new Blob(['second']), 'y.csv');
  const uploaded = await ask('POST', `${objects()}?path=form`, { body: form });
  expect(uploaded.status).toBe(201);
  expect(uploaded.body).toMatchObject({ size_bytes: 9, content_type: 'text/csv; header=present' });
  expect((await ask('GET', `${refs()}?path=form`)).text).toBe('form data');
});

test('a part without a type is stored empty and read as bytes', async () => {
  const body = '--b\r\ncontent-disposition: form-data; name="content"\r\n\r\nabc\r\n--b--\r\n';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const uploaded = await ask('POST', `${objects()}?path=untyped`, { body, headers });
  expect(uploaded.body).toMatchObject({ content_type: '', size_bytes: 3 });
  const stat = await ask('GET', `${refs()}/stat?path=untyped`);
  expect(stat.body.content_type).toBe('application/octet-stream');
});

test.each([
  [
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\nabc\r\n--b--\r\n',
  ],
  ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="content"\r\n\r\nab'],
  ['multipart/form-data; boundary=b', 'nothing of the kind'],
  ['multipart/form-data', 'no boundary'],
])('a broken form (%s) is 400 and stores nothing', async (type, body) => {
  const { status, body: answer } = await ask('POST', `${objects()}?path=broken`, {
    body,
    headers: { 'content-type': type },
  });
  expect([status, typeof answer.message]).toEqual([400, 'string']);
  expect((await ask('GET', `${refs()}/stat?path=broken`)).status).toBe(404);
});

test('an empty object and an object larger than a page of memory come back whole', async () => {
  await ask('POST', `${objects()}?path=empty`);
  expect((await ask('GET', `${refs()}?path=empty`)).text).toBe('');
  const large = Buffer.alloc(3_000_000, 'abcdefghij');
  const uploaded = await ask('POST', `${objects()}?path=large`, { body: large });
  expect(uploaded.body.checksum).toBe(md5(large.toString()));
  expect((await ask('GET', `${refs()}?path=large`)).text).toBe(large.toString());
});

test('If-None-Match: * creates once; other forms of it are not implemented', async () => {
  const create = { body: 'x', headers: { 'if-none-match': '*' } };
  expect((await ask('POST', `${objects()}?path=once`, create)).status).toBe(201);
  const again = await ask('POST', `${objects()}?path=once`, create);
  expect([again.status, again.body.message]).toEqual([412, 'path already exists']);
  for (const headers of [{ 'if-none-match': 'x' }, { 'if-match': '*', 'if-none-match': '*' }]) {
    expect(
      (await ask('POST', `${objects()}?path=other`, { body: 'x', headers: { ...headers } })).status,
    ).toBe(501);
  }
});

test('If-Match replaces only the object it names', async () => {
  const write = (body: string, ifMatch: string, path = 'named') =>
    ask('POST', `${objects()}?path=${path}`, { body, headers: { 'if-match': ifMatch } });
  expect((await write('x', '*')).status).toBe(412);
  expect((await write('x', `"${md5('x')}"`)).status).toBe(412);
  await put('named', 'first');
  for (const other of [`"${md5('other')}"`, `W/"${md5('first')}"`, '""'])
    expect((await write('no', other)).status).toBe(412);
  expect((await ask('GET', `${refs()}?path=named`)).text).toBe('first');
  const { headers } = await ask('GET', `${refs()}?path=named`);
  expect((await write('second', String(headers.get('etag')))).status).toBe(201);
  expect((await write('third', md5('second'))).status).toBe(201);
  expect((await write('late', `"${md5('second')}"`)).status).toBe(412);
  expect((await write('fourth', '*')).status).toBe(201);
  const large = Buffer.alloc(300_000, 'x');
  const refused = await ask('POST', `${objects()}?path=named`, {
    body: large,
    headers: { 'if-match': `"${md5('third')}"` },
  });
  expect(refused.status).toBe(412);
  expect((await ask('GET', `${refs()}?path=named`)).text).toBe('fourth');
});

test('of many writers that replace the same object, one succeeds', async () => {
  await put('raced', 'start');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, writer) =>
      ask('POST', `${objects()}?path=raced`, {
        body: `writer ${writer}`,
        headers: { 'if-match': `"${md5('start')}"` },
      }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 412)).toHaveLength(19);
  const winner = statuses.indexOf(201);
  expect((await ask('GET', `${refs()}?path=raced`)).text).toBe(`writer ${winner}`);
});

test('reserved metadata is refused, kept through updates and never shown', async () => {
  const reserved = { '::svc::Set-Cookie': 'x' };
  for (const metadata of [reserved, { '::svc::Cache-Control': 'no-cache' }, { '::svc::': '' }]) {
    await put('described', 'x');
    const updated = await ask('PUT', `${objects()}/stat/user_metadata?path=described`, {
      json: { set: metadata },
    });
    const staged = await ask('PUT', `${objects()}?path=described-staged`, {
      json: { physical_address: 'mem://elsewhere/x', checksum: 'c', size_bytes: 1, metadata },
    });
    for (const { status, body } of [updated, staged]) {
      expect(status).toBe(400);
      expect(body.message).toContain('is reserved');
    }
  }
  expect((await ask('GET', `${refs()}/stat?path=described-staged`)).status).toBe(404);
});

test('what a client stages may stand in headers', async () => {
  const stage = (body: object) =>
    ask('PUT', `${objects()}?path=odd`, {
      json: { physical_address: 'mem://elsewhere/x', checksum: 'c', size_bytes: 1, ...body },
    });
  for (const body of [
    { content_type: 'a\r\nb' },
    { content_type: '\0' },
    { mtime: 9_000_000_000_000_000 },
    { mtime: -9_000_000_000_000_000 },
  ])
    expect((await stage(body)).status).toBe(400);
  expect((await stage({ content_type: 'text/x; name="ä"', mtime: 0 })).status).toBe(201);
});

test('listings asked for at the same time do not mix', async () => {
  const folders = Array.from({ length: 12 }, (_, i) => `folder-${i}-${'x'.repeat(i * 40)}`);
  for (const folder of folders) for (let i = 0; i < 5; i++) await put(`${folder}/${i}`);
  for (let round = 0; round < 5; round++) {
    const pages = await Promise.all(
      folders.map((folder) => ask('GET', `${refs()}/ls?prefix=${encodeURIComponent(`${folder}/`)}`)),
    );
    const shown = pages.map(({ body }) => body.results.map(({ path }: { path: string }) => path));
    expect(shown).toEqual(folders.map((folder) => [0, 1, 2, 3, 4].map((i) => `${folder}/${i}`)));
  }
});

test('a key of 1024 bytes is stored, one more is refused and stores nothing', async () => {
  const longest = 'é'.repeat(512);
  await put(longest, 'x');
  const over = await ask('POST', `${objects()}?path=${encodeURIComponent(`${longest}x`)}`, { body: 'x' });
  expect(over.status).toBe(400);
  expect(over.body.message).toContain('1025 is above maximum length (1024)');
  expect((await ask('GET', `${refs()}/ls`)).body.results).toHaveLength(1);
});

test('deletes many, reports what was refused, skips what is empty', async () => {
  for (const path of ['a', 'b', 'secret/c']) await put(path);
  const all = await ask('POST', `${objects()}/delete`, { json: { paths: ['', 'a', 'missing'] } });
  expect([all.status, all.body]).toEqual([200, { errors: [] }]);
  const tooMany = await ask('POST', `${objects()}/delete`, {
    json: { paths: Array.from({ length: 1001 }, (_, index) => `k${index}`) },
  });
  expect([tooMany.status, tooMany.body.message]).toEqual([
    400,
    'request size exceeded, max paths is set to 1000',
  ]);
  expect((await ask('POST', `${objects('none')}/delete`, { json: { paths: ['a'] } })).status).toBe(404);

  const key = await limitedUser(`alice-${repository}`, [
    {
      effect: 'allow',
      action: ['fs:DeleteObject'],
      resource: `arn:svc:fs:::repository/${repository}/object/b`,
    },
  ]);
  const partly = await checkedClient(api.url, key)('POST', `${objects()}/delete`, {
    json: { paths: ['b', 'secret/c'] },
  });
  expect(partly.body).toEqual({ errors: [{ path: 'secret/c', status_code: 401, message: 'Unauthorized' }] });
  const left = await ask('GET', `${refs()}/ls`);
  expect(left.body.results.map((item: { path: string }) => item.path)).toEqual(['secret/c']);
});

test('copies within the repository', async () => {
  await put('a', 'content');
  const copied = await ask('POST', `${objects()}/copy?dest_path=b`, { json: { src_path: 'a' } });
  expect(copied.status).toBe(201);
  expect(copied.body).toMatchObject({ path: 'b', checksum: md5('content'), metadata: {} });
  expect((await ask('GET', `${refs()}?path=b`)).text).toBe('content');
  expect((await ask('POST', `${objects()}/copy?dest_path=c`, { json: { src_path: 'none' } })).status).toBe(
    404,
  );
  const shallow = await ask('POST', `${objects()}/copy?dest_path=c`, {
    json: { src_path: 'a', shallow: true },
  });
  expect(shallow.status).toBe(501);
});

test('a stored type that cannot stand in a header does no harm', async () => {
  const address = await ask('GET', `/repositories/${repository}/branches/main/staging/backing?path=evil`);
  expect(address.body).toMatchObject({ presigned_url: null });
  const linked = await ask('PUT', `/repositories/${repository}/branches/main/staging/backing?path=evil`, {
    json: {
      staging: address.body,
      checksum: 'x\r\nset-cookie: a=b',
      size_bytes: 0,
      content_type: 'text/plain\r\nset-cookie: a=b',
    },
  });
  expect([200, 400]).toContain(linked.status);
  const head = await ask('HEAD', `${refs()}?path=evil`);
  expect([200, 404]).toContain(head.status);
  expect(head.headers.get('set-cookie')).toBeNull();
});

test('a caller who may not write learns nothing about the branch', async () => {
  const key = await limitedUser(`reader-${repository}`, [
    {
      effect: 'allow',
      action: ['fs:ReadObject'],
      resource: `arn:svc:fs:::repository/${repository}/object/dir/*`,
    },
  ]);
  const reader = checkedClient(api.url, key);
  await put('dir/a', 'x');
  expect((await reader('GET', `${refs()}?path=dir%2Fa`)).status).toBe(200);
  const list = await reader('GET', `${refs()}/ls`);
  expect([list.status, list.body.message]).toEqual([
    401,
    'insufficient permissions: not allowed to fs:ListObjects',
  ]);
  expect((await reader('POST', `${objects('nothing')}?path=a`, { body: 'x' })).status).toBe(401);
});

async function limitedUser(
  id: string,
  statement: { effect: string; action: string[]; resource: string }[],
): Promise<string> {
  await ask('POST', '/auth/users', { json: { id } });
  await ask('POST', '/auth/policies', { json: { id: `policy-${id}`, statement } });
  expect((await ask('PUT', `/auth/users/${id}/policies/policy-${id}`)).status).toBe(201);
  const { body } = await ask('POST', `/auth/users/${id}/credentials`);
  return basic(body.access_key_id as string, body.secret_access_key as string);
}

test('an address elsewhere may be staged unless importing from there is denied', async () => {
  const elsewhere = `arn:svc:fs:::namespace/mem://secret/*`;
  const key = await limitedUser(`stager-${repository}`, [
    { effect: 'allow', action: ['fs:WriteObject'], resource: '*' },
    { effect: 'deny', action: ['fs:ImportFromStorage'], resource: elsewhere },
  ]);
  const stager = checkedClient(api.url, key);
  const stage = (address: string) =>
    stager('PUT', `${objects()}?path=x`, {
      json: { physical_address: address, checksum: 'c', size_bytes: 1 },
    });
  expect((await stage('mem://open/x')).status).toBe(201);
  const denied = await stage('mem://secret/x');
  expect([denied.status, denied.body.message]).toEqual([
    401,
    'insufficient permissions: denied permission to fs:ImportFromStorage',
  ]);
});

test('data of another repository cannot be staged without the right to read it', async () => {
  const other = `other-${repository}`;
  await ask('POST', '/repositories', { json: { name: other, storage_namespace: `mem://${other}` } });
  await ask('POST', `/repositories/${other}/branches/main/objects?path=secret`, { body: 'secret' });
  const { body } = await ask('GET', `/repositories/${other}/refs/main/objects/stat?path=secret`);
  const key = await limitedUser(`writer-${repository}`, [
    { effect: 'allow', action: ['fs:*'], resource: `arn:svc:fs:::repository/${repository}*` },
  ]);
  const json = { physical_address: body.physical_address, checksum: body.checksum, size_bytes: 6 };
  const staged = await checkedClient(api.url, key)('PUT', `${objects()}?path=stolen`, { json });
  expect(staged.status).toBe(403);
  expect((await ask('PUT', `${objects()}?path=allowed`, { json })).status).toBe(201);
});
