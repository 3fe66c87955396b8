import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
const base = '/repositories/collected';

beforeAll(async () => {
  api = await startApi(memEngine);
  ask = checkedClient(api.url);
  await ask('POST', '/repositories', { json: { name: 'collected', storage_namespace: 'mem://collected' } });
});
afterAll(() => api.stop());

test('a run is started once, shown, listed and cancelled', async () => {
  const started = await ask('POST', `${base}/gc/runs`, { json: { dry_run: true } });
  expect(started.status).toBe(202);
  const run = started.body.id as string;
  const again = await ask('POST', `${base}/gc/runs`, { json: {} });
  expect([again.status, again.body.message]).toEqual([
    409,
    `garbage collection is already running: run ${run}`,
  ]);
  const shown = await ask('GET', `${base}/gc/runs/${run}`);
  expect(shown.body).toMatchObject({ id: run, state: 'queued', user: 'admin', options: { dry_run: true } });
  expect((await ask('GET', `${base}/gc/runs`)).body.results).toMatchObject([{ id: run }]);
  expect((await ask('POST', `${base}/gc/runs/${run}/cancel`)).status).toBe(204);
  const ended = await ask('POST', `${base}/gc/runs/${run}/cancel`);
  expect([ended.status, ended.body.message]).toEqual([409, 'run already ended']);
  expect((await ask('GET', `${base}/gc/runs/${run}/objects?kind=condemned`)).status).toBe(410);
  expect((await ask('GET', `${base}/gc/quarantine`)).body).toEqual({ objects: 0, bytes: 0 });
});

test('what makes no sense is refused and says why', async () => {
  const post = async (path: string, json: object): Promise<[number, string]> => {
    const { status, body } = await ask('POST', `${base}/gc/${path}`, { json });
    return [status, String(body.message)];
  };
  expect(await post('runs', { hard: true, classes: ['metadata'] })).toEqual([
    400,
    'hard applies to objects only',
  ]);
  for (const json of [{ classes: [] }, { classes: ['x'] }, { max_percent: 101 }, { max_percent: 1.5 }]) {
    expect((await post('runs', json))[0]).toBe(400);
  }
  expect(await post('rescue', {})).toEqual([400, 'give either ref or all']);
  expect(await post('rescue', { all: true, days: -1 })).toEqual([
    400,
    'argument days: invalid value: validation error: -1 is not between 0 and 3650',
  ]);
  expect((await post('rescue', { ref: 'nothing' }))[0]).toBe(404);
  const unknown = await ask('GET', `${base}/gc/runs/nothing`);
  expect([unknown.status, unknown.body.message]).toEqual([404, 'run not found']);
  expect((await ask('GET', `${base}/gc/runs/nothing/objects?kind=x`)).status).toBe(400);
});

test('settings are kept and checked', async () => {
  const set = async (json: object): Promise<[number, unknown]> => {
    const { status, body } = await ask('PUT', `${base}/settings/gc`, { json });
    return [status, (body as { message?: string } | undefined)?.message];
  };
  expect((await ask('GET', `${base}/settings/gc`)).body).toEqual({ enabled: 'inherit' });
  expect((await set({ enabled: 'on', interval_hours: 12, quarantine_hours: 0 }))[0]).toBe(204);
  expect((await ask('GET', `${base}/settings/gc`)).body).toEqual({
    enabled: 'on',
    interval_hours: 12,
    quarantine_hours: 0,
  });
  expect(await set({ enabled: 'on', interval_hours: 0 })).toEqual([400, 'interval_hours must be at least 1']);
  expect(await set({ enabled: 'on', quarantine_hours: 23 })).toEqual([
    400,
    'quarantine_hours must be 0 or at least 24',
  ]);
});
