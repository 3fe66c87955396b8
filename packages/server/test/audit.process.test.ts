import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };

interface Entry {
  readonly user?: string;
  readonly action: string;
  readonly resource?: string;
  readonly result: string;
  readonly status: number;
}

async function entriesOf(server: RunningSvc, query = ''): Promise<Entry[]> {
  const { status, body } = await server.request(`/api/v1/audit?${query}`, { headers });
  expect(status, body).toBe(200);
  return (JSON.parse(body) as { results: Entry[] }).results;
}

test('who did what is kept by every worker, outlives the server and holds no secret', async () => {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2', SVC_AUDIT_OBJECTS: 'true' });
  const send = (method: string, path: string, body?: unknown, more: Record<string, string> = headers) =>
    server.request(`/api/v1${path}`, {
      method,
      headers: more,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  // Connections of their own, so that both workers serve some.
  for (let count = 0; count < 20; count += 1) await send('POST', '/auth/users', { id: `user-${count}` });
  const { accessKeyId, secretAccessKey } = quickstartKey;
  const login = await send('POST', '/auth/login', {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
  });
  const { token } = JSON.parse(login.body) as { token: string };
  await send('GET', '/auth/users/user-1');
  await send('GET', '/auth/users', undefined, { Authorization: 'Basic d3Jvbmc6cGFpcg==' });
  await server.request(`/audited/main/a`, {
    method: 'PUT',
    headers: { host: 's3.svc.localhost' },
    body: 'x',
  });
  await waitUntil(async () => (await entriesOf(server, 'action=createUser')).length === 20, {
    what: 'the entries of all workers',
  });
  const [first] = await entriesOf(server, 'action=auth:CreateUser&resource=arn:svc:auth:::user/user-7');
  expect(first).toMatchObject({
    user: 'quickstart',
    action: 'createUser',
    permission: 'auth:CreateUser',
    result: 'success',
    status: 201,
    source_ip: '127.0.0.1',
    service: 'api',
  });
  expect(await entriesOf(server, 'action=login')).toMatchObject([{ user: 'quickstart', result: 'success' }]);
  expect(await entriesOf(server, 'action=getUser')).toEqual([]);
  expect(await entriesOf(server, 'action=listUsers&result=denied')).toMatchObject([{ status: 401 }]);
  expect(await entriesOf(server, 'action=put_object')).toMatchObject([{ result: 'denied' }]);
  await send('DELETE', '/auth/users/user-3');
  await server.stop();

  const again = await startSvc(['--quickstart'], {}, server.home);
  const kept = await entriesOf(again, 'amount=1000');
  // What was not written yet is written when the server stops.
  expect(kept).toContainEqual(expect.objectContaining({ action: 'deleteUser', user: 'quickstart' }));
  expect(kept.filter(({ action }) => action === 'createUser')).toHaveLength(20);
  for (const secret of [secretAccessKey, token, 'd3Jvbmc6cGFpcg=='])
    expect(JSON.stringify(kept)).not.toContain(secret);
  expect((await again.request('/api/v1/audit', { headers: {} })).status).toBe(401);
  expect((await again.request('/api/v1/audit', { method: 'DELETE', headers })).status).toBe(404);
  await again.stop();
});

test('a server that is killed under load loses the end of the log at most, and nothing in between', async () => {
  const env = { SVC_SERVER_WORKERS: '1' };
  const server = await startSvc(['--quickstart'], env);
  const acknowledged: string[] = [];
  const load = (async () => {
    // Until nobody answers.
    for (let count = 0; ; count += 1) {
      const id = `user-${String(count).padStart(6, '0')}`;
      const made = await server
        .request('/api/v1/auth/users', { method: 'POST', headers, body: JSON.stringify({ id }) })
        .catch(() => undefined);
      if (made?.status !== 201) return;
      acknowledged.push(id);
    }
  })();
  const listed = async (from: RunningSvc): Promise<string[]> => {
    const found: string[] = [];
    for (let after = ''; ;) {
      const query = `action=createUser&amount=1000${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
      const { body } = await from.request(`/api/v1/audit?${query}`, { headers });
      const page = JSON.parse(body) as {
        results: { resource: string; status: number }[];
        pagination: { has_more: boolean; next_offset: string };
      };
      found.push(...page.results.map(({ resource }) => resource.split('/').at(-1) ?? ''));
      if (!page.pagination.has_more) return found;
      after = page.pagination.next_offset;
    }
  };
  const seen = await waitUntil(async () => {
    const now = await listed(server);
    return now.length >= 20 && now;
  });
  const pids = [server.pid, ...server.childPids()];
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await Promise.all([load, server.finished]);

  const again = await startSvc(['--quickstart'], env, server.home);
  const kept = new Set(await listed(again));
  // What could be read once is there, and whatever is there has everything before it.
  for (const id of seen) expect(kept).toContain(id);
  const last = acknowledged.findLastIndex((id) => kept.has(id));
  expect(last).toBeGreaterThanOrEqual(seen.length - 1);
  expect(acknowledged.slice(0, last + 1).filter((id) => !kept.has(id))).toEqual([]);
  await again.stop();
});
