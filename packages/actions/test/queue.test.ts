import { createMemStore, type KvWrite, type MemState } from '@svc/kv';
import { afterEach, expect, test } from 'vitest';
import { EventQueue, type QueuedEvent } from '../src/queue/queued-event.ts';
import { manifestOf } from './kit.ts';
import { openHouse, patience, startReceiver, type House } from './house.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function house(options: Parameters<typeof openHouse>[0] = {}): Promise<House> {
  const opened = await openHouse(options);
  closers.push(() => opened.close());
  return opened;
}

async function receiver(answer?: Parameters<typeof startReceiver>[0]) {
  const started = await startReceiver(answer);
  closers.push(() => started.close());
  return started;
}

const action = (url: string): string =>
  `name: after it\non: {post-commit: }\nhooks:\n${['one', 'two']
    .map((id) => `  - {id: ${id}, type: webhook, if: true, properties: {url: "${url}/${id}"}}\n`)
    .join('')}`;

test('a commit is acknowledged when its hooks are on record, and any server runs them, once', async () => {
  const { url, received } = await receiver();
  const first = await house({ runsQueue: false });
  await first.create();
  await first.put('_svc_actions/a.yaml', action(url));
  await first.commit();
  expect(received).toEqual([]);
  // The first one dies here: nothing but the stores is left.
  const others = await Promise.all([1, 2, 3].map(() => house({ state: first.state, blocks: first.blocks })));
  await Promise.all(others.map((other) => other.hooks.runQueued()));
  await expect.poll(async () => (await first.runs()).length, patience).toBe(1);
  expect(received.map((request) => request.url)).toEqual(['/one', '/two']);
  await Promise.all(others.map((other) => other.hooks.runQueued()));
  expect(received.length).toBe(2);
});

/** A store that fails in everything after the change that moves a ref, as if its process had died there. */
function dyingStore(state: MemState) {
  let isArmed = false;
  let isDead = false;
  const kv = new Proxy(createMemStore(state), {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        if (isDead && name !== 'close') throw new Error('dead');
        const result: unknown = Reflect.apply(value, target, args);
        const writes = name === 'change' ? (args[2] as readonly KvWrite[]) : [];
        isDead = isArmed && writes.some(({ key }) => Buffer.from(key).toString().startsWith('moves/'));
        return result;
      };
    },
  });
  return { kv, arm: () => (isArmed = true) };
}

const operations: Record<string, (at: House) => Promise<unknown>> = {
  'post-commit': async (at) => at.commit(),
  'post-merge': ({ engine, actor }) =>
    engine.merges.merge({ repository: 'repo', source: 'side', destination: 'main', actor }),
  'post-create-branch': ({ engine, actor }) =>
    engine.branches.create({ repository: 'repo', name: 'new', source: 'main', actor }),
  'post-delete-branch': ({ engine, actor }) =>
    engine.branches.delete({ repository: 'repo', branch: 'side', actor }),
  'post-create-tag': ({ engine, actor }) =>
    engine.tags.create({ repository: 'repo', id: 'v2', ref: 'main', actor }),
  'post-delete-tag': ({ engine, actor }) => engine.tags.delete({ repository: 'repo', id: 'v1', actor }),
  'post-revert': ({ engine, actor }) =>
    engine.commits.revert({ repository: 'repo', branch: 'main', ref: 'main', parentNumber: 0, actor }),
  'post-cherry-pick': ({ engine, actor }) =>
    engine.commits.cherryPick({ repository: 'repo', branch: 'main', ref: 'side', actor }),
};

