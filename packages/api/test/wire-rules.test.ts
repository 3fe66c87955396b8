import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '@svc/contract';
import type { Operation } from '@svc/contract';
import { EngineError, KvError } from '@svc/engine';
import { authorization, basic, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';
import { stubEngine } from './stub-engine.ts';

let api: RunningApi;
let reached: unknown[] = [];

function remember(...given: unknown[]): void {
  reached.push(given[0]);
}

const emptyPage = { items: [], hasMore: false, nextOffset: '' };

beforeAll(async () => {
  api = await startApi(() =>
    stubEngine({
      'branches.list': (options: object) => {
        remember(options);
        return emptyPage;
      },
      'branches.get': (options: { branch: string }) => {
        remember(options);
        if (options.branch === 'boom') throw new Error('a secret detail');
        throw new EngineError('not_found', 'branch not found', { subject: 'branch' });
      },
      'branches.create': () => ({ id: 'b', commitId: 'c0ffee', hidden: false }),
      'branches.reset': remember,
      'commits.log': (options: object) => {
        remember(options);
        return emptyPage;
      },
      'repositories.delete': remember,
      'repositories.setMetadata': remember,
      'protection.set': remember,
      'tags.list': () => {
        throw new KvError('slow_down', 'x');
      },
    }),
  );
});

afterAll(() => api.stop());

async function ask(
  method: string,
  path: string,
  options: { body?: string; headers?: Record<string, string>; anonymous?: boolean } = {},
) {
  reached = [];
  const response = await fetch(api.url + path, {
    method,
    headers: { ...(options.anonymous !== true && { authorization }), ...options.headers },
    ...(options.body !== undefined && { body: options.body }),
  });
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = text;
  }
  return {
    status: response.status,
    body,
    headers: response.headers,
    message: (body as { message?: string }).message,
  };
}

const json = { 'content-type': 'application/json' };

test.each([
  ['GET', '/nothing'],
  ['GET', ''],
  ['GET', '/'],
  ['GET', '/repositories/'],
  ['GET', '/repositories/r/branches/'],
  ['PATCH', '/repositories'],
  ['OPTIONS', '/repositories'],
  ['GET', '/healthcheck/'],
])('%s %s is no endpoint', async (method, path) => {
  const { status, body, headers } = await ask(method, path, { anonymous: true });
  expect([status, body]).toEqual([404, { message: 'invalid API endpoint' }]);
  expect(headers.get('x-request-id')).toBeNull();
  expect(headers.get('content-type')).toBe('application/json');
});

/** Every path of the contract with one of its parameters left empty. */
const emptied = (Object.values(operations) as Operation[]).flatMap(({ method, path, aliases }) =>
  [path, ...aliases.map((alias) => alias.path)].flatMap((template) =>
    [...template.matchAll(/\{(\w+)\}/g)].map(({ 0: placeholder, 1: name = '', index }) => ({
      method,
      path: (template.slice(0, index) + template.slice(index + placeholder.length)).replaceAll(
        /\{\w+\}/g,
        'abc',
      ),
      name,
      atEnd: index + placeholder.length === template.length,
    })),
  ),
);

test('an empty path parameter is refused by name, and at the end it is a trailing slash', async () => {
  expect(emptied.length).toBeGreaterThan(150);
  for (const { method, path, name, atEnd } of emptied) {
    const { status, message } = await ask(method, path, { anonymous: true });
    expect([method, path, status]).toEqual([method, path, atEnd ? 404 : 400]);
    if (!atEnd && method !== 'HEAD')
      expect(message).toBe(`parameter "${name}" in path has an error: empty value is not allowed`);
  }
});

test('only objects have HEAD', async () => {
  const response = await fetch(`${api.url}/healthcheck`, { method: 'HEAD' });
  expect(response.status).toBe(404);
});

