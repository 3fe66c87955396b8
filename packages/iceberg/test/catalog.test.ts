import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../src/json.ts';
import { actor, adminKey, composeCatalog, type Answered, type TestCatalog } from './compose.ts';

let catalog: TestCatalog;
const schema = { type: 'struct', fields: [{ id: 1, name: 'n', required: false, type: 'long' }] };
const root = '/r.lake.main/namespaces';

beforeAll(async () => {
  catalog = await composeCatalog();
  await catalog.createRepository('lake');
  await catalog.createRepository('other');
  await catalog.engine.branches.create({ repository: 'lake', name: 'dev', source: 'main', actor });
  await catalog.engine.tags.create({ repository: 'lake', id: 'v0', ref: 'main', actor });
  expect((await catalog.send('POST', root, { namespace: ['db'] })).status).toBe(200);
});
afterAll(async () => {
  await catalog.close();
  expect(catalog.failures).toEqual([]);
});

const make = (name: string, more: object = {}, on = `${root}/db`): Promise<Answered> =>
  catalog.send('POST', `${on}/tables`, { name, schema, ...more });

const setProperty = (value: string): JsonObject => ({ action: 'set-properties', updates: { a: value } });

const commit = (name: string, requirements: object[], updates: object[]): Promise<Answered> =>
  catalog.send('POST', `${root}/db/tables/${name}`, { requirements, updates });

async function paths(ref: string, prefix: string): Promise<string[]> {
  const page = await catalog.engine.objects.list({ repository: 'lake', ref, prefix });
  return page.toArray().map(({ path }) => path);
}

it('tells clients the prefix of their warehouse and what is served', async () => {
  const { body } = await catalog.send('GET', '/config?warehouse=lake%2Fmain');
  expect(body['overrides']).toEqual({ prefix: 'r.lake.main' });
  expect(body['endpoints']).toContain('POST /v1/{prefix}/namespaces/{namespace}/tables/{table}');
  expect((await catalog.send('GET', '/config')).body['overrides']).toEqual({});
  expect((await catalog.send('GET', '/config?warehouse=svc://lake')).body['overrides']).toEqual({
    prefix: 'r.lake',
  });
  expect((await catalog.send('GET', '/config?warehouse=none-such')).errorType).toBe(
    'NoSuchNamespaceException',
  );
  expect((await catalog.send('GET', '/config?warehouse=a/b/c')).errorType).toBe('BadRequestException');
});