test.each(Object.keys(operations))('whoever dies right after %s leaves its hooks on record', async (type) => {
  const { url, received } = await receiver();
  const first = await house({ runsQueue: false });
  const { engine, actor } = first;
  await first.create();
  const file = action(url).replace('{post-commit: }', `{${type}: }`);
  await first.put('_svc_actions/a.yaml', file);
  await first.commit();
  await engine.branches.create({ repository: 'repo', name: 'side', source: 'main', actor });
  await first.put('b', '1', 'side');
  await first.commit('side', 'side');
  await engine.tags.create({ repository: 'repo', id: 'v1', ref: 'main', actor });
  await first.put('c', '1');
  if (type !== 'post-commit') await first.commit();
  await first.hooks.runQueued();
  await expect.poll(() => first.hooks.hasWaiting(), patience).toBe(false);
  const before = (await first.runs()).length;
  received.length = 0;

  const { kv, arm } = dyingStore(first.state);
  const dying = await house({ kv, blocks: first.blocks });
  arm();
  await operations[type]?.(dying).catch(() => undefined);
  expect(received).toEqual([]);
  const other = await house({ state: first.state, blocks: first.blocks });
  await other.hooks.runQueued();
  await expect.poll(async () => (await other.runs()).length, patience).toBe(before + 1);
  expect(received.map((request) => request.url)).toEqual(['/one', '/two']);
  expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({ event_type: type });
  await expect.poll(() => other.hooks.hasWaiting(), patience).toBe(false);
});

