import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ApiError, createClient, listAll } from './index.ts';
import type { Client } from './index.ts';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Answer {
  status: number;
  body?: string | undefined;
  headers?: Record<string, string>;
}

/** A server that answers in the given order and remembers what it was asked. */
async function scripted(
  answers: Answer[],
  options: { token?: string } = {},
): Promise<{ client: Client; asked: string[]; heads: IncomingMessage['headers'][] }> {
  const asked: string[] = [];
  const heads: IncomingMessage['headers'][] = [];
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      asked.push(`${request.method} ${request.url}`);
      heads.push(request.headers);
      const { status, body, headers } = answers.shift() ?? { status: 500 };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = createClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    credentials:
      options.token === undefined
        ? { accessKeyId: 'key', secretAccessKey: 'sécret' }
        : { token: options.token },
    retry: { baseDelayMs: 1, maxDelayMs: 2 },
  });
  return { client, asked, heads };
}

const repository = JSON.stringify({
  id: 'r',
  creation_date: 1,
  default_branch: 'main',
  storage_namespace: 'mem://r',
});

test('encodes path parameters and sends Basic credentials as UTF-8', async () => {
  const { client, asked, heads } = await scripted([{ status: 200, body: repository }]);
  const found = await client.get('/repositories/{repository}', { params: { path: { repository: 'a/b c' } } });
  expect(found.default_branch).toBe('main');
  expect(asked).toEqual(['GET /api/v1/repositories/a%2Fb%20c']);
  expect(heads[0]!.authorization).toBe(`Basic ${Buffer.from('key:sécret').toString('base64')}`);
});

test('sends a token when there is one', async () => {
  const { client, heads } = await scripted([{ status: 200, body: repository }], { token: 'tok' });
  await client.get('/repositories/{repository}', { params: { path: { repository: 'r' } } });
  expect(heads[0]!.authorization).toBe('Bearer tok');
});

test('a refusal is an ApiError with status, message and request id', async () => {
  const { client } = await scripted([
    { status: 404, body: '{"message":"branch not found"}', headers: { 'x-request-id': 'abc' } },
  ]);
  const error = await client
    .get('/repositories/{repository}/branches/{branch}', {
      params: { path: { repository: 'r', branch: 'x' } },
    })
    .catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 404,
    message: 'branch not found',
    requestId: 'abc',
    isNotFound: true,
  });
});

test('repeats idempotent calls and only those', async () => {
  const reading = await scripted([{ status: 503 }, { status: 429 }, { status: 200, body: repository }]);
  await reading.client.get('/repositories/{repository}', { params: { path: { repository: 'r' } } });
  expect(reading.asked).toHaveLength(3);

  const committing = await scripted([{ status: 503, body: '{"message":"slow"}' }]);
  await expect(
    committing.client.post('/repositories/{repository}/branches/{branch}/commits', {
      params: { path: { repository: 'r', branch: 'main' } },
      body: { message: 'm' },
    }),
  ).rejects.toThrow('slow');
  expect(committing.asked).toHaveLength(1);

  const deleting = await scripted([{ status: 503 }, { status: 204 }]);
  await deleting.client.delete('/repositories/{repository}/branches/{branch}/objects', {
    params: { path: { repository: 'r', branch: 'main' }, query: { path: 'a' } },
  });
  expect(deleting.asked).toHaveLength(2);
});

test('gives up after the last attempt with the answer of the server', async () => {
  const { client, asked } = await scripted(
    Array.from({ length: 4 }, () => ({ status: 503, body: '{"message":"Slow down"}' })),
  );
  await expect(
    client.get('/repositories/{repository}', { params: { path: { repository: 'r' } } }),
  ).rejects.toThrow('Slow down');
  expect(asked).toHaveLength(4);
});

test('decodes the text answer of a branch creation', async () => {
  const { client } = await scripted([
    { status: 201, body: 'c0ffee', headers: { 'content-type': 'text/plain; charset=utf-8' } },
  ]);
  const commitId = await client.post('/repositories/{repository}/branches', {
    params: { path: { repository: 'r' } },
    body: { name: 'dev', source: 'main' },
  });
  expect(commitId).toBe('c0ffee');
});

test('walks a list page by page', async () => {
  const page = (ids: string[], next: string) => ({
    status: 200,
    body: JSON.stringify({
      pagination: { has_more: next !== '', next_offset: next, results: ids.length, max_per_page: 1000 },
      results: ids.map((id) => ({ id, commit_id: 'c' })),
    }),
  });
  const { client, asked } = await scripted([page(['a', 'b'], 'b'), page(['c'], '')]);
  const found: string[] = [];
  for await (const branch of listAll((after) =>
    client.get('/repositories/{repository}/branches', {
      params: { path: { repository: 'r' }, query: { after, amount: 2 } },
    }),
  )) {
    found.push(branch.id);
  }
  expect(found).toEqual(['a', 'b', 'c']);
  expect(asked[1]).toContain('after=b');
});

test('a streamed upload is sent once, whatever happens', async () => {
  const { client, asked } = await scripted([{ status: 503, body: '{"message":"later"}' }]);
  const body = new Blob(['data']).stream() as ReadableStream<Uint8Array>;
  await expect(
    client.objects.upload({ repository: 'r', branch: 'main', path: 'a b', body, metadata: { k: 'v' } }),
  ).rejects.toThrow('later');
  expect(asked).toEqual(['POST /api/v1/repositories/r/branches/main/objects?path=a+b']);
});
