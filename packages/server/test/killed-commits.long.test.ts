import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@svc/kv';
import { startPostgres, tempDir, waitUntil } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { HookedRepository, startReceiver } from './hook-server.ts';
import { startKillingProxy } from './killing-proxy.ts';
import { quickstartKey, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const minutes = 60_000;
const calls: string[] = [];
const receiver = await startReceiver((request, response) => {
  calls.push(request.url ?? '');
  response.end();
});
afterAll(() => receiver.close());

const hooks = `name: before and after
on: {pre-commit: , post-commit: }
hooks:
  - {id: one, type: webhook, properties: {url: "${receiver.url}/one"}}
  - {id: two, type: webhook, if: true, properties: {url: "${receiver.url}/two"}}
`;

async function prepare(server: RunningSvc): Promise<void> {
  const repository = new HookedRepository(server);
  expect((await repository.create()).status).toBe(201);
  await repository.put('_svc_actions/a.yaml', hooks);
  expect((await repository.commit('first')).status).toBe(201);
  await settled(repository, 'first');
}

function kill(server: RunningSvc): void {
  for (const pid of [server.pid, ...server.childPids()]) process.kill(pid, 'SIGKILL');
}

interface Head {
  readonly id: string;
  readonly message: string;
}

async function headOf(repository: HookedRepository): Promise<Head> {
  const { body } = await repository.get('refs/main/commits?amount=1');
  const [head] = (JSON.parse(body) as { results: Head[] }).results;
  if (head === undefined) throw new Error('the branch has no commit');
  return head;
}

/** Waits for the one run after a commit, if it was made, and looks whether records, files and calls agree. */
async function settled(repository: HookedRepository, message: string): Promise<'made' | 'not made'> {
  const { id, message: last } = await headOf(repository);
  if (last !== message) return 'not made';
  const ofCommit = async () => {
    const { body } = await repository.get(`actions/runs?commit=${id}`);
    return (JSON.parse(body) as { results: { run_id: string; event_type: string; status: string }[] })
      .results;
  };
  const runs = await waitUntil(
    async () => {
      const found = await ofCommit();
      return found.some(({ event_type: type }) => type === 'post-commit') ? found : undefined;
    },
    { what: `the run after ${message}`, timeoutMs: minutes },
  );
  expect(runs.map(({ event_type: type }) => type).toSorted()).toEqual(['post-commit', 'pre-commit']);
  const after = runs.find(({ event_type: type }) => type === 'post-commit');
  for (const { run_id: run } of runs) {
    const { body } = await repository.get(`actions/runs/${run}/hooks`);
    const tasks = (JSON.parse(body) as { results: { hook_run_id: string }[] }).results;
    expect(tasks).toHaveLength(2);
    for (const { hook_run_id: hook } of tasks) {
      const output = await repository.get(`actions/runs/${run}/hooks/${hook}/output`);
      expect(output.status, output.body).toBe(200);
      expect(output.body).not.toBe('');
    }
  }
  // Two hooks before the commit and two after it; each at most once, and once when it passed.
  const count = (path: string): number => calls.filter((called) => called === path).length;
  expect(count('/one')).toBeLessThanOrEqual(2);
  expect(count('/two')).toBeLessThanOrEqual(2);
  if (after?.status === 'completed') expect([count('/one'), count('/two')]).toEqual([2, 2]);
  return 'made';
}

test(
  'a server killed at any moment of a commit runs the hooks after it once it is back, if it was made',
  async () => {
    let server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
    await prepare(server);
    // Later each time, until the commit is acknowledged before.
    for (let afterMs = 0; ; afterMs = afterMs * 1.5 + 10) {
      calls.length = 0;
      const message = `killed after ${afterMs} ms`;
      const committing = new HookedRepository(server).commit(message).catch(() => undefined);
      await delay(afterMs);
      kill(server);
      await server.finished;
      const answer = await committing;
      server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, server.home);
      const outcome = await settled(new HookedRepository(server), message);
      if (answer?.status === 201) expect(outcome).toBe('made');
      if (answer?.status === 201) break;
    }
    await server.stop();
  },
  10 * minutes,
);

test(
  'of two servers on PostgreSQL one is killed before a request to it: hooks run once, by whoever is there',
  async () => {
    const postgres = await startPostgres();
    const port = Number(postgres.address['port']);
    const proxy = await startKillingProxy(port);
    const objects = tempDir();
    const connection = (at: number): string => `postgres://svc@127.0.0.1:${at}/postgres?sslmode=disable`;
    const settings = (at: number): Record<string, string> => ({
      SVC_SERVER_WORKERS: '1',
      SVC_DATABASE_TYPE: 'postgres',
      SVC_DATABASE_POSTGRES_CONNECTION_STRING: connection(at),
      SVC_BLOCKSTORE_TYPE: 'local',
      SVC_BLOCKSTORE_LOCAL_PATH: objects,
      SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
      SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
    });
    const key = ['--access-key-id', quickstartKey.accessKeyId];
    const secret = ['--secret-access-key', quickstartKey.secretAccessKey];
    expect(await runSvc(['setup', '--user-name', 'admin', ...key, ...secret], settings(port))).toMatchObject({
      code: 0,
    });
    const survivor = await startSvc([], settings(port));
    const kv = await openStore({
      type: 'postgres',
      connectionString: connection(port),
      maxOpenConnections: 2,
      maxIdleConnections: 1,
      connectionMaxLifetimeMs: 0,
      scanPageSize: 1000,
    });
    try {
      await prepare(survivor);
      let deaths = 0;
      for (let request = 1; ; request += 3) {
        proxy.calm();
        const victim = await startSvc([], settings(proxy.port));
        calls.length = 0;
        const message = `killed before request ${request}`;
        proxy.killBefore(request, () => kill(victim));
        const answer = await new HookedRepository(victim).commit(message).catch(() => undefined);
        // Answered or not, the hooks after it may still be on their way through the victim.
        if (answer?.status === 201) await waitForRunOrDeath(new HookedRepository(survivor), proxy.hasKilled);
        const isDead = proxy.hasKilled();
        if (isDead) {
          deaths += 1;
          await victim.finished;
          await endLeases(kv);
        }
        const outcome = await settled(new HookedRepository(survivor), message);
        if (answer?.status === 201) expect(outcome).toBe('made');
        if (!isDead) {
          await victim.stop();
          break;
        }
      }
      expect(deaths).toBeGreaterThan(5);
    } finally {
      await kv.close();
      await survivor.stop();
      proxy.close();
      await postgres.stop();
    }
  },
  20 * minutes,
);

async function waitForRunOrDeath(repository: HookedRepository, isDead: () => boolean): Promise<void> {
  const { id } = await headOf(repository);
  await waitUntil(
    async () => {
      const { body } = await repository.get(`actions/runs?commit=${id}`);
      return isDead() || body.includes('post-commit') ? true : undefined;
    },
    { what: 'the run after the commit', timeoutMs: minutes },
  );
}

/** As if the leases of the dead had run out. */
async function endLeases(kv: Awaited<ReturnType<typeof openStore>>): Promise<void> {
  const partition = Buffer.from('leases');
  for await (const page of kv.scan(partition, { prefix: Buffer.from('hooks/') }))
    for (const { key } of page) await kv.delete(partition, key);
}
