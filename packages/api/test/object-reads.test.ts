import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { checkedClient } from './checked-client.ts';
import type { Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi } from './start-api.ts';
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
  repository = `object-reads-${counter++}`;
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

const ranges: [string, number, string, string | null][] = [
  ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
  ['bytes=0-20', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=7-', 206, '789', 'bytes 7-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=-99999999999999999999', 206, '0123456789', 'bytes 0-9/10'],
  ['bytes=-0', 416, '', 'bytes */10'],
  ['bytes=10-', 416, '', 'bytes */10'],
  ['bytes=99999999999999999999999-', 416, '', 'bytes */10'],
  ['bytes=-', 416, '', null],
  ['bytes=5-2', 416, '', null],
  ['bytes=0-1,3-4', 416, '', null],
  ['bytes=a-b', 400, '', null],
  ['lines=1-2', 400, '', null],
];

test.each(ranges)('Range %s is %d', async (range, status, text, contentRange) => {
  await put('ten', '0123456789');
  const read = await ask('GET', `${refs()}?path=ten`, { headers: { range } });
  expect(read.status).toBe(status);
  if (status === 206) expect(read.text).toBe(text);
  else expect(typeof read.body.message).toBe('string');
  expect(read.headers.get('content-range')).toBe(contentRange);
  const head = await ask('HEAD', `${refs()}?path=ten`, { headers: { range } });
  expect([head.status, head.text]).toEqual([status, '']);
  if (status === 206) expect(head.headers.get('content-length')).toBe(String(text.length));
});

test('a pathological Range takes no time', async () => {
  await put('ten', '0123456789');
  const range = `bytes=${'1-1'.repeat(5000)}x`;
  const started = performance.now();
  expect((await ask('GET', `${refs()}?path=ten`, { headers: { range } })).status).toBe(400);
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('a range of an empty object is 416', async () => {
  await ask('POST', `${objects()}?path=empty`);
  expect((await ask('GET', `${refs()}?path=empty`, { headers: { range: 'bytes=-1' } })).status).toBe(416);
});

test('If-None-Match with the exact etag is 304, also with a range', async () => {
  await put('a', 'content');
  const etag = `"${md5('content')}"`;
  const same = await ask('GET', `${refs()}?path=a`, {
    headers: { 'if-none-match': etag, range: 'bytes=0-1' },
  });
  expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', null]);
  for (const other of ['*', `W/${etag}`, `${etag}, "x"`, md5('content')]) {
    expect((await ask('GET', `${refs()}?path=a`, { headers: { 'if-none-match': other } })).status).toBe(200);
  }
});

test('HEAD says what GET would, without a body', async () => {
  await put('a', 'content');
  const head = await ask('HEAD', `${refs()}?path=a`);
  expect([head.status, head.text, head.headers.get('content-length')]).toEqual([200, '', '7']);
  expect(head.headers.get('etag')).toBe(`"${md5('content')}"`);
  const missing = await ask('HEAD', `${refs()}?path=none`);
  expect([missing.status, missing.text]).toEqual([404, '']);
  const anonymous = await checkedClient(api.url, '')('HEAD', `${refs()}?path=a`);
  expect([anonymous.status, anonymous.text]).toEqual([401, '']);
});

test('stat shows metadata unless told not to', async () => {
  await ask('POST', `${objects()}?path=m`, { body: 'x', headers: { 'x-lakefs-meta-k': 'v' } });
  expect((await ask('GET', `${refs()}/stat?path=m`)).body.metadata).toEqual({ k: 'v' });
  expect((await ask('GET', `${refs()}/stat?path=m&user_metadata=false`)).body.metadata).toEqual({});
  const updated = await ask('PUT', `${objects()}/stat/user_metadata?path=m`, {
    json: { set: { other: '2' } },
  });
  expect([updated.status, updated.text]).toEqual([204, '']);
  expect((await ask('GET', `${refs()}/stat?path=m`)).body.metadata).toEqual({ other: '2' });
});

test('lists fold at the delimiter and page exactly', async () => {
  for (const path of ['file1', 'file2', 'file3', 'h/x', 'h/y']) await put(path);
  const seen: string[] = [];
  let after = '';
  for (let page = 0; page < 10; page++) {
    const { body } = await ask(
      'GET',
      `${refs()}/ls?delimiter=%2F&amount=1&after=${encodeURIComponent(after)}`,
    );
    seen.push(...body.results.map((item: { path: string }) => item.path));
    expect(body.pagination.results).toBe(body.results.length);
    if (!body.pagination.has_more) break;
    after = body.pagination.next_offset as string;
  }
  expect(seen).toEqual(['file1', 'file2', 'file3', 'h/']);
  const end = await ask('GET', `${refs()}/ls?delimiter=%2F&after=h%2F`);
  expect(end.body).toEqual({
    pagination: { has_more: false, next_offset: '', results: 0, max_per_page: 1000 },
    results: [],
  });
});

test('a listed page equals the stats of its objects', async () => {
  await ask('POST', `${objects()}?path=${encodeURIComponent('quote"\\\n')}`, {
    body: '1',
    headers: { 'x-lakefs-meta-a': '"', 'content-type': 'a/b' },
  });
  await put('\u{1F600}');
  const { body } = await ask('GET', `${refs()}/ls`);
  for (const item of body.results) {
    const stat = (await ask('GET', `${refs()}/stat?path=${encodeURIComponent(item.path)}`)).body;
    expect({ metadata: {}, ...item }).toEqual(stat);
  }
  expect(body.results.map((item: { path: string }) => item.path)).toEqual(['quote"\\\n', '\u{1F600}']);
  const prefixes = await ask('GET', `${refs()}/ls?user_metadata=false`);
  expect(prefixes.body.results[0]).not.toHaveProperty('metadata');
});