test('what has arrived is validated before authentication, authentication comes before the operation', async () => {
  expect((await ask('GET', '/repositories?amount=x', { anonymous: true })).status).toBe(400);
  const broken = await ask('POST', '/repositories', { body: '{', headers: json, anonymous: true });
  expect(broken.status).toBe(400);
  expect(broken.headers.get('x-request-id')).toBeNull();
  const sound = await ask('POST', '/repositories', {
    body: '{"name":"repo","storage_namespace":"mem://x"}',
    headers: json,
    anonymous: true,
  });
  expect([sound.status, sound.message]).toEqual([401, 'error authenticating request']);
  expect(sound.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(sound.headers.get('www-authenticate')).toBeNull();
});

test('a wrong secret is answered like an unknown key', async () => {
  const [wrong, unknown] = await Promise.all(
    [basic('AKIAJTESTADMINKEY', 'no'), basic('AKIAJNOBODY', 'no')].map(async (header) => {
      const response = await fetch(`${api.url}/user`, { headers: { authorization: header } });
      return `${response.status} ${await response.text()}`;
    }),
  );
  expect(wrong).toBe('401 {"message":"error authenticating request"}');
  expect(unknown).toBe(wrong);
});

test.each([
  ['amount=1001', 'amount', 'number must be at most 1000'],
  ['amount=-2', 'amount', 'number must be at least -1'],
  ['amount=abc', 'amount', 'value "abc": expected an integer'],
  ['amount=1.5', 'amount', 'value "1.5": expected an integer'],
  ['amount=99999999999999999999', 'amount', 'value "99999999999999999999": expected an integer'],
  ['amount=', 'amount', 'empty value is not allowed'],
  ['amount=1&amount=2', 'amount', 'given more than once'],
  ['show_hidden=yes', 'show_hidden', 'value "yes": expected true or false'],
  ['show_hidden', 'show_hidden', 'empty value is not allowed'],
  ['prefix=%ff', 'prefix', 'the percent-encoding is not valid UTF-8'],
  ['prefix=%zz', 'prefix', 'the percent-encoding is not valid UTF-8'],
  ['prefix=a&prefix=b', 'prefix', 'given more than once'],
])('query ?%s is refused by name', async (query, name, reason) => {
  const { status, message } = await ask('GET', `/repositories/r/branches?${query}`, { anonymous: true });
  expect([status, message]).toEqual([400, `parameter "${name}" in query has an error: ${reason}`]);
});

test('query values are read as documented', async () => {
  await ask('GET', '/repositories/r/branches?prefix=&after=a+b%2Fc&amount=7&show_hidden=T&nonsense=%zz');
  expect(reached).toEqual([
    { repository: 'r', prefix: undefined, after: 'a b/c', amount: 7, showHidden: true },
  ]);
  await ask(
    'GET',
    '/repositories/r/refs/main/commits?objects=a,b&objects=c&since=2024-02-29T00:00:00Z&stop_at=',
  );
  expect(reached[0]).toMatchObject({
    objects: ['a,b', 'c'],
    since: Date.UTC(2024, 1, 29),
    stopAt: undefined,
    amount: 100,
  });
});

test.each(['2023-02-29T00:00:00Z', '2024-01-01', 'yesterday', '2024-01-01T25:00:00Z', '1'])(
  'since=%s is no time',
  async (since) => {
    const { status, message } = await ask('GET', `/repositories/r/refs/main/commits?since=${since}`);
    expect(status).toBe(400);
    expect(message).toContain('parameter "since" in query has an error');
  },
);

test('an empty element of a list parameter is refused', async () => {
  const { status } = await ask('GET', '/repositories/r/refs/main/commits?objects=a&objects=');
  expect(status).toBe(400);
});

test('path parameters are decoded, an escaped slash is a character', async () => {
  await ask('GET', '/repositories/r/branches/a%2Fb%20c');
  expect(reached).toEqual([{ repository: 'r', branch: 'a/b c' }]);
  const long = 'x'.repeat(3000);
  await ask('GET', `/repositories/r/branches/${long}`);
  expect(reached).toEqual([{ repository: 'r', branch: long }]);
});

test('a path that cannot be decoded is 400', async () => {
  const { status, message } = await ask('GET', '/repositories/r/branches/%ff');
  expect([status, message]).toEqual([400, 'the path is not validly encoded']);
});

const bodies: [string, string | undefined, Record<string, string>, string][] = [
  ['nothing', undefined, json, 'value is required but missing'],
  ['an empty body', '', json, 'value is required but missing'],
  ['no JSON', '{"name":', json, 'not valid JSON'],
  [
    'another type',
    '{}',
    { 'content-type': 'text/xml' },
    'header Content-Type has unexpected value "text/xml"',
  ],
  ['a list', '[]', json, 'expected an object'],
  ['null', 'null', json, 'expected an object'],
  ['a missing field', '{"source":"main"}', json, 'field "name": value is required but missing'],
  ['null for a field', '{"name":null,"source":"main"}', json, 'field "name": value is required but missing'],
  ['a number', '{"name":1,"source":"main"}', json, 'field "name": expected a string'],
  [
    'text for a flag',
    '{"name":"a","source":"b","force":"true"}',
    json,
    'field "force": expected true or false',
  ],
  ['half a character', '{"name":"\\ud800","source":"b"}', json, 'field "name": not valid Unicode'],
];

test.each(bodies)('a body with %s is refused by field', async (_case, body, headers, reason) => {
  const { status, message } = await ask('POST', '/repositories/r/branches', {
    ...(body !== undefined && { body }),
    headers,
  });
  expect([status, message]).toEqual([400, `request body has an error: ${reason}`]);
});

test('nested fields are named with their place', async () => {
  const { message } = await ask('POST', '/repositories/r/branches/main/import', {
    headers: json,
    body: JSON.stringify({
      paths: [
        { type: 'common_prefix', path: 'mem://a', destination: '' },
        { type: 'x', path: '', destination: '' },
      ],
      commit: { message: '' },
    }),
  });
  expect(message).toBe(
    'request body has an error: field "paths[1].type": expected one of "common_prefix", "object"',
  );
});

test('a media type with parameters and unknown fields are fine; null is absence', async () => {
  const { status } = await ask('PUT', '/repositories/r/branches/main', {
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
    body: '{"type":"reset","path":null,"unknown":{"a":[1]},"force":null}',
  });
  expect(status).toBe(204);
  expect(reached).toEqual([
    {
      repository: 'r',
      branch: 'main',
      type: 'reset',
      path: undefined,
      force: undefined,
      actor: expect.objectContaining({ userId: 'admin' }),
    },
  ]);
});

test('a Content-Type that is no media type is 400', async () => {
  const { status, message } = await ask('POST', '/repositories/r/branches', {
    headers: { 'content-type': 'weird' },
    body: '{}',
  });
  expect([status, message]).toEqual([
    400,
    'request body has an error: header Content-Type has unexpected value "weird"',
  ]);
});

test('bytes that are not UTF-8 are refused', async () => {
  const response = await fetch(`${api.url}/repositories/r/branches`, {
    method: 'POST',
    headers: { authorization, ...json },
    body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  });
  expect(await response.json()).toEqual({ message: 'request body has an error: not valid UTF-8' });
});

test('metadata keys are just keys, whatever they are called', async () => {
  const { status } = await ask('POST', '/repositories/r/metadata', {
    headers: json,
    body: '{"metadata":{"__proto__":"a","constructor":"b","gone":null}}',
  });
  expect(status).toBe(204);
  const { metadata } = reached[0] as { metadata: Record<string, string> };
  expect(Object.entries(metadata)).toEqual([
    ['__proto__', 'a'],
    ['constructor', 'b'],
  ]);
});

test('an empty If-Match is passed on by the one operation that knows it', async () => {
  await ask('PUT', '/repositories/r/settings/branch_protection', {
    headers: { ...json, 'if-match': '' },
    body: '[]',
  });
  const actor: unknown = expect.objectContaining({ userId: 'admin' });
  expect(reached).toEqual([{ repository: 'r', patterns: [], ifMatch: '', actor }]);
  const upload = await ask('POST', '/repositories/r/branches/b/objects?path=a', {
    headers: { 'if-none-match': '' },
    body: 'x',
  });
  expect(upload.message).toBe('parameter "if-none-match" in header has an error: empty value is not allowed');
});

test('answers have the documented headers', async () => {
  const list = await ask('GET', '/repositories/r/branches');
  expect(list.body).toEqual({
    pagination: { has_more: false, next_offset: '', results: 0, max_per_page: 1000 },
    results: [],
  });
  expect(list.headers.get('content-type')).toBe('application/json');
  expect(list.headers.get('x-content-type-options')).toBe('nosniff');
  const again = await ask('GET', '/repositories/r/branches', { headers: { 'x-request-id': 'mine' } });
  expect(again.headers.get('x-request-id')).not.toBe('mine');
  expect(again.headers.get('x-request-id')).not.toBe(list.headers.get('x-request-id'));
  const deleted = await ask('DELETE', '/repositories/r');
  expect([deleted.status, deleted.body, deleted.headers.get('content-type')]).toEqual([204, '', null]);
  const created = await ask('POST', '/repositories/r/branches', {
    headers: json,
    body: '{"name":"b","source":"main"}',
  });
  expect([created.status, created.body]).toEqual([201, 'c0ffee']);
  expect(created.headers.get('content-type')).toBe('text/plain; charset=utf-8');
});

test('errors become statuses in one place', async () => {
  const missing = await ask('GET', '/repositories/r/branches/x');
  expect([missing.status, missing.message]).toEqual([404, 'branch not found']);
  const throttled = await ask('GET', '/repositories/r/tags');
  expect([throttled.status, throttled.message]).toEqual([503, 'Throughput exceeded. Slow down and retry']);
});

test('a failure of ours shows a request id and nothing else', async () => {
  const { status, message, headers } = await ask('GET', '/repositories/r/branches/boom');
  expect(status).toBe(500);
  expect(message).toBe(`internal server error, request id ${headers.get('x-request-id')}`);
  expect(api.failures.at(-1)).toMatchObject({ message: 'a secret detail' });
});

test('open operations do not look at credentials', async () => {
  for (const header of ['Basic Og==', 'Bearer nonsense', 'x']) {
    const { status } = await ask('GET', '/setup', { headers: { authorization: header }, anonymous: true });
    expect(status).toBe(200);
  }
});

test('neutral names serve the same operation', async () => {
  const [neutral, known] = await Promise.all([ask('GET', '/setup'), ask('GET', '/setup_lakefs')]);
  expect(neutral.body).toEqual(known.body);
  expect(neutral.body).toMatchObject({ state: 'initialized', login_config: { RBAC: 'internal' } });
});

test('a finished request is reported once', async () => {
  api.finished.length = 0;
  await ask('GET', '/repositories/r/branches');
  expect(api.finished).toHaveLength(1);
  expect(api.finished[0]).toMatchObject({
    operationId: 'listBranches',
    status: 200,
    username: 'admin',
    authMethod: 'basic',
    accessKeyId: 'AKIAJTESTADMINKEY',
    params: { repository: 'r' },
  });
});