it('trades an access key for a token, and refuses everybody else in the shape of OAuth', async () => {
  const token = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(form);
    const answer = await fetch(`${catalog.endpoint}/iceberg/v1/oauth/tokens`, {
      method: 'POST',
      body,
      headers,
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  };
  const grant = { grant_type: 'client_credentials' };
  const right = { client_id: adminKey.accessKeyId, client_secret: adminKey.secretAccessKey };
  const given = await token({ ...grant, ...right });
  expect([given.status, given.body['token_type']]).toEqual([200, 'bearer']);
  const authorization = `Bearer ${given.body['access_token']}`;
  const config = await fetch(`${catalog.endpoint}/iceberg/v1/config`, { headers: { authorization } });
  expect(config.status).toBe(200);
  const basic = `Basic ${Buffer.from(`${right.client_id}:${right.client_secret}`).toString('base64')}`;
  expect((await token(grant, { authorization: basic })).status).toBe(200);
  const wrong = await token({ ...grant, ...right, client_secret: 'wrong' });
  expect([wrong.status, wrong.body['error']]).toEqual([401, 'invalid_client']);
  expect((await token({ ...right, grant_type: 'password' })).body['error']).toBe('unsupported_grant_type');
  expect((await token(grant)).body['error']).toBe('invalid_request');
  const stranger = await fetch(`${catalog.endpoint}/iceberg/v1/config`);
  expect([stranger.status, ((await stranger.json()) as { error: object }).error]).toEqual([
    401,
    { message: 'error authenticating request', type: 'NotAuthorizedException', code: 401 },
  ]);
});

it('a table is a pointer, a metadata file and nothing that names a ref', async () => {
  const made = await make('t', { properties: { a: 'b' } });
  expect(made.status).toBe(200);
  const [pointer, file = ''] = await paths('main', 'db/');
  expect([pointer, file]).toEqual([
    'db/_iceberg/tables/t.json',
    expect.stringMatching(/^db\/t\/metadata\/00000-[0-9a-f-]+\.metadata\.json$/),
  ]);
  expect(made.body['metadata-location']).toBe(`s3://lake/${file}`);
  expect(made.body['metadata']).toMatchObject({ location: 's3://lake/db/t', properties: { a: 'b' } });
  expect(made.body['config']).toMatchObject({
    's3.endpoint': catalog.endpoint,
    's3.path-style-access': 'true',
    's3.access-key-id': expect.stringMatching(/^SVCT/) as string,
  });
  const second = await make('t');
  expect([second.status, second.errorType]).toEqual([409, 'AlreadyExistsException']);
  expect(await paths('main', 'db/t/')).toEqual([file]);
  expect((await catalog.send('HEAD', `${root}/db/tables/t`)).status).toBe(204);
  expect((await catalog.send('HEAD', `${root}/db/tables/u`)).status).toBe(404);
});

it('of two commits that require the same, one is refused and leaves no file; others are carried out one by one', async () => {
  const made = await make('raced');
  const uuid = { type: 'assert-table-uuid', uuid: made.body['metadata']?.['table-uuid'] };
  const schemaId = { type: 'assert-current-schema-id', 'current-schema-id': 0 };
  const wider = {
    ...schema,
    fields: [...schema.fields, { id: 2, name: 'm', required: false, type: 'long' }],
  };
  const evolve = [
    { action: 'add-schema', schema: wider },
    { action: 'set-current-schema', 'schema-id': -1 },
  ];
  const both = await Promise.all([
    commit('raced', [uuid, schemaId], evolve),
    commit('raced', [uuid, schemaId], evolve),
  ]);
  expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 409]));
  expect(both.find(({ status }) => status === 409)?.errorType).toBe('CommitFailedException');
  const free = await Promise.all(
    ['1', '2', '3', '4'].map((value) =>
      commit('raced', [uuid], [{ action: 'set-properties', updates: { [value]: 'x' } }]),
    ),
  );
  expect(free.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const { body } = await catalog.send('GET', `${root}/db/tables/raced`);
  expect(Object.keys(body['metadata']?.['properties'] ?? {}).sort()).toEqual(['1', '2', '3', '4']);
  // The first, the evolved one and four more: what lost a race is gone.
  expect(await paths('main', 'db/raced/metadata/')).toHaveLength(6);
  expect(body['metadata']?.['metadata-log']).toHaveLength(5);
});

it('refuses commits to what is not there, not known or outside of the repository', async () => {
  await make('refusing');
  expect((await commit('none', [], [setProperty('x')])).errorType).toBe('NoSuchTableException');
  expect((await commit('refusing', [{ type: 'assert-create' }], [])).errorType).toBe('CommitFailedException');
  expect((await commit('refusing', [{ type: 'what' }], [])).errorType).toBe('BadRequestException');
  for (const location of [
    's3://other/x',
    's3://lake',
    's3://lake/',
    's3://lake/a/../b',
    'file:///x',
    's3://lake/x/',
  ]) {
    expect((await commit('refusing', [], [{ action: 'set-location', location }])).errorType).toBe(
      'BadRequestException',
    );
  }
  expect((await make('bad', { location: 's3://other/main/x' })).message).toContain('s3://lake/<path>');
  for (const name of ['', 'a/b', '..', '_iceberg', 'x'.repeat(256), 'a\u0000']) {
    expect((await make(name)).errorType).toBe('BadRequestException');
  }
  expect(await paths('main', 'db/_iceberg/tables/b')).toEqual([]);
});

it('is read-only on whatever is not a branch', async () => {
  const head = await catalog.commit('main');
  for (const ref of [head, 'v0', 'main~0', 'main@', 'main@{0}']) {
    const on = `/r.lake.${encodeURIComponent(ref)}/namespaces`;
    const answers = [
      await catalog.send('POST', on, { namespace: ['new'] }),
      await make('t2', {}, `${on}/db`),
      await catalog.send('POST', `${on}/db/tables/t`, { requirements: [], updates: [setProperty('x')] }),
      await catalog.send('DELETE', `${on}/db/tables/t`),
    ];
    expect(answers.map(({ errorType }) => errorType)).toEqual(Array(4).fill('ForbiddenException'));
  }
  const shown = await catalog.send('GET', `/r.lake.${head}/namespaces/db/tables/t`);
  const main = await catalog.send('GET', `${root}/db/tables/t`);
  expect([shown.status, shown.body['metadata']]).toEqual([200, main.body['metadata']]);
  expect((await catalog.send('GET', '/r.lake.none/namespaces/db/tables/t')).errorType).toBe(
    'NoSuchNamespaceException',
  );
});

