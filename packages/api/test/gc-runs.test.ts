import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Engine } from '@svc/engine';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
let engine: Engine;
const base = '/repositories/collected';

beforeAll(async () => {
  api = await startApi(async (kv, cacheBus) => (engine = await memEngine(kv, cacheBus)));
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

test('a run reports by class and by what keeps data; a list of runs leaves the latter out', async () => {
  const object = await ask('POST', `${base}/branches/main/objects?path=a`, {
    body: 'abc',
    headers: { 'content-type': 'application/octet-stream' },
  });
  expect(object.status).toBe(201);
  await ask('POST', `${base}/branches/main/commits`, { json: { message: 'm' } });
  const rules = { default_retention_days: 1, branches: [] };
  const started = await ask('POST', `${base}/gc/runs`, { json: { dry_run: true, rules } });
  const job = engine.jobs.find(({ name }) => name === 'collect-garbage');
  await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
  const id = String(started.body.id);
  const { body } = await ask('GET', `${base}/gc/runs/${id}`);
  expect(body).toMatchObject({ state: 'completed', options: { rules }, report: { dry_run: true } });
  expect(body.report.classes.map((row: { class: string }) => row.class)).toEqual([
    'expired',
    'uncommitted',
    'tables',
    'commits',
    'uploads',
  ]);
  expect(body.report.roots[0]).toEqual({
    root: 'branch',
    branch_id: 'main',
    commits: 2,
    objects: 1,
    bytes: 3,
    only_objects: 0,
    only_bytes: 0,
  });
  const { results } = (await ask('GET', `${base}/gc/runs`)).body as {
    results: { id: string; report?: object }[];
  };
  const listed = results.find((run) => run.id === id);
  expect(listed?.report).toMatchObject({ dry_run: true });
  expect(listed?.report).not.toHaveProperty('roots');
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
