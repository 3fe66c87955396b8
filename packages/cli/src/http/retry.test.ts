import { createCalls } from '@svc/client';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeServer, type Reply } from '../../test/fake-server.ts';

let server: FakeServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function scripted(replies: Reply[]): Promise<FakeServer> {
  server = await FakeServer.start(() => replies.shift() ?? { status: 500 });
  return server;
}

function client() {
  return createCalls(server!.transport());
}

const page = {
  pagination: { has_more: false, next_offset: '', results: 0, max_per_page: 1000 },
  results: [],
};

function failures(count: number, status = 500): Reply[] {
  return Array.from({ length: count }, () => ({ status, body: { message: 'sorry' } }));
}

describe('retries', () => {
  it('sends five requests for five failures and gives the last answer', async () => {
    const { seen, ...rest } = await scripted([...failures(5), { status: 200, body: page }]);
    expect(rest).toBeDefined();
    await expect(client().get('/repositories')).rejects.toThrow('sorry');
    expect(seen).toHaveLength(5);
  });

  it('succeeds on the fifth request', async () => {
    const { seen } = await scripted([...failures(4), { status: 200, body: page }]);
    await client().get('/repositories');
    expect(seen).toHaveLength(5);
  });

  it.each([502, 504, 404, 400])('takes %i as final', async (status) => {
    const { seen } = await scripted(failures(2, status));
    await expect(client().get('/repositories')).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(1);
  });

  it('repeats after a lost connection and names the attempts when it gives up', async () => {
    const { seen } = await scripted(Array.from({ length: 5 }, () => ({ status: 0, hangUp: true })));
    await expect(client().get('/repositories')).rejects.toThrow(
      /GET .*\/api\/v1\/repositories gave up after 5 attempts/,
    );
    expect(seen).toHaveLength(5);
  });

  const commit = (): Promise<unknown> =>
    client().post('/repositories/{repository}/branches/{branch}/commits', {
      params: { path: { repository: 'repo', branch: 'main' } },
      body: { message: 'm' },
    });

  it('never commits twice: no retry after 500 or a lost connection once the body was sent', async () => {
    const first = await scripted(failures(2));
    await expect(commit()).rejects.toThrow('sorry');
    expect(first.seen).toHaveLength(1);
    await first.stop();
    const second = await scripted([{ status: 0, hangUp: true }]);
    await expect(commit()).rejects.toThrow('gave up after 1 attempt');
    expect(second.seen).toHaveLength(1);
  });

  it('never creates twice: no retry after 500', async () => {
    const { seen } = await scripted(failures(2));
    const create = client().post('/repositories', { body: { name: 'repo', storage_namespace: 'mem://x' } });
    await expect(create).rejects.toThrow('sorry');
    expect(seen).toHaveLength(1);
  });

  it('repeats a commit that was turned away with 429 or 503', async () => {
    const { seen } = await scripted([
      { status: 429 },
      { status: 503, headers: { 'retry-after': '0' } },
      { status: 201, body: { id: 'c' } },
    ]);
    await commit();
    expect(seen).toHaveLength(3);
  });

  it('says so when a success cannot be read', async () => {
    await scripted([{ status: 200, body: '<html>' }]);
    await expect(client().get('/repositories')).rejects.toThrow('Bad response from server');
  });
});