it('lists in pages, in whichever warehouse', async () => {
  for (const name of ['p1', 'p2', 'p3']) {
    await catalog.send('POST', '/namespaces', { namespace: ['lake', 'dev', name] });
  }
  const first = await catalog.send('GET', '/r.lake/namespaces?parent=dev&pageSize=2');
  expect(first.body['namespaces']).toEqual([
    ['dev', 'p1'],
    ['dev', 'p2'],
  ]);
  const token = first.body['next-page-token'];
  const next = await catalog.send('GET', `/r.lake/namespaces?parent=dev&pageSize=2&pageToken=${token}`);
  expect(next.body).toEqual({ namespaces: [['dev', 'p3']] });
  expect((await catalog.send('GET', '/namespaces')).body['namespaces']).toEqual([['lake'], ['other']]);
  const refs: string[][] = [];
  let page = '';
  do {
    const { body } = await catalog.send('GET', `/r.lake/namespaces?pageSize=2&pageToken=${page}`);
    refs.push(...(body['namespaces'] as unknown as string[][]));
    page = body['next-page-token'] ?? '';
  } while (page !== '');
  expect(refs).toEqual([['dev'], ['main'], ['v0']]);
  expect((await catalog.send('GET', '/r.lake/namespaces?pageSize=0')).errorType).toBe('BadRequestException');
});

it('namespaces keep properties, and are dropped only when empty', async () => {
  const path = `${root}/props`;
  const namespace = { namespace: ['props'], properties: { a: '1', b: '2' } };
  await catalog.send('POST', root, namespace);
  expect((await catalog.send('POST', root, namespace)).errorType).toBe('AlreadyExistsException');
  const changed = await catalog.send('POST', `${path}/properties`, {
    updates: { c: '3' },
    removals: ['a', 'z'],
  });
  expect(changed.body).toEqual({ updated: ['c'], removed: ['a'], missing: ['z'] });
  expect((await catalog.send('GET', path)).body).toEqual({
    namespace: ['props'],
    properties: { b: '2', c: '3', location: 's3://lake/props' },
  });
  await make('inner', {}, path);
  expect((await catalog.send('DELETE', path)).errorType).toBe('NamespaceNotEmptyException');
  await catalog.send('DELETE', `${path}/tables/inner?purgeRequested=true`);
  expect(await paths('main', 'props/')).toEqual([]);
  expect((await catalog.send('DELETE', path)).status).toBe(204);
  expect((await catalog.send('GET', path)).errorType).toBe('NoSuchNamespaceException');
  expect((await make('t', {}, path)).errorType).toBe('NoSuchNamespaceException');
  expect((await catalog.send('POST', '/namespaces', { namespace: ['lake', 'feature'] })).errorType).toBe(
    'BadRequestException',
  );
});

it('a renamed table keeps its files; its old name gets a folder of its own', async () => {
  await make('old');
  const rename = (source: string, name: string, ref = 'main') =>
    catalog.send('POST', '/tables/rename', {
      source: { namespace: ['lake', 'main', 'db'], name: source },
      destination: { namespace: ['lake', ref, 'db'], name },
    });
  expect((await rename('old', 'new')).status).toBe(204);
  expect((await rename('old', 'newer')).errorType).toBe('NoSuchTableException');
  expect((await rename('new', 'other', 'dev')).errorType).toBe('BadRequestException');
  const renamed = await catalog.send('GET', `${root}/db/tables/new`);
  expect(renamed.body['metadata']?.['location']).toBe('s3://lake/db/old');
  const again = await make('old');
  expect(again.body['metadata']?.['location']).toMatch(/^s3:\/\/lake\/db\/old-[0-9a-f]{8}$/);
  expect((await rename('new', 'old')).errorType).toBe('AlreadyExistsException');
});

it('registers a table whose metadata is there', async () => {
  const made = await make('dropped');
  await catalog.send('DELETE', `${root}/db/tables/dropped`);
  const location = made.body['metadata-location'];
  const register = (name: string, at: string | undefined) =>
    catalog.send('POST', `${root}/db/register`, { name, 'metadata-location': at });
  const again = await register('again', location);
  expect([again.status, again.body['metadata']]).toEqual([200, made.body['metadata']]);
  expect((await register('again', location)).errorType).toBe('AlreadyExistsException');
  expect((await register('more', 's3://lake/db/none.metadata.json')).errorType).toBe('NotFoundException');
});

