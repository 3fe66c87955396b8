import { once } from 'node:events';
import { EventLog, EventStreams, Keeper, trimEvents } from '@svc/events';
import type { Engine } from '@svc/engine';
import { createMemStore, type KvStore } from '@svc/kv';
import { EventSource } from 'eventsource';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedClient, type Ask } from './checked-client.ts';
import { memEngine } from './mem-engine.ts';
import { authorization, basic, startApi, type RunningApi } from './start-api.ts';

let api: RunningApi;
let ask: Ask;
let keeper: Keeper;
let streams: EventStreams;
let log: EventLog;
let engine: Engine;
const kv: KvStore = createMemStore();
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const base = '/repositories/told';

beforeAll(async () => {
  api = await startApi(memEngine, {
    kv,
    events: (store, opened) => {
      log = new EventLog(store);
      engine = opened;
      streams = new EventStreams({ log, installationId: 'i-1', maxStreams: 3, isShared: false });
      keeper = new Keeper({
        kv: store,
        source: {
          async *partitions() {
            yield Buffer.from('auth');
            yield* opened.outboxes.partitions();
          },
          isThere: async (partition) => partition.toString() === 'auth' || opened.outboxes.isThere(partition),
          retireTokens: (tokens) => opened.outboxes.retireTokens(tokens),
        },
        logger: silent,
        isShared: false,
        onAppended: (next) => streams.told(next),
      });
      return { log, streams, installationId: 'i-1' };
    },
  });
  ask = checkedClient(api.url);
  keeper.start();
  // Setting up was told of as well.
  keeper.hint(['auth']);
  while ((await log.tail()).next === 1) await new Promise((resolve) => setImmediate(resolve));
  await ask('POST', '/repositories', { json: { name: 'told', storage_namespace: 'mem://told' } });
});
afterAll(async () => {
  streams.close();
  await keeper.close();
  await api.stop();
});

const createBranch = (name: string) => ask('POST', `${base}/branches`, { json: { name, source: 'main' } });

/** Everything that has happened is in the log. */
async function kept(): Promise<void> {
  const { items } = await engine.reflog.list({ repository: 'told', types: ['branch', 'tag'], amount: 1 });
  const last = items[0]?.id;
  for await (const partition of engine.outboxes.partitions()) keeper.hint([partition.toString()]);
  for (;;) {
    const { next } = await log.tail();
    const segment = next > 1 ? await log.segmentWith(next - 1) : undefined;
    const page = await ask('GET', `/events?amount=1000`);
    const results = page.body.results as { id: string }[];
    if (segment !== undefined && results.some(({ id }) => id === last)) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

interface Sent {
  readonly id: string;
  readonly event: { subject?: string; type: string } | undefined;
}

/** Reads a stream until told to stop. */
async function* readStream(path: string, headers: Record<string, string> = {}): AsyncGenerator<Sent> {
  const cut = new AbortController();
  const response = await fetch(api.url + path, {
    headers: { accept: 'text/event-stream', authorization, ...headers },
    signal: cut.signal,
  });
  if (response.status !== 200 || response.body === null)
    throw new Error(`${response.status}: ${await response.text()}`);
  let text = '';
  try {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
        const lines = text.slice(0, at).split('\n');
        text = text.slice(at + 2);
        const field = (name: string) =>
          lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const data = field('data');
        const event = data === undefined ? undefined : (JSON.parse(data) as Sent['event']);
        yield { id: field('id') ?? '', event };
      }
    }
  } finally {
    cut.abort();
  }
}

async function take(stream: AsyncGenerator<Sent>, count: number): Promise<Sent[]> {
  const events: Sent[] = [];
  for await (const sent of stream) {
    if (sent.event !== undefined) events.push(sent);
    if (events.length === count) break;
  }
  return events;
}

