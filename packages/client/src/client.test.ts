import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { apiUrlOf, ApiError, ConnectionError, createClient, listAll } from './index.ts';
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
    retry: { minWaitMs: 1, maxWaitMs: 2 },
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
    {
      status: 404,
      body: '{"message":"branch not found"}',
      headers: {
        'x-request-id': 'abc',
        'x-svc-required': 'fs:ReadBranch arn:svc:fs:::repository/r%20%C3%A9',
      },
    },
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
    required: { action: 'fs:ReadBranch', resource: 'arn:svc:fs:::repository/r é' },
    isNotFound: true,
  });
});

const branch = { repository: 'r', branch: 'main' };
const sorry = (status: number): Answer => ({ status, body: '{"message":"sorry"}' });

test('repeats reads after a passing refusal', async () => {
  const { client, asked } = await scripted([
    sorry(503),
    sorry(429),
    sorry(500),
    { status: 200, body: repository },
  ]);
  await client.get('/repositories/{repository}', { params: { path: { repository: 'r' } } });
  expect(asked).toHaveLength(4);
});

test.each([502, 504])('takes a gateway that answers %i at its word', async (status) => {
  const { client, asked } = await scripted([sorry(status)]);
  await expect(client.get('/repositories')).rejects.toThrow('sorry');
  expect(asked).toHaveLength(1);
});

test('repeats a write after 500 only when the contract calls it idempotent', async () => {
  const deleting = await scripted([sorry(500), { status: 204 }]);
  await deleting.client.delete('/repositories/{repository}/branches/{branch}/objects', {
    params: { path: branch, query: { path: 'a' } },
  });
  expect(deleting.asked).toHaveLength(2);

  const committing = await scripted([sorry(500)]);
  await expect(
    committing.client.post('/repositories/{repository}/branches/{branch}/commits', {
      params: { path: branch },
      body: { message: 'm' },
    }),
  ).rejects.toThrow('sorry');
  expect(committing.asked).toHaveLength(1);

  const creating = await scripted([sorry(500)]);
  await expect(
    creating.client.post('/repositories', { body: { name: 'r', storage_namespace: 'mem://r' } }),
  ).rejects.toThrow('sorry');
  expect(creating.asked).toHaveLength(1);
});

test('repeats a commit that was turned away', async () => {
  const { client, asked } = await scripted([sorry(503), sorry(429), { status: 201, body: '{"id":"c"}' }]);
  await client.post('/repositories/{repository}/branches/{branch}/commits', {
    params: { path: branch },
    body: { message: 'm' },
  });
  expect(asked).toHaveLength(3);
});

test('repeats an upload, but not one with a condition that it would break itself', async () => {
  const stats = { status: 201, body: '{"path":"a","checksum":"x"}' };
  const plain = await scripted([sorry(500), stats]);
  await plain.client.objects.upload({ ...branch, path: 'a', body: 'data' });
  expect(plain.asked).toHaveLength(2);

  const conditional = await scripted([sorry(500)]);
  await expect(
    conditional.client.objects.upload({ ...branch, path: 'a', body: 'data', ifAbsent: true }),
  ).rejects.toThrow('sorry');
  expect(conditional.asked).toHaveLength(1);
  expect(conditional.heads[0]!['if-none-match']).toBe('*');
});

test('an upload is a raw body with its type and metadata as headers', async () => {
  const { client, heads } = await scripted([{ status: 201, body: '{"path":"a","checksum":"x"}' }]);
  const metadata = { colour: 'red', '::lakefs::client-mtime': '7' };
  await client.objects.upload({ ...branch, path: 'a', body: 'data', contentType: 'text/csv', metadata });
  expect(heads[0]).toMatchObject({
    'content-type': 'text/csv',
    'content-length': '4',
    'x-lakefs-meta-colour': 'red',
    'x-lakefs-internal-client-mtime': '7',
  });
});

test('refuses a content type that the service would take for a form', async () => {
  const { client, asked } = await scripted([]);
  const upload = client.objects.upload({
    ...branch,
    path: 'a',
    body: 'data',
    contentType: 'multipart/form-data; boundary=x',
  });
  await expect(upload).rejects.toThrow('takes multipart/form-data; boundary=x for a form');
  expect(asked).toEqual([]);
});

test('adds the path of the API to an endpoint that has none', () => {
  expect(apiUrlOf('http://host')).toBe('http://host/api/v1');
  expect(apiUrlOf('http://host/')).toBe('http://host/api/v1');
  expect(apiUrlOf('http://host/api/v1/')).toBe('http://host/api/v1');
  expect(apiUrlOf('http://host/other')).toBe('http://host/other');
  expect(apiUrlOf('')).toBe('/api/v1');
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

test('input that cannot be sent is refused at once, not repeated', async () => {
  const { client, asked } = await scripted([]);
  const upload = client.objects.upload({ ...branch, path: 'a', body: 'x', metadata: { k: 'naïve – ✓' } });
  await expect(upload).rejects.toThrow(TypeError);
  expect(asked).toEqual([]);
});

test('a server that is not there is a ConnectionError that names the call and the attempts', async () => {
  const { client } = await scripted([]);
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  const error = await client.get('/repositories').catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/^GET .*repositories gave up after 4 attempts/),
  );
});
