import { expect, test, vi } from 'vitest';
import { StatisticsSender, createStatistics } from './statistics.ts';

const logger = { debug() {} };

function sender(options: { extended?: boolean; status?: () => number; flushSize?: number } = {}) {
  const bodies: { metrics: { name: string; value: number }[] }[] = [];
  const send = vi.fn<(url: string, init: { body: string }) => Promise<Response>>((_url, init) => {
    const status = options.status?.() ?? 200;
    if (status === 200) bodies.push(JSON.parse(init.body) as (typeof bodies)[number]);
    return Promise.resolve(new Response(null, { status }));
  });
  const made = new StatisticsSender({
    address: 'http://stats.example/',
    installationId: () => 'id',
    flushIntervalMs: 60_000,
    flushSize: options.flushSize ?? 100,
    extended: options.extended ?? false,
    logger,
    send: send as unknown as typeof fetch,
  });
  return { made, bodies, send };
}

test('without an address counters only reach the metrics', async () => {
  const counted: unknown[] = [];
  const fetched = vi.spyOn(globalThis, 'fetch');
  const statistics = createStatistics({
    events: { labels: (labels) => ({ inc: (value) => counted.push([labels, value]) }) },
  });
  statistics.count({ class: 'api_server', name: 'x', repository: 'secret' });
  await statistics.close();
  expect(counted).toEqual([[{ class: 'api_server', name: 'x' }, 1]]);
  expect(fetched).not.toHaveBeenCalled();
  fetched.mockRestore();
});

test('optional fields are blanked, or hashed in extended mode', async () => {
  const plain = sender();
  plain.made.add({ class: 'c', name: 'n', repository: 'r', client: 'curl' }, 1);
  plain.made.add({ class: 'c', name: 'n', repository: 'other', client: 'lakefs-python' }, 2);
  await plain.made.close();
  expect(plain.bodies[0]?.metrics).toEqual([
    { class: 'c', name: 'n', value: 1 },
    { class: 'c', name: 'n', client: 'lakefs-python', value: 2 },
  ]);
  const extended = sender({ extended: true });
  extended.made.add({ class: 'c', name: 'n', repository: 'my-repo' }, 1);
  await extended.made.close();
  expect(JSON.stringify(extended.bodies)).not.toContain('my-repo');
  expect(JSON.stringify(extended.bodies)).toMatch(/"repository":"[0-9a-f]{16}"/);
});

test('a full map is posted at once; what fails is kept and sent later', async () => {
  let status = 500;
  const { made, bodies, send } = sender({ status: () => status, flushSize: 2 });
  made.add({ class: 'c', name: 'a' }, 1);
  expect(send).not.toHaveBeenCalled();
  made.add({ class: 'c', name: 'b' }, 1);
  await made.flush();
  expect(send).toHaveBeenCalledTimes(3);
  status = 200;
  made.add({ class: 'c', name: 'a' }, 4);
  await made.close();
  expect(bodies.flatMap((body) => body.metrics)).toEqual([
    { class: 'c', name: 'a', value: 5 },
    { class: 'c', name: 'b', value: 1 },
  ]);
});

test('what cannot be sent is kept in bounded memory', async () => {
  const { made, bodies } = sender({ extended: true, flushSize: 100_000 });
  for (let n = 0; n < 20_000; n++)
    made.add({ class: 'api_server', name: 'getObject', ref: `made up ${n}` }, 1);
  await made.close();
  const metrics = bodies.flatMap((body) => body.metrics);
  expect(metrics.length).toBeLessThanOrEqual(10_001);
  expect(metrics.reduce((sum, { value }) => sum + value, 0)).toBe(20_000);
});
