import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { basic } from '../fuzz/callers.ts';
import type { FuzzRequest } from '../fuzz/fuzz-request.ts';
import { gatewayDomain } from '../fuzz/s3-requests.ts';
import { Wire } from '../fuzz/wire.ts';
import { AttackedServer, statusesOf } from './attacked-server.ts';

let attacked: AttackedServer;
let admin: string;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  admin = `authorization: ${basic(attacked.target.admin)}`;
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

/** What would delete, were it taken for a request of the administrator. */
const smuggled = (): string => `DELETE /api/v1/repositories/victim HTTP/1.1\r\nhost: x\r\n${admin}\r\n\r\n`;

const stranger = 'POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

test.each([
  ['two lengths', 'content-length: 2\r\ncontent-length: 200\r\n\r\n{}'],
  ['one length twice, listed', 'content-length: 2, 200\r\n\r\n{}'],
  ['length before chunks', 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['chunks before length', 'transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a coding with a tab', 'transfer-encoding:\tchunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a coding spelled otherwise', 'transfer-encoding: xchunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a coding after identity', 'transfer-encoding: identity, chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a space before the colon', 'transfer-encoding : chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a folded coding', 'transfer-encoding:\r\n chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n'],
  ['a negative length', 'content-length: -1\r\n\r\n'],
  ['a length with a sign', 'content-length: +2\r\n\r\n{}'],
  ['a length in hex', 'content-length: 0x2\r\n\r\n{}'],
  ['a length beyond counting', 'content-length: 99999999999999999999999\r\n\r\n{}'],
  ['a chunk size with a sign', 'transfer-encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n'],
  ['a chunk size beyond counting', 'transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n0\r\n\r\n'],
  ['a chunk that is longer than it says', 'transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n'],
  ['a bare line feed', 'x-a: b\ncontent-length: 2\r\n\r\n{}'],
  ['a bare carriage return', 'x-a: b\rcontent-length: 2\r\n\r\n{}'],
  ['a name with a space', 'content length: 2\r\n\r\n{}'],
  ['a zero byte', 'x-a: \u0000\r\ncontent-length: 2\r\n\r\n{}'],
])('a request with %s takes no other with it', async (_kind, rest) => {
  // A front that frames it otherwise would send the second as a body; the server must not take it for a request.
  const answers = statusesOf(await attacked.raw(`${stranger}${rest}${smuggled()}`));
  expect(answers.length === 0 || answers[0] === 400 || answers.length === 1).toBe(true);
  expect(answers).not.toContain(204);
});

test.each([
  ['no host', 'GET /api/v1/user HTTP/1.1\r\n\r\n', 400],
  ['an absolute target', 'GET http://evil.example/api/v1/user HTTP/1.1\r\nhost: x\r\n\r\n', undefined],
  ['a target of another host', 'GET //evil.example/api/v1/user HTTP/1.1\r\nhost: x\r\n\r\n', undefined],
  ['a tunnel', 'CONNECT evil.example:443 HTTP/1.1\r\nhost: x\r\n\r\n', undefined],
  ['an echo', `TRACE /api/v1/user HTTP/1.1\r\nhost: x\r\n\r\n`, undefined],
  ['the whole server', 'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n', undefined],
  [
    'an upgrade',
    'GET /api/v1/user HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    undefined,
  ],
  ['HTTP/2 in plain', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['an unknown method', 'HACK /api/v1/user HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  ['a lower-case method', 'delete /api/v1/repositories/victim HTTP/1.1\r\nhost: x\r\n\r\n', 400],
  [
    'an odd expectation',
    'PUT /victim/main/x HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\ncontent-length: 1\r\n\r\nx',
    undefined,
  ],
  ['nothing but noise', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', 400],
])('%s is refused or ignored', async (_kind, text, status) => {
  const answer = await attacked.raw(Buffer.from(text, 'latin1'));
  const [first] = statusesOf(answer);
  if (status !== undefined) expect(first).toBe(status);
  else expect(first === undefined || first === 200 || (first >= 400 && first < 500)).toBe(true);
  expect(answer).not.toMatch(/"(id|username)":"admin"/);
});

test('the method of a request cannot be overridden', async () => {
  const headers = {
    'x-http-method-override': 'DELETE',
    'x-method-override': 'DELETE',
    'x-http-method': 'DELETE',
  };
  const { status } = await attacked.call('GET', '/repositories/victim', {
    as: attacked.target.admin,
    headers,
  });
  expect(status).toBe(200);
  const form = await attacked.call('POST', '/repositories/victim?_method=DELETE', {
    as: attacked.target.admin,
  });
  expect([404, 405]).toContain(form.status);
});

test('heads without end are refused, and others are served meanwhile', async () => {
  const [long, many] = await Promise.all([
    attacked.raw(`GET /api/v1/user HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(2_000_000)}\r\n\r\n`),
    attacked.raw(`GET /api/v1/user HTTP/1.1\r\nhost: x\r\n${'x-a: b\r\n'.repeat(100_000)}\r\n`),
  ]);
  for (const answer of [long, many]) expect([431, 400, 401]).toContain(statusesOf(answer)[0] ?? 431);
});

test('what a request says of itself is not believed', async () => {
  const headers = {
    'x-forwarded-for': '127.0.0.1',
    'x-forwarded-user': 'admin',
    'x-remote-user': 'admin',
    'x-original-url': '/api/v1/auth/users',
    'x-rewrite-url': '/api/v1/auth/users',
    'x-forwarded-host': 'evil.example',
    forwarded: 'for=127.0.0.1;host=evil.example',
  };
  expect((await attacked.call('GET', '/auth/users', { headers })).status).toBe(401);
  const page = await attacked.server.request('/', { headers: { ...headers, host: 'evil.example' } });
  expect(JSON.stringify(page.headers) + page.body).not.toContain('evil.example');
});

test('text of the caller never becomes a header', async () => {
  const line = encodeURIComponent('x\r\nx-injected: y');
  const key = encodeURIComponent(attacked.target.admin.accessKeyId);
  const answers = [
    await attacked.raw(`GET /${line} HTTP/1.1\r\nhost: x\r\n\r\n`),
    await attacked.raw(`GET /logout?next=${line} HTTP/1.1\r\nhost: x\r\n\r\n`),
    await attacked.raw(
      `GET /${line}/${line}?AWSAccessKeyId=${key}&Expires=1&Signature=${line} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ),
    await attacked.raw(
      `GET /api/v1/repositories/${line}/refs/${line}/objects?path=${line} HTTP/1.1\r\nhost: x\r\n${admin}\r\n\r\n`,
    ),
  ];
  for (const answer of answers) expect(answer.split('\r\n\r\n')[0]).not.toMatch(/^x-injected/im);
});

test('many ranges are no many answers', async () => {
  const range = `bytes=${Array.from({ length: 5000 }, (_, index) => `${index % 3}-`).join(',')}`;
  const target = '/repositories/victim/refs/main/objects?path=public%2Fa';
  const answer = await attacked.call('GET', target, { as: attacked.target.admin, headers: { range } });
  expect(answer.body.length).toBeLessThan(1000);
  const s3 = await attacked.s3('GET', '/victim/main/public/a', attacked.target.admin, { headers: { range } });
  expect(s3.body.length).toBeLessThan(1000);
});

test.each([
  ['smaller', 2],
  ['larger', 1000],
])('an entry that says %s than its data breaks no connection', async (_kind, size) => {
  const branch = '/repositories/hers/branches/main';
  const body = { physical_address: attacked.target.outside, checksum: 'x', size_bytes: size };
  const { status } = await attacked.call('PUT', `${branch}/objects?path=liar`, {
    as: attacked.mallory,
    body,
  });
  if (status >= 400) return;
  const wire = new Wire(attacked.server.port);
  const authorization = basic(attacked.mallory);
  const ask = (target: string, host: string): FuzzRequest => ({
    surface: 's3',
    operation: 'getObject',
    method: 'GET',
    target,
    headers: [
      ['host', host],
      ['authorization', authorization],
    ],
    body: Buffer.alloc(0),
    framing: 'right',
    proof: 'right',
  });
  const gateway = `${gatewayDomain}:${attacked.server.port}`;
  for (const [target, host] of [
    ['/hers/main/liar', gateway],
    ['/api/v1/repositories/hers/refs/main/objects?path=liar', attacked.host],
  ] as const) {
    const { answer, fault } = await wire.exchange(ask(target, host), '127.0.0.1');
    // Exactly what was promised, or no whole answer at all.
    if (fault === undefined)
      expect(answer?.body.length).toBe(Number(answer?.headers.get('content-length')?.[0]));
    else expect(fault).toMatch(/ended in the middle|no answer/);
    const next = await wire.exchange(ask('/api/v1/user', attacked.host), '127.0.0.1');
    expect([next.fault, next.answer?.status]).toEqual([undefined, 200]);
  }
  wire.close();
  await attacked.target.manage('PUT', branch, { type: 'reset' });
});
