import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { authorization, basic, startApi } from './start-api.ts';
import type { RunningApi } from './start-api.ts';
import { stubEngine } from './stub-engine.ts';

let api: RunningApi;

beforeAll(async () => {
  api = await startApi(() => stubEngine());
});

afterAll(() => api.stop());

/** The answer to a head whose body never comes. */
async function answerToHead(path: string, headers: readonly string[]): Promise<string> {
  const socket = connect(api.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write([`POST /api/v1${path} HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n'));
  const answer = await new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => resolve(chunk.toString()));
    socket.on('close', () => resolve('closed'));
  });
  socket.destroy();
  return answer;
}

const announced = (bytes: number) => ['content-type: application/json', `content-length: ${bytes}`];

test('a JSON body over the limit is refused without being read', async () => {
  const answer = await answerToHead('/repositories', [
    `authorization: ${authorization}`,
    ...announced(40 * 1024 * 1024),
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('connection: close');
});

test.each(['/repositories', '/repositories/r/branches', '/auth/users', '/statistics'])(
  'of a stranger no body of %s is awaited',
  async (path) => {
    expect(await answerToHead(path, announced(100))).toMatch(/^HTTP\/1\.1 401 /);
    const wrong = `authorization: Basic ${Buffer.from('AKIAJTESTADMINKEY:guess').toString('base64')}`;
    expect(await answerToHead(path, [wrong, ...announced(100)])).toMatch(/^HTTP\/1\.1 401 /);
  },
);

test('of a caller who lacks the permission no body is awaited', async () => {
  await api.auth.users.create({ username: 'nobody' }, { username: 'test' });
  const key = await api.auth.credentials.create('nobody', { username: 'test' });
  const header = `authorization: ${basic(key.accessKeyId, key.secretAccessKey)}`;
  const answer = await answerToHead('/repositories/r/branches/main/commits', [header, ...announced(100)]);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(answer).toContain('insufficient permissions');
});

test.each(['/auth/login', '/setup', '/setup_lakefs', '/setup_comm_prefs'])(
  'whoever asks %s may send 64 KiB',
  async (path) => {
    expect(await answerToHead(path, announced(64 * 1024 + 1))).toMatch(/^HTTP\/1\.1 413 /);
    const body = `{"username":"${'a'.repeat(60_000)}"}`;
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(api.url + path, { method: 'POST', body, headers })).status).not.toBe(413);
  },
);

test('a refused upload sees its answer instead of a broken connection', async () => {
  // More than the buffers of a connection take, so that the client is still sending when the answer comes.
  const body = Buffer.alloc(8 * 1024 * 1024, ' ');
  const answer = await fetch(`${api.url}/repositories/r/branches/main/objects?path=a`, {
    method: 'POST',
    body,
  });
  expect(answer.status).toBe(401);
});