test('hooks of an operation that came to nothing do not run', async () => {
  const { url, received } = await receiver();
  const at = await house();
  await at.create();
  await at.put('_svc_actions/a.yaml', action(url));
  const kv = createMemStore(at.state);
  const failing = new Proxy(kv, {
    get(target, name) {
      if (name === 'change') return () => Promise.reject(new Error('refused'));
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const refused = await house({ kv: failing, blocks: at.blocks });
  await expect(refused.commit()).rejects.toThrow('refused');
  await at.hooks.runQueued();
  expect(await at.hooks.hasWaiting()).toBe(false);
  expect(received).toEqual([]);
});

test('a hook whose server died counts as failed, those after it run', async () => {
  const { url, received } = await receiver();
  const first = await house({ runsQueue: false });
  await first.create();
  await first.put('_svc_actions/a.yaml', action(url));
  await first.commit();
  // As far as it came: it noted that the first hook begins, then it was gone.
  const queue = new EventQueue(createMemStore(first.state));
  for await (const waiting of queue.waiting()) {
    const queued = await queue.get(waiting);
    if (queued !== undefined)
      await queue.put({
        ...queued,
        begun: [
          {
            hookRunId: '0000_0000',
            hookId: 'one',
            actionName: 'after it',
            startTime: { seconds: 1, nanos: 0 },
          },
        ],
      });
  }
  const second = await house({ state: first.state, blocks: first.blocks });
  await second.hooks.runQueued();
  await expect.poll(async () => (await second.runs()).length, patience).toBe(1);
  const [run] = await second.runs();
  expect(run).toMatchObject({ eventType: 'post-commit', passed: false });
  expect(received.map((request) => request.url)).toEqual(['/two']);
  const repository = await second.engine.repositories.get('repo');
  const log = await second.hooks.readLog(repository, run?.runId ?? '', '0000_0000');
  expect(log?.bytes?.toString()).toBe('Error: action failed: the server stopped while the hook ran\n');
  const { items } = await second.hooks.runs.listTasks({ repository: 'repo', runId: run?.runId ?? '' });
  expect(items.map(({ passed }) => passed)).toEqual([false, true]);
});

test('a server that was held up while another took over runs nothing more and records nothing', async () => {
  const begun = Promise.withResolvers<() => void>();
  const { url, received } = await receiver(({ url: path }, response) => {
    if (path === '/one') begun.resolve(() => response.end());
    else response.end();
  });
  const first = await house();
  await first.create();
  await first.put('_svc_actions/a.yaml', action(url));
  await first.commit();
  const goOn = await begun.promise;
  // Its lease runs out without its knowing.
  const kv = createMemStore(first.state);
  for await (const page of kv.scan(Buffer.from('leases')))
    for (const { key } of page)
      if (key.toString().startsWith('hooks/')) await kv.delete(Buffer.from('leases'), key);
  const second = await house({ state: first.state, blocks: first.blocks });
  await second.hooks.runQueued();
  await expect.poll(async () => (await second.runs()).length, patience).toBe(1);
  goOn();
  await first.hooks.close();
  expect(received.map((request) => request.url)).toEqual(['/one', '/two']);
  const [run] = await second.runs();
  expect(run).toMatchObject({ passed: false });
  const repository = await second.engine.repositories.get('repo');
  const log = await second.hooks.readLog(repository, run?.runId ?? '', '0000_0000');
  expect(log?.bytes?.toString()).toBe('Error: action failed: the server stopped while the hook ran\n');
});

test('hooks of an event that is over run once more, as who wants it, and the new run names the old', async () => {
  const { url, received } = await receiver();
  const at = await house();
  await at.create();
  await at.put(
    '_svc_actions/a.yaml',
    action(url).replace('{post-commit: }', '{pre-commit: , post-commit: }'),
  );
  const { id } = await at.commit('told twice');
  await expect.poll(async () => (await at.runs()).length, patience).toBe(2);
  const repository = await at.engine.repositories.get('repo');
  const [after, before] = (await at.runs()).toSorted((a, b) => (a.eventType < b.eventType ? -1 : 1));
  const other = { committer: 'bob', userId: 'bob' };
  const rerun = (runId = '') => at.hooks.rerun(repository, runId, other);
  await expect(rerun(before?.runId)).rejects.toThrow('only hooks after an event can run again');
  await expect(rerun('nosuchrun')).rejects.toThrow('run not found');
  const first = received.at(-1)?.body;
  received.length = 0;
  const runId = await rerun(after?.runId);
  await expect.poll(async () => (await at.runs()).length, patience).toBe(3);
  expect(received.map((request) => request.url)).toEqual(['/one', '/two']);
  const told = (text: string | undefined): object => ({
    ...(JSON.parse(text ?? '') as object),
    event_time: '',
  });
  expect(told(received.at(-1)?.body)).toEqual(told(first));
  expect(await at.hooks.runs.get('repo', runId)).toMatchObject({ commitId: id, passed: true });
  const kept = await at.hooks.runs.getEvent('repo', runId);
  expect(kept).toMatchObject({ rerunOf: after?.runId, event: { actor: other } });
  expect(await manifestOf(at, repository, runId)).toMatchObject({ run: { rerun_of: after?.runId } });
});

test('a run can be watched while it runs', async () => {
  const begun = Promise.withResolvers<() => void>();
  const { url } = await receiver(({ url: path }, response) => {
    if (path === '/two') begun.resolve(() => response.end());
    else response.end();
  });
  const at = await house();
  await at.create();
  await at.put('_svc_actions/a.yaml', action(url));
  await at.commit();
  const goOn = await begun.promise;
  const repository = await at.engine.repositories.get('repo');
  let running: QueuedEvent | undefined;
  for await (const found of at.hooks.listRunning(repository)) running = found;
  const runId = running?.runId ?? '';
  expect(running).toMatchObject({
    event: { type: 'post-commit', branch: 'main' },
    begun: [{ hookId: 'one' }, { hookId: 'two' }],
    ended: [{ hookId: 'one', passed: true }],
  });
  const log = async (): Promise<string> =>
    (await at.hooks.readLog(repository, runId, '0000_0001'))?.bytes?.toString() ?? '';
  await expect.poll(log, patience).toContain('Request Body:');
  await expect(at.hooks.rerun(repository, runId, at.actor)).rejects.toThrow('has not ended');
  goOn();
  await expect.poll(async () => (await at.runs()).length, patience).toBe(1);
  expect(await log()).toContain('200 OK');
  expect(await at.hooks.findRunning(repository, runId)).toBeUndefined();
});

test('a repository made anew under a name does not get the runs of the old one', async () => {
  const { url, received } = await receiver();
  const at = await house({ runsQueue: false });
  await at.create();
  await at.put('_svc_actions/a.yaml', action(url));
  await at.commit();
  await at.engine.repositories.delete({ repository: 'repo', actor: at.actor });
  await at.engine.repositories.create({ name: 'repo', storageNamespace: 'mem://again', actor: at.actor });
  await at.hooks.runQueued();
  await at.hooks.close();
  expect(received).toEqual([]);
  expect(await at.runs()).toEqual([]);
});

test('a stopping server waits for its hooks', async () => {
  const begun = Promise.withResolvers<() => void>();
  const { url } = await receiver((_, response) => begun.resolve(() => response.end()));
  const at = await house();
  await at.create();
  await at.put('_svc_actions/a.yaml', action(url).replace(/.*two.*\n/, ''));
  await at.commit();
  const finish = await begun.promise;
  const closing = at.hooks.close();
  finish();
  await closing;
  expect(await at.runs()).toMatchObject([{ eventType: 'post-commit', passed: true }]);
});
