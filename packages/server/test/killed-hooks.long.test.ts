import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { HookedRepository, startReceiver } from './hook-server.ts';
import { startSvc } from './start-server.ts';

test('a server killed while a hook runs marks it failed when it is back, and runs what had not begun', async () => {
  const called: string[] = [];
  const first = Promise.withResolvers<void>();
  const receiver = await startReceiver((request, response) => {
    called.push(request.url ?? '');
    if (request.url === '/one') first.resolve();
    else response.end();
  });
  const hook = (id: string): string =>
    `  - {id: ${id}, type: webhook, if: true, properties: {url: "${receiver.url}/${id}"}}\n`;
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
  const repository = new HookedRepository(server);
  await repository.create();
  await repository.put(
    '_svc_actions/a.yaml',
    `name: two of them\non: {post-commit: }\nhooks:\n${hook('one')}${hook('two')}`,
  );
  expect((await repository.commit('first')).status).toBe(201);
  await first.promise;
  for (const pid of [server.pid, ...server.childPids()]) process.kill(pid, 'SIGKILL');
  await server.finished;

  const again = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, server.home);
  const back = new HookedRepository(again);
  const run = await waitUntil(async () => (await back.runs())[0], { what: 'the run', timeoutMs: 60_000 });
  expect(run).toMatchObject({ event_type: 'post-commit', status: 'failed' });
  const { body } = await back.get(`actions/runs/${run['run_id'] ?? ''}/hooks`);
  const hooks = (JSON.parse(body) as { results: { hook_id: string; status: string }[] }).results;
  expect(hooks.map(({ hook_id: id, status }) => `${id} ${status}`)).toEqual(['one failed', 'two completed']);
  expect(called).toEqual(['/one', '/two']);
  await again.stop();
  receiver.close();
});
