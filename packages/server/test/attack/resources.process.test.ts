import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { basic } from '../fuzz/callers.ts';
import { AttackedServer, statusesOf } from './attacked-server.ts';

let attacked: AttackedServer;

beforeAll(async () => {
  attacked = await AttackedServer.start();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const hers = '/repositories/hers';

test('connections that say nothing keep nobody out', async () => {
  const sockets: Socket[] = [];
  for (let index = 0; index < 300; index += 1) {
    const socket = connect(attacked.server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    if (index % 2 === 0) socket.write('POST /api/v1/auth/login HTTP/1.1\r\nhost: x\r\ncontent-le');
    sockets.push(socket);
  }
  expect((await attacked.call('GET', '/user', { as: attacked.nobody })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('uploads that never end keep nobody out and store nothing', async () => {
  const before = attacked.files();
  const sockets = Array.from({ length: 50 }, (_, index) => {
    const socket = connect(attacked.server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(
      `POST /api/v1${hers}/branches/main/objects?path=stalled-${index} HTTP/1.1\r\nhost: x\r\n` +
        `authorization: ${basic(attacked.mallory)}\r\ncontent-length: 1000000000\r\n\r\n${'x'.repeat(1000)}`,
    );
    return socket;
  });
  expect((await attacked.call('GET', '/user', { as: attacked.nobody })).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  // What had been written goes with its connection.
  await expect.poll(() => attacked.files(), { timeout: 20_000 }).toBe(before);
});

test('a compressed body is not unpacked', async () => {
  const bomb = gzipSync(Buffer.alloc(30_000_000, 0x20));
  const answer = await attacked.server.request('/api/v1/auth/login', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': bomb.length,
    },
    body: bomb,
  });
  expect([400, 415]).toContain(answer.status);
});

test.each([
  ['parents without end', `${hers}/refs/main${'~1'.repeat(3000)}/objects/ls`],
  ['a parent far away', `${hers}/refs/main~999999999999999999/objects/ls`],
  ['merges without end', `${hers}/refs/${encodeURIComponent(`main${'^2'.repeat(3000)}`)}/commits`],
  ['a page of everything', `${hers}/refs/main/objects/ls?amount=999999999999`],
  ['a page of less than nothing', `${hers}/refs/main/objects/ls?amount=-999999999999`],
  ['a delimiter without end', `${hers}/refs/main/objects/ls?delimiter=${'d'.repeat(100_000)}`],
  ['a prefix without end', `${hers}/refs/main/objects/ls?prefix=${'p'.repeat(500_000)}`],
  ['a thousand prefixes', `${hers}/refs/main/commits?${'prefixes=p&'.repeat(20_000)}`],
  ['a search without end', `/repositories?search=${'s'.repeat(500_000)}`],
])('%s costs little', async (_kind, path) => {
  const { status } = await attacked.call('GET', path, { as: attacked.mallory });
  expect([200, 400, 401, 404, 414, 431]).toContain(status);
});

test('patterns made to be slow are not', async () => {
  const { manage } = attacked.target;
  const slow = `arn:svc:fs:::repository/${'*a'.repeat(900)}b`;
  const statement = Array.from({ length: 30 }, () => ({ effect: 'allow', action: ['fs:*'], resource: slow }));
  await manage('POST', '/auth/policies', { id: 'slow', statement });
  await manage('PUT', '/auth/users/nobody/policies/slow');
  const long = encodeURIComponent('a'.repeat(1000));
  for (let time = 0; time < 5; time += 1) {
    const path = `/repositories/victim/refs/main/objects?path=${long}`;
    expect((await attacked.call('GET', path, { as: attacked.nobody })).status).toBe(401);
  }
  await manage('DELETE', '/auth/users/nobody/policies/slow');
  await manage('DELETE', '/auth/policies/slow');
  const rules = Array.from({ length: 50 }, (_, index) => ({ pattern: `${'*a'.repeat(400)}b${index}` }));
  const set = await attacked.call('PUT', `${hers}/settings/branch_protection`, {
    as: attacked.mallory,
    body: rules,
  });
  expect([204, 400]).toContain(set.status);
  const named = await attacked.call('GET', `${hers}/branches/${'a'.repeat(1000)}`, { as: attacked.mallory });
  expect(named.status).toBe(404);
  await manage('PUT', `${hers}/settings/branch_protection`, []);
});

test('metadata has an end', async () => {
  const large = { a: 'x'.repeat(3_000_000) };
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 'v']));
  for (const metadata of [large, many]) {
    for (const [method, path, body] of [
      ['POST', `${hers}/branches/main/commits`, { message: 'm', metadata, allow_empty: true }],
      ['POST', `${hers}/metadata`, { metadata }],
      ['PUT', `${hers}/branches/main/objects/stat/user_metadata?path=public%2Fa`, { set: metadata }],
    ] as const) {
      const { status } = await attacked.call(method, path, { as: attacked.mallory, body });
      expect([400, 413], path).toContain(status);
    }
  }
});

test('texts have an end', async () => {
  const long = 'x'.repeat(1_000_000);
  for (const [method, path, body] of [
    ['POST', `${hers}/branches`, { name: long, source: 'main' }],
    ['POST', `${hers}/tags`, { id: long, ref: 'main' }],
    ['POST', `${hers}/pulls`, { title: long, source_branch: 'x', destination_branch: 'main' }],
    ['POST', `${hers}/branches/main/objects?path=${'k'.repeat(100_000)}`, 'x'],
    ['POST', '/auth/users', { id: long }],
    ['POST', '/auth/login', { access_key_id: long, secret_access_key: long }],
    ['POST', `${hers}/branches/main/objects/delete`, { paths: Array.from({ length: 5000 }, () => 'p') }],
  ] as const) {
    const { status } = await attacked.call(method, path, { as: attacked.mallory, body });
    expect([400, 401, 404, 413], `${method} ${path.slice(0, 80)}`).toContain(status);
  }
});

test('who may not call is answered before the body is read', async () => {
  const head = (method: string, path: string): string =>
    `${method} /api/v1${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 30000000\r\n\r\n`;
  for (const [method, path] of [
    ['POST', '/repositories'],
    ['POST', '/auth/users'],
    ['PUT', '/repositories/victim/refs/restore'],
    ['POST', '/repositories/victim/branches/main/commits'],
  ] as const)
    expect(statusesOf(await attacked.raw(head(method, path)))).toEqual([401]);
  for (const path of ['/auth/login', '/setup', '/setup_lakefs', '/sts/login'])
    expect(statusesOf(await attacked.raw(head('POST', path)))).toEqual([413]);
});

test('strangers make no series of metrics without end', async () => {
  const events = (from: number): object => ({
    events: Array.from({ length: 500 }, (_, index) => ({
      class: `c${from + index}`,
      name: `n${from + index}`,
      count: 1,
    })),
  });
  for (let from = 0; from < 3000; from += 500)
    await attacked.call('POST', '/statistics', { as: attacked.nobody, body: events(from) });
  const { body } = await attacked.server.request('/metrics');
  expect(body.split('\n').filter((line) => /="[cn]\d+"/.test(line)).length).toBeLessThan(1000);
});
