import { afterAll, beforeAll, expect, test } from 'vitest';
import { memEngine } from './mem-engine.ts';
import { authorization, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';

/**
 * What an unmodified lakectl 1.84 sends, call by call, as seen on the wire. Building it takes minutes, so its calls are
 * repeated here instead.
 */

let api: RunningApi;

beforeAll(async () => {
  api = await startApi(memEngine);
});

afterAll(() => api.stop());

interface Answer {
  readonly status: number;
  readonly body: {
    readonly id?: string;
    readonly results?: readonly Readonly<Record<string, unknown>>[];
    readonly version_config?: { readonly version_context?: string };
  };
  readonly text: string;
  readonly headers: Headers;
}

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const response = await fetch(api.url + path, {
    method,
    headers: {
      authorization,
      'user-agent': 'lakectl/dev/linux/unknown/unknown',
      ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json';
  const parsed = isJson ? (JSON.parse(text) as Answer['body']) : {};
  return { status: response.status, body: parsed, text, headers: response.headers };
}

test('no command begins with a warning', async () => {
  const { status, body } = await call('GET', '/config');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    version_config: { version: '0.1.0' },
    storage_config: { blockstore_type: 'mem' },
  });
  // lakectl warns before every command when this is anything else.
  const context = body.version_config?.version_context;
  expect([undefined, '', 'lakeFS']).toContain(context);
  const events = [{ class: 'lakectl', name: 'repo_create', count: 1 }];
  expect((await call('POST', '/statistics', { events })).status).toBe(204);
});

test('a tour from the repository to the tag', async () => {
  const repository = {
    default_branch: 'main',
    name: 'tour',
    sample_data: false,
    storage_namespace: 'mem://tour',
  };
  expect((await call('POST', '/repositories', repository)).status).toBe(201);
  expect((await call('POST', '/repositories/tour/branches', { name: 'dev', source: 'main' })).status).toBe(
    201,
  );
  for (const path of ['a.txt', 'dir/b.txt']) {
    const form = new FormData();
    form.set('content', new Blob(['hello\n'], { type: 'application/octet-stream' }), 'a.txt');
    const target = `/repositories/tour/branches/dev/objects?path=${encodeURIComponent(path)}`;
    const { status, body } = await call('POST', target, form);
    expect([status, body]).toMatchObject([201, { path, size_bytes: 6 }]);
  }
  const refs = '/repositories/tour/refs';
  const listed = await call('GET', `${refs}/dev/objects/ls?after=&delimiter=%2F&prefix=`);
  expect(listed.body.results?.map((entry) => [entry['path_type'], entry['path']])).toEqual([
    ['object', 'a.txt'],
    ['common_prefix', 'dir/'],
  ]);
  expect((await call('GET', `${refs}/dev/objects?path=a.txt&presign=false`)).text).toBe('hello\n');
  const stat = await call('GET', `${refs}/dev/objects/stat?path=a.txt&presign=false&user_metadata=true`);
  expect(stat.body).toMatchObject({ checksum: 'b1946ac92492d2347c6235b4d2611184' });
  const uncommitted = await call('GET', '/repositories/tour/branches/dev/diff?after=&amount=50');
  expect(uncommitted.body.results).toHaveLength(2);
  const commit = { allow_empty: false, message: 'first', metadata: { k: 'v' } };
  expect((await call('POST', '/repositories/tour/branches/dev/commits', commit)).status).toBe(201);
  expect((await call('GET', `${refs}/main/diff/dev?after=&prefix=`)).body.results).toHaveLength(2);
  const merge = {
    allow_empty: false,
    force: false,
    message: '',
    metadata: {},
    squash_merge: false,
    strategy: '',
  };
  expect((await call('POST', `${refs}/dev/merge/main`, merge)).status).toBe(200);
  const log = await call(
    'GET',
    `${refs}/main/commits?after=&amount=1000&first_parent=false&limit=false&stop_at=`,
  );
  expect(log.body.results).toHaveLength(3);
  expect((await call('POST', '/repositories/tour/tags', { id: 'v1', ref: 'main' })).status).toBe(201);
  expect((await call('GET', '/repositories/tour/tags?after=&amount=100&prefix=')).body.results).toHaveLength(
    1,
  );
});

test('branch protection is changed with the tag of what was read', async () => {
  const settings = '/repositories/tour/settings/branch_protection';
  const read = await call('GET', settings);
  const change = await call('PUT', settings, [{ pattern: 'rel*' }], {
    'if-match': read.headers.get('etag') ?? '',
  });
  expect(change.status).toBe(204);
  expect((await call('GET', settings)).text).toContain('rel*');
});

test('refs are dumped by a task that is asked for', async () => {
  const begun = await call('POST', '/repositories/tour/dump');
  expect(begun.status).toBe(202);
  const status = await call('GET', `/repositories/tour/dump?task_id=${begun.body.id}`);
  expect(status.status).toBe(200);
  expect((await call('GET', '/repositories')).body.results).toHaveLength(1);
});