test('what happened is listed in order, filtered, in pages that say where to go on', async () => {
  await createBranch('dev');
  await ask('POST', `${base}/tags`, { json: { id: 'v1', ref: 'main' } });
  await kept();
  const all = await ask('GET', `${base}/events`);
  const numbers = (all.body.results as { sequence: string }[]).map(({ sequence }) => Number(sequence));
  const [first = 0] = numbers;
  expect(numbers).toEqual([first, first + 1, first + 2, first + 3]);
  expect((all.body.results as { type: string }[]).map(({ type }) => type)).toEqual([
    'svc.repository.created',
    'svc.branch.created',
    'svc.branch.created',
    'svc.tag.created',
  ]);
  expect(all.body.results[2]).toMatchObject({
    specversion: '1.0',
    source: '/repositories/told',
    subject: 'branch/dev',
    sequence: String(first + 2).padStart(20, '0'),
    svcinstallation: 'i-1',
    data: { kind: 'create', ref_type: 'branch', ref_id: 'dev', user: 'admin', source: 'main' },
  });
  const subjects = async (query: string): Promise<unknown[]> =>
    (
      (await ask('GET', `${base}/events?${query}`)).body.results as {
        subject?: string;
      }[]
    ).map(({ subject }) => subject);
  expect(await subjects('types=svc.tag.*')).toEqual(['tag/v1']);
  expect(await subjects('subject=branch/d*')).toEqual(['branch/dev']);
  expect(await subjects('user=nobody')).toEqual([]);
  const page = await ask('GET', `/events?amount=3&after=${first - 1}`);
  expect(page.body.pagination).toMatchObject({ has_more: true, next_offset: String(first + 2) });
  const rest = await ask('GET', `/events?after=${first + 2}`);
  expect(rest.body.results).toHaveLength(1);
  expect(rest.body.pagination).toMatchObject({ has_more: false, next_offset: String(first + 3) });
  for (const query of ['after=x', 'after=-1', 'types=svc.none', 'types=']) {
    expect((await ask('GET', `/events?${query}`)).status, query).toBe(400);
  }
  const ahead = await ask('GET', '/events?after=999');
  expect([ahead.status, ahead.body]).toEqual([410, { message: 'cursor is ahead of this log', oldest: '1' }]);
  expect((await fetch(`${api.url}/events`)).status).toBe(401);
});

test('a stream cut again and again and resumed by its last id misses nothing and repeats nothing', async () => {
  const from = Number((await ask('GET', '/events?amount=1000')).body.pagination.next_offset);
  const names = Array.from({ length: 30 }, (_, index) => `cut-${String(index).padStart(2, '0')}`);
  const seen: Sent[] = [];
  const reading = (async () => {
    let cursor = String(from);
    while (seen.length < names.length) {
      const some = await take(
        readStream('/events', { 'last-event-id': cursor }),
        Math.min(7, names.length - seen.length),
      );
      seen.push(...some);
      cursor = some.at(-1)?.id ?? cursor;
    }
  })();
  for (const name of names) await createBranch(name);
  await kept();
  await reading;
  expect(seen.map(({ event }) => event?.subject)).toEqual(names.map((name) => `branch/${name}`));
  expect(seen.map(({ id }) => Number(id))).toEqual(names.map((_, index) => from + 1 + index));
});

/** A connection that breaks after the first events it brought; the client is told to come back at once. */
async function breaking(url: string | URL, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const text = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const lines = Buffer.from(chunk)
        .toString()
        .replace(/^retry: \d+/m, 'retry: 1');
      controller.enqueue(Buffer.from(lines));
      if (/^data: /m.test(lines)) controller.terminate();
    },
  });
  const { status, headers, redirected } = response;
  const body = response.body?.pipeThrough(text) ?? null;
  return { status, headers, redirected, body, url: response.url } as Response;
}

test('EventSource follows the stream and comes back where it was whenever the connection breaks', async () => {
  const from = Number((await ask('GET', '/events?amount=1000')).body.pagination.next_offset);
  const names = Array.from({ length: 6 }, (_, index) => `source-${index}`);
  const cursors: unknown[] = [];
  const source = new EventSource(`${api.url}${base}/events?types=svc.branch.*&after=${from}`, {
    fetch: (url, init) => {
      const headers = { ...init.headers, authorization };
      cursors.push((init.headers as Record<string, string>)['Last-Event-ID']);
      return breaking(url, { ...init, headers });
    },
  });
  const seen: { id: string; subject: string }[] = [];
  source.addEventListener('message', ({ data, lastEventId }) => {
    seen.push({ id: lastEventId, subject: (JSON.parse(String(data)) as { subject: string }).subject });
  });
  try {
    for (const [index, name] of names.entries()) {
      await createBranch(name);
      await kept();
      while (seen.length <= index) await once(source, 'message');
    }
  } finally {
    source.close();
  }
  expect(seen.map(({ subject }) => subject)).toEqual(names.map((name) => `branch/${name}`));
  expect(cursors.slice(0, names.length)).toEqual([undefined, ...seen.slice(0, -1).map(({ id }) => id)]);
});

