import { setTimeout as delay } from 'node:timers/promises';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { keepAliveAgent, quickstartAuth, startSvc } from './start-server.ts';
import type { RunningSvc } from './start-server.ts';

const processes = 4;
const kills = 5;
const objects = '/api/v1/repositories/load/branches/main/objects';
const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const starts = (server: RunningSvc): number => server.stdout.split('worker process is ready').length - 1;

test('workers killed and started again under writes lose nothing acknowledged', async () => {
  const server = await startSvc(['--quickstart'], {
    SVC_LOGGING_LEVEL: 'DEBUG',
    SVC_SERVER_WORKERS: String(processes - 1),
  });
  await waitUntil(() => starts(server) === processes, { what: 'all processes' });
  const created = await server.request('/api/v1/repositories', {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'load', storage_namespace: 'local://load' }),
  });
  expect(created.status).toBe(201);

  const acknowledged = new Set<string>();
  const stop = new AbortController();
  const refused: string[] = [];
  const write = async (writer: number): Promise<void> => {
    const agent = keepAliveAgent();
    for (let n = 0; !stop.signal.aborted; n++) {
      const path = `${writer}/${n}`;
      try {
        const answer = await server.request(`${objects}?path=${path}`, {
          method: 'POST',
          agent,
          headers: { ...headers, 'Content-Type': 'application/octet-stream' },
          body: path,
        });
        if (answer.status === 201) acknowledged.add(path);
        else refused.push(`${answer.status} ${answer.body}`);
      } catch {
        // Its worker died: not acknowledged, and the next connection may still go to the dying one.
        await delay(20);
      }
    }
    agent.destroy();
  };
  const writers = Array.from({ length: 16 }, (_, writer) => write(writer));
  for (let kill = 0; kill < kills; kill++) {
    const before = acknowledged.size;
    await waitUntil(() => acknowledged.size > before + 200, { what: 'writes' });
    const children = server.childPids();
    process.kill(children[Math.floor(Math.random() * children.length)]!, 'SIGKILL');
    await waitUntil(() => starts(server) === processes + kill + 1, { what: 'the new worker' });
  }
  stop.abort();
  await Promise.all(writers);
  expect(refused).toEqual([]);

  const found = new Set<string>();
  let after: string | undefined = '';
  while (after !== undefined) {
    const page = await server.request(
      `/api/v1/repositories/load/refs/main/objects/ls?amount=1000&after=${encodeURIComponent(after)}`,
      { headers },
    );
    const { results, pagination } = JSON.parse(page.body) as {
      results: { path: string }[];
      pagination: { has_more: boolean; next_offset: string };
    };
    for (const { path } of results) found.add(path);
    after = pagination.has_more ? pagination.next_offset : undefined;
  }
  expect([...acknowledged].filter((path) => !found.has(path))).toEqual([]);
  expect((await server.stop()).code).toBe(0);
});
