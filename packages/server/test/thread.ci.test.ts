import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createHash, randomBytes } from 'node:crypto';
import { waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quickstartAuth, startSvc } from './start-server.ts';
import type { RunningSvc } from './start-server.ts';

const json = { 'Content-Type': 'application/json' };

function api(
  server: RunningSvc,
  method: string,
  path: string,
  body?: unknown,
  auth: string = quickstartAuth,
) {
  return server.request(`/api/v1${path}`, {
    method,
    headers: { Authorization: auth, ...(body === undefined ? {} : json) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function upload(server: RunningSvc, repository: string, path: string, content: Buffer) {
  return server.request(
    `/api/v1/repositories/${repository}/branches/main/objects?path=${encodeURIComponent(path)}`,
    {
      method: 'POST',
      headers: {
        Authorization: quickstartAuth,
        'Content-Type': 'application/octet-stream',
        'Content-Length': content.length,
      },
      body: content,
    },
  );
}

describe('from an upload to reading it back', () => {
  let server: RunningSvc;
  beforeAll(async () => {
    server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2', SVC_LOGGING_LEVEL: 'DEBUG' });
    await waitUntil(() => server.stdout.split('worker process is ready').length - 1 === 3);
    const created = await api(server, 'POST', '/repositories', {
      name: 'thread',
      storage_namespace: 'local://thread',
    });
    expect(created.status).toBe(201);
  });
  afterAll(async () => {
    expect((await server.stop()).code).toBe(0);
  });

  test('create, upload, commit, list, read', async () => {
    expect((await upload(server, 'thread', 'dir/hello.txt', Buffer.from('hello world'))).status).toBe(201);
    const commit = await api(server, 'POST', '/repositories/thread/branches/main/commits', {
      message: 'first',
    });
    expect(commit.status).toBe(201);
    const { id } = JSON.parse(commit.body) as { id: string };
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    const list = await api(server, 'GET', `/repositories/thread/refs/${id}/objects/ls`);
    expect(JSON.parse(list.body)).toMatchObject({ results: [{ path: 'dir/hello.txt', size_bytes: 11 }] });
    const read = await api(server, 'GET', '/repositories/thread/refs/main/objects?path=dir%2Fhello.txt');
    expect(read).toMatchObject({ status: 200, body: 'hello world' });
  });

  test('a deleted access key is dead for the next request on every worker', async () => {
    await api(server, 'POST', '/auth/users', { id: 'alice' });
    await api(server, 'PUT', '/auth/groups/Admins/members/alice');
    const made = JSON.parse((await api(server, 'POST', '/auth/users/alice/credentials')).body) as {
      access_key_id: string;
      secret_access_key: string;
    };
    const alice = `Basic ${Buffer.from(`${made.access_key_id}:${made.secret_access_key}`).toString('base64')}`;
    const statuses = async () => {
      const seen = new Set<number>();
      for (let n = 0; n < 12; n++) seen.add((await api(server, 'GET', '/user', undefined, alice)).status);
      return [...seen];
    };
    expect(await statuses()).toEqual([200]);
    const gone = await api(server, 'DELETE', `/auth/users/alice/credentials/${made.access_key_id}`);
    expect(gone.status).toBe(204);
    expect(await statuses()).toEqual([401]);
  });
});

test('SIGTERM during a large download lets it finish', async () => {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2' });
  await api(server, 'POST', '/repositories', { name: 'large', storage_namespace: 'local://large' });
  const content = randomBytes(96 * 1024 * 1024);
  expect((await upload(server, 'large', 'big.bin', content)).status).toBe(201);

  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port: server.port,
        path: '/api/v1/repositories/large/refs/main/objects?path=big.bin',
        headers: { Authorization: quickstartAuth },
        agent: false,
      },
      resolve,
    );
    request.on('error', reject);
    request.end();
  });
  expect(response.statusCode).toBe(200);
  // Nothing is read yet: the body is far larger than all buffers on the way, so the server is in the middle of it.
  server.signal('SIGTERM');
  await waitUntil(() =>
    server.request('/_health').then(
      () => false,
      (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
    ),
  );
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of response) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  expect(size).toBe(content.length);
  expect(hash.digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
  expect((await server.finished).code).toBe(0);
});