test('what is no move is told as well: resets, rules, pull requests, tasks and identities', async () => {
  const from = (await ask('GET', '/events?amount=1000')).body.pagination.next_offset as string;
  await ask('POST', `${base}/branches/dev/objects?path=x`, { body: '1' });
  await ask('PUT', `${base}/branches/dev`, { json: { type: 'reset' } });
  await ask('PUT', `${base}/settings/branch_protection`, { json: [{ pattern: 'stable*' }] });
  const pull = await ask('POST', `${base}/pulls`, {
    json: { title: 't', source_branch: 'dev', destination_branch: 'main' },
  });
  const id = String(pull.body.id);
  for (const change of [{ title: 'u' }, { status: 'closed' }, { status: 'open' }]) {
    await ask('PATCH', `${base}/pulls/${id}`, { json: change });
  }
  await ask('POST', '/auth/users', { json: { id: 'carla' } });
  await ask('POST', '/auth/groups', { json: { id: 'team' } });
  await ask('PUT', '/auth/groups/team/members/carla');
  await ask('DELETE', '/auth/groups/team/members/carla');
  const key = await ask('POST', '/auth/users/carla/credentials');
  await ask('DELETE', '/auth/users/carla');
  await ask('POST', `${base}/tags`, { json: { id: 'after-all', ref: 'main' } });
  keeper.hint(['auth']);
  await kept();
  const page = await ask('GET', `/events?amount=1000&after=${from}`);
  const told = (page.body.results as { type: string; subject?: string; data: object }[]).map(
    ({ type, subject = '' }) => `${type} ${subject}`,
  );
  expect(new Set(told)).toEqual(
    new Set([
      'svc.branch.reset branch/dev',
      'svc.protection.changed ',
      `svc.pull.created pull/${id}`,
      `svc.pull.edited pull/${id}`,
      `svc.pull.closed pull/${id}`,
      `svc.pull.reopened pull/${id}`,
      'svc.user.created user/carla',
      'svc.group.created group/team',
      'svc.group.member_added group/team',
      'svc.group.member_removed group/team',
      'svc.credentials.created user/carla',
      'svc.user.deleted user/carla',
      'svc.tag.created tag/after-all',
    ]),
  );
  // Ids and names, never a secret.
  expect(JSON.stringify(page.body)).not.toContain(String(key.body.secret_access_key));
});

test('nobody sees what they may not read, and a stream stops showing it once it is taken away', async () => {
  const actor = { username: 'admin' };
  await api.auth.users.create({ username: 'bob' }, actor);
  const key = await api.auth.credentials.create('bob', actor);
  const resource = (ref: string) => `arn:svc:fs:::repository/told/${ref}`;
  const allow = (ref: string) => ({
    effect: 'allow' as const,
    action: [ref.startsWith('tag') ? 'fs:ReadTag' : 'fs:ReadBranch'],
    resource: resource(ref),
  });
  await api.auth.policies.create({ id: 'see-dev', statement: [allow('branch/dev*')] }, actor);
  await api.auth.policies.create({ id: 'see-tags', statement: [allow('tag/*')] }, actor);
  const bob = basic(key.accessKeyId, key.secretAccessKey);
  const list = async (): Promise<(string | undefined)[]> => {
    const response = await fetch(`${api.url}/events?amount=1000`, { headers: { authorization: bob } });
    const body = (await response.json()) as { results: { subject?: string }[] };
    return body.results.map(({ subject }) => subject);
  };
  expect(await list()).toEqual([]);
  await api.auth.users.attachPolicy('bob', 'see-dev', actor);
  await api.auth.users.attachPolicy('bob', 'see-tags', actor);
  expect(new Set(await list())).toEqual(new Set(['branch/dev', 'tag/v1', 'tag/after-all']));
  const stream = readStream('/events', { authorization: bob });
  // The stream has begun once its first line is there.
  await stream.next();
  await createBranch('dev-2');
  await createBranch('hidden');
  await kept();
  expect((await stream.next()).value).toMatchObject({ event: { subject: 'branch/dev-2' } });
  await api.auth.users.detachPolicy('bob', 'see-dev', actor);
  await createBranch('dev-3');
  await ask('POST', `${base}/tags`, { json: { id: 'v2', ref: 'main' } });
  await kept();
  expect((await stream.next()).value).toMatchObject({ event: { subject: 'tag/v2' } });
  await stream.return(undefined);
});

test('streams are limited, end when the server does, and refuse cursors that are gone', async () => {
  const status = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(`${api.url}/events`, {
      headers: { accept: 'text/event-stream', authorization, ...headers },
      signal: AbortSignal.timeout(5000),
    });
    await response.text();
    return response.status;
  };
  expect(await status({ 'last-event-id': 'x' })).toBe(400);
  expect(await status({ 'last-event-id': '99999' })).toBe(410);
  const { bytes } = await log.tail();
  const options = { retentionMs: 1e9, maxBytes: bytes - 1, now: Date.now() };
  await trimEvents(kv, log, { ...options, mayGoOn: () => Promise.resolve(true) });
  expect(await status({ 'last-event-id': '0' })).toBe(410);
  while (streams.open > 0) await new Promise((resolve) => setImmediate(resolve));
  const open = [readStream('/events'), readStream('/events'), readStream('/events')];
  for (const stream of open) await stream.next();
  expect(await status({})).toBe(503);
  streams.close();
  for (const stream of open) expect((await stream.next()).done).toBe(true);
  expect(streams.open).toBe(0);
});
