import {
  decodeEntry,
  decodeStagedEntry,
  encodeEntry,
  encodeStagedEntry,
  entryIdentity,
  type Entry,
} from '@svc/encoding';
import { createMemStore, type KvStore } from '@svc/kv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

/** What the next write of an entry stores instead: data of other servers may say anything. */
let forgery: { readonly key: string; readonly change: Partial<Entry> } | undefined;

const kv = new Proxy(createMemStore(), {
  get(store, name) {
    const own: unknown = Reflect.get(store, name);
    if (name !== 'set') return typeof own === 'function' ? (own.bind(store) as unknown) : own;
    return (...[partition, key, value]: Parameters<KvStore['set']>) =>
      store.set(partition, key, Buffer.from(key).toString() === forgery?.key ? forged(key, value) : value);
  },
});

function forged(key: Uint8Array, value: Uint8Array): Buffer {
  const entry = { ...decodeEntry(decodeStagedEntry(value).data), ...forgery?.change };
  return encodeStagedEntry(key, entryIdentity(entry), encodeEntry(entry));
}

let gateway: TestGateway;
let s3: S3TestClient;

beforeAll(async () => {
  gateway = await composeGateway({ kv });
  await gateway.createRepository('repo');
  s3 = gateway.client();
});
afterAll(() => gateway.close());

async function forge(path: string, change: Partial<Entry>): Promise<void> {
  forgery = { key: path, change };
  await s3.put(`/repo/main/${path}`, 'content');
  forgery = undefined;
}

const line = 'a\r\nX-Split: yes';

describe('what an entry holds', () => {
  it('becomes no header but the five stored ones', async () => {
    await forge('forged', {
      metadata: {
        '::svc::Set-Cookie': 'session=stolen',
        '::svc::Location': 'https://elsewhere.example',
        '::svc::Content-Length': '1',
        '::svc::Transfer-Encoding': 'chunked',
        '::svc::ETag': 'x',
        '::svc::cache-control': 'max-age=1',
        '::svc::': 'x',
        '::svc::a b': 'x',
        '::svc::Access-Control-Allow-Origin': '*',
        '::lakefs::Set-Cookie': 'x',
        '::svc::Content-Language': 'de',
      },
    });
    for (const reply of [await s3.get('/repo/main/forged'), await s3.head('/repo/main/forged')]) {
      expect(reply.status).toBe(200);
      expect(reply.headers['content-length']).toBe('7');
      expect(reply.headers['content-language']).toBe('de');
      for (const name of ['set-cookie', 'location', 'transfer-encoding', 'access-control-allow-origin'])
        expect(reply.headers[name]).toBeUndefined();
      expect(reply.headers['cache-control']).toBeUndefined();
      expect(Object.keys(reply.headers).filter((name) => name.startsWith('x-amz-meta'))).toEqual([]);
    }
  });

  it.each([
    { metadata: { '::svc::Cache-Control': line } },
    { metadata: { '::svc::Expires': 'a\0b' } },
    { metadata: { '::svc::Content-Disposition': 'a\u007fb' } },
    { metadata: { 'X-Amz-Meta-a': line, 'X-Amz-Meta-b': '\0', 'X-Amz-Meta-c\r\nd': 'x' } },
    { contentType: line },
    { contentType: '\0' },
    { etag: line },
    { etag: 'x"\u2028\0' },
    { lastModified: { seconds: 9_000_000_000_000_000, nanos: 0 } },
    { lastModified: { seconds: -9_000_000_000_000_000, nanos: 0 } },
  ])('is never an error or a second header when read (%#)', async (change) => {
    await forge('odd', change);
    for (const reply of [
      await s3.get('/repo/main/odd'),
      await s3.head('/repo/main/odd'),
      await s3.get('/repo/main/odd', { headers: { range: 'bytes=1-2' } }),
      await s3.get('/repo', { query: 'list-type=2&prefix=main%2Fodd' }),
      await s3.put('/repo/main/odd-copy', '', { headers: { 'x-amz-copy-source': 'repo/main/odd' } }),
    ]) {
      expect(reply.status).toBeLessThan(300);
      expect(reply.headers['x-split']).toBeUndefined();
      expect(reply.headers['cache-control']).toBeUndefined();
    }
  });

  it('is an error of its own when it has a negative size', async () => {
    await forge('negative', { size: -5 });
    const reply = await s3.get('/repo/main/negative');
    expect([reply.status, reply.code]).toEqual([500, 'InternalError']);
    expect((await s3.head('/repo/main/negative')).status).toBe(500);
    await s3.delete('/repo/main/negative');
  });
});