it('asks for the rights on the objects that tables are', async () => {
  const object = (path: string): string => `arn:svc:fs:::repository/lake/object/${path}`;
  const reader = await catalog.createUser('reader', [
    { effect: 'allow', action: ['fs:ReadObject'], resource: object('db/*') },
  ]);
  const writer = await catalog.createUser('writer', [
    { effect: 'allow', action: ['fs:ReadObject', 'fs:WriteObject'], resource: object('mine/*') },
  ]);
  const as = async (key: typeof reader, method: string, path: string, body?: object) =>
    (await catalog.send(method, path, body, key)).status;
  expect(await as(reader, 'GET', `${root}/db/tables/t`)).toBe(200);
  expect(await as(reader, 'POST', `${root}/db/tables/t`, { requirements: [], updates: [] })).toBe(403);
  expect(await as(reader, 'DELETE', `${root}/db/tables/t`)).toBe(403);
  expect(await as(reader, 'GET', `${root}/db/tables`)).toBe(403);
  expect(await as(reader, 'POST', root, { namespace: ['mine'] })).toBe(403);
  // What may not be known is refused alike, whether it is there or not.
  expect(await as(reader, 'GET', '/namespaces/other%1Fmain%1Fdb/tables/t')).toBe(403);
  expect(await as(reader, 'GET', '/namespaces/nowhere%1Fmain%1Fdb/tables/t')).toBe(403);
  expect(await as(writer, 'POST', root, { namespace: ['mine'] })).toBe(200);
  expect(await as(writer, 'POST', `${root}/mine/tables`, { name: 't', schema })).toBe(200);
  expect(await as(writer, 'GET', `${root}/db/tables/t`)).toBe(403);
  expect(await as(writer, 'DELETE', `${root}/mine/tables/t?purgeRequested=true`)).toBe(403);
  // A table of one's own whose files lie where one may not write.
  const elsewhere = { name: 'u', schema, location: 's3://lake/db/stolen' };
  expect(await as(writer, 'POST', `${root}/mine/tables`, elsewhere)).toBe(403);
});

it('shows no metadata that the caller may not read, whatever a pointer says', async () => {
  const object = (path: string): string => `arn:svc:fs:::repository/lake/object/${path}`;
  const liar = await catalog.createUser('liar', [
    {
      effect: 'allow',
      action: ['fs:ReadObject', 'fs:WriteObject', 'fs:DeleteObject'],
      resource: object('lies/*'),
    },
  ]);
  expect((await catalog.send('POST', root, { namespace: ['lies'] }, liar)).status).toBe(200);
  const secret = (await make('secret')).body['metadata-location'];
  const { engine } = catalog;
  await engine.objects.upload({
    repository: 'lake',
    branch: 'main',
    path: 'lies/_iceberg/tables/t.json',
    body: Buffer.from(JSON.stringify({ 'metadata-location': secret })),
  });
  const table = `${root}/lies/tables/t`;
  const refused = async (method: string, path: string, body?: object): Promise<void> => {
    const { status, body: said } = await catalog.send(method, path, body, liar);
    expect([method, path, status]).toEqual([method, path, 403]);
    expect(JSON.stringify(said)).not.toContain('table-uuid');
  };
  await refused('GET', table);
  await refused('GET', `${table}/credentials`);
  await refused('POST', table, { requirements: [], updates: [setProperty('b')] });
  await refused('DELETE', `${table}?purgeRequested=true`);
  const again = { name: 'u', 'metadata-location': secret };
  await refused('POST', `${root}/lies/register`, again);
  expect((await catalog.send('GET', table)).status).toBe(200);
});

it('refuses bodies and paths that make no sense', async () => {
  const raw = async (body: string): Promise<number> => {
    const basic = Buffer.from(`${adminKey.accessKeyId}:${adminKey.secretAccessKey}`).toString('base64');
    const headers = { authorization: `Basic ${basic}` };
    return (await fetch(`${catalog.endpoint}/iceberg/v1${root}`, { method: 'POST', headers, body })).status;
  };
  expect(await raw('{')).toBe(400);
  expect(await raw('[]')).toBe(400);
  expect(await raw('['.repeat(100_000))).toBe(400);
  expect(await raw('{"namespace":"db"}')).toBe(400);
  expect(await raw(`{"namespace":["x"],"properties":{"__proto__":1}}`)).toBe(400);
  expect((await catalog.send('GET', '/nothing')).errorType).toBe('NotFoundException');
  expect((await catalog.send('GET', '/namespaces/%E0%A4%A')).errorType).toBe('BadRequestException');
});