describe('what a client says of an object', () => {
  it.each(['%0d%0ax-split:%20yes', '%00', 'a%20b', 'x'.repeat(65)])(
    'cannot be a storage class of %s',
    async (text) => {
      const value = decodeURIComponent(text);
      for (const [method, query] of [
        ['PUT', []],
        ['POST', [['uploads', '']]],
      ] as const) {
        const url = s3.presign(method, '/repo/main/classified', {
          query: [
            ...query.map(([name, empty]): [string, string] => [name, empty]),
            ['x-amz-storage-class', value],
          ],
        });
        const reply = await s3.raw(method, url, { host: `127.0.0.1:${gateway.port}` });
        expect([reply.status, reply.code]).toEqual([400, 'InvalidStorageClass']);
      }
    },
  );
});

describe('overrides of response headers', () => {
  it.each(['%00', '%0d', '%0a', '%0d%0aX-Split:+yes', '%01', '%1f', '%7f', 'a%0bb'])(
    'with %s are refused',
    async (value) => {
      await s3.put('/repo/main/x', 'content');
      for (const name of ['content-type', 'expires', 'content-disposition', 'cache-control'])
        for (const method of ['GET', 'HEAD']) {
          const decoded = decodeURIComponent(value.replaceAll('+', ' '));
          const url = s3.presign(method, '/repo/main/x', { query: [[`response-${name}`, decoded]] });
          const reply = await s3.raw(method, url, { host: `127.0.0.1:${gateway.port}` });
          expect(reply.status).toBe(400);
          if (method === 'GET') expect(reply.code).toBe('InvalidArgument');
        }
    },
  );

  it('may hold anything else', async () => {
    await s3.put('/repo/main/x', 'content');
    const value = 'attachment; filename="\tBericht ä €.txt"';
    const url = s3.presign('GET', '/repo/main/x', { query: [['response-content-disposition', value]] });
    const reply = await s3.raw('GET', url, { host: `127.0.0.1:${gateway.port}` });
    expect(Buffer.from(reply.headers['content-disposition'] ?? '', 'latin1').toString()).toBe(value);
  });
});

describe('a stored page', () => {
  it.each([
    ['text/html', true],
    ['image/svg+xml', true],
    ['application/pdf', false],
  ])('of type %s does nothing in a browser', async (type, sandboxed) => {
    await s3.put('/repo/main/page', '<form>', { headers: { 'content-type': type } });
    const { headers } = await s3.get('/repo/main/page');
    const rules = (headers['content-security-policy'] ?? '').toString().split('; ');
    expect(rules).toEqual(expect.arrayContaining(["default-src 'none'", "form-action 'none'"]));
    expect(rules.includes('sandbox')).toBe(sandboxed);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['x-frame-options']).toBe('SAMEORIGIN');
  });

  it('stays one whatever type a URL asks for', async () => {
    await s3.put('/repo/main/pdf', '<script>', { headers: { 'content-type': 'application/pdf' } });
    const url = s3.presign('GET', '/repo/main/pdf', { query: [['response-content-type', 'text/html']] });
    const reply = await s3.raw('GET', url, { host: `127.0.0.1:${gateway.port}` });
    expect(reply.headers['content-security-policy']).toContain('; sandbox');
  });
});

describe('answers without a body', () => {
  it('have none, and the headers of the object where they belong', async () => {
    await s3.put('/repo/main/x', 'content', { headers: { 'cache-control': 'max-age=9' } });
    const { etag = '' } = (await s3.head('/repo/main/x')).headers;
    const same = await s3.get('/repo/main/x', { headers: { 'if-none-match': etag } });
    expect([same.status, same.body.length, same.headers.etag]).toEqual([304, 0, etag]);
    expect(same.headers['content-length']).toBeUndefined();
    const failed = await s3.head('/repo/main/x', { headers: { 'if-match': '"other"' } });
    expect([failed.status, failed.body.length]).toEqual([412, 0]);
    const whole = await s3.get('/repo/main/x');
    const head = await s3.head('/repo/main/x');
    for (const name of ['etag', 'content-length', 'content-type', 'cache-control', 'last-modified'])
      expect(head.headers[name]).toBe(whole.headers[name]);
  });
});
