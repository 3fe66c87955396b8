import type { KvEntry, KvStore } from '@svc/kv';
import { afterEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { HookPoints } from '../src/index.ts';
import { watched } from './failing-store.ts';
import { actor, commit, createWorld, newRepository, paths, put, refusal, refusalKind } from './fixture.ts';
import { remote } from './remote-store.ts';

let engine: Engine;
afterEach(() => engine.close());

/** An engine on a store that must be waited for; `waits` holds the calls of each time that something was waited for. */
async function open(
  hooks?: HookPoints,
): Promise<{ repository: string; waits: string[][]; another: () => Engine }> {
  const waits: string[][] = [];
  let isOpen = false;
  const wait = async (call: string): Promise<void> => {
    if (!isOpen) waits.push([]);
    isOpen = true;
    waits.at(-1)?.push(call);
    // Whatever is asked for before anything is answered goes together.
    await new Promise((resolve) => setImmediate(resolve));
    isOpen = false;
  };
  const world = createWorld();
  const another = (): Engine =>
    world.engine({
      hooks,
      wrapKv: (kv) =>
        scanning(
          watched(remote(kv), ({ method, key }) => wait(`${method} ${key}`)),
          (partition) => wait(`scan ${partition.replace(/:.*/, '')}`),
        ),
    });
  engine = another();
  return { repository: await newRepository(engine), waits, another };
}

/** Tells of every scan before it begins. */
function scanning(kv: KvStore, before: (partition: string) => Promise<void>): KvStore {
  return new Proxy(kv, {
    get(target, name) {
      if (name !== 'scan') return Reflect.get(target, name) as unknown;
      return async function* (...args: Parameters<KvStore['scan']>): AsyncGenerator<KvEntry[]> {
        await before(Buffer.from(args[0]).toString());
        yield* target.scan(...args);
      };
    },
  });
}

test('a new branch asks for its source and for its name at once', async () => {
  const { repository, waits } = await open();
  await put(engine, repository, 'main', 'a', 'a');
  await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'warm', source: 'main', actor });
  waits.length = 0;
  await engine.branches.create({ repository, name: 'new', source: 'main', actor });
  expect(waits[0]?.toSorted()).toEqual(['get branches/main', 'get tags/new']);
  expect(waits.slice(1)).toEqual([['change branches/new']]);
});

test('where there may be hooks, what is staged on the source is looked at beside it', async () => {
  const before = (): Promise<never> => Promise.reject(new Error('no hook is called'));
  const { repository, waits } = await open({ folders: ['_ours/'], before, after: () => undefined });
  await put(engine, repository, 'main', 'a', 'a');
  await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'warm', source: 'main', actor });
  await put(engine, repository, 'main', 'b', 'b');
  waits.length = 0;
  await engine.branches.create({ repository, name: 'new', source: 'main', actor });
  expect(waits.map((calls) => calls.toSorted())).toEqual([
    ['get branches/main', 'get tags/new', `scan ${repository}-main`],
    ['change branches/new'],
  ]);
  // A file of hooks that is staged since counts, also where the branch got another token meanwhile.
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', '_ours/a', 'a');
  const late = engine.branches.create({ repository, name: 'late', source: 'main', actor });
  await expect(late).rejects.toThrow('no hook is called');
});

test('a branch from nowhere, or of a name that is taken, is refused as before', async () => {
  const { repository } = await open();
  const create = (name: string, source: string): Promise<unknown> =>
    engine.branches.create({ repository, name, source, actor });
  expect(await refusalKind(create('main', 'nowhere'))).toBe('not_found');
  expect(await refusalKind(create('main', 'main'))).toBe('already_exists');
  await create('free', 'main');
});

test('a merge into a clean branch waits twice: for both branches and what is staged, and for the move', async () => {
  const { repository, waits } = await open();
  const merge = (source: string): Promise<unknown> =>
    engine.merges.merge({ repository, source, destination: 'main', actor });
  for (const name of ['one', 'two']) {
    await engine.branches.create({ repository, name, source: 'main', actor });
    await put(engine, repository, name, name, name);
    await commit(engine, repository, name);
    waits.length = 0;
    await merge(name);
  }
  expect(waits.map((calls) => calls.toSorted())).toEqual([
    ['get branches/main', 'get branches/two', `scan ${repository}-main`],
    ['change branches/main'],
  ]);
  const nowhere = engine.merges.merge({ repository, source: 'gone', destination: 'nowhere', actor });
  expect(await refusal(nowhere)).toMatchObject({ kind: 'not_found', subject: 'branch' });
  expect(await refusalKind(merge('gone'))).toBe('not_found');
});

test('where nothing is in memory, a merge waits once more for commits, the last move and what is staged', async () => {
  const { repository, waits, another } = await open();
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'side', 'side');
  await commit(engine, repository, 'side');
  const other = another();
  await other.repositories.get(repository);
  waits.length = 0;
  await other.merges.merge({ repository, source: 'side', destination: 'main', actor });
  const kinds = waits.map((calls) =>
    calls.map((call) => call.replace(/(commits|moves)\/.*/, '$1')).toSorted(),
  );
  expect(kinds[0]).toEqual(['get branches/main', 'get branches/side']);
  expect(kinds[1]).toEqual(expect.arrayContaining(['get commits', 'get commits', `scan ${repository}-main`]));
  expect(kinds.at(-1)).toEqual(['change branches/main']);
  await other.close();
});

test('a diff asks for both refs at once, then for both commits', async () => {
  const { repository, waits, another } = await open();
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'side', 'side');
  await commit(engine, repository, 'side');
  const ask = async (by: Engine): Promise<string[][]> => {
    await by.repositories.get(repository);
    waits.length = 0;
    const { items } = await by.refs.diff({ repository, left: 'main', right: 'side' });
    expect(items.map(({ path }) => path)).toEqual(['side']);
    return waits.map((calls) => calls.map((call) => call.replace(/commits\/.*/, 'commits')).toSorted());
  };
  const ofRefs = ['get branches/main', 'get branches/side'];
  expect(await ask(engine)).toEqual([ofRefs]);
  const other = another();
  expect(await ask(other)).toEqual([ofRefs, ['get commits', 'get commits']]);
  await other.close();
});

test('a branch that moves after it was looked at is looked at again', async () => {
  const world = createWorld();
  let meanwhile: (() => Promise<unknown>) | undefined;
  engine = world.engine({
    wrapKv: (kv) =>
      watched(remote(kv), async ({ method, key }) => {
        if (method !== 'change' || key !== 'branches/main' || meanwhile === undefined) return;
        const run = meanwhile;
        meanwhile = undefined;
        await run();
      }),
  });
  const other = world.engine({ wrapKv: remote });
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'side', 'side');
  await commit(engine, repository, 'side');
  meanwhile = async () => {
    await put(other, repository, 'main', 'main', 'main');
    await commit(other, repository, 'main');
  };
  await engine.merges.merge({ repository, source: 'side', destination: 'main', actor });
  expect(await paths(engine, repository, 'main@')).toEqual(['main', 'side']);
  await other.close();
});

test('a commit waits for the branch and what is staged at once, and does not read again what it has sealed', async () => {
  const before = (): Promise<never> => Promise.reject(new Error('a hook is called'));
  const { repository, waits } = await open({ folders: ['_ours/'], before, after: () => undefined });
  await put(engine, repository, 'main', 'warm', 'warm');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'a', 'a');
  waits.length = 0;
  await commit(engine, repository, 'main');
  expect(waits.map((calls) => calls.toSorted())).toEqual([
    ['get branches/main', `scan ${repository}-main`],
    ['setIf branches/main'],
    [`scan ${repository}-main`],
    ['change branches/main'],
  ]);
  // A file of hooks that is staged since counts, also where the branch got another token meanwhile.
  await put(engine, repository, 'main', '_ours/a', 'a');
  await expect(commit(engine, repository, 'main')).rejects.toThrow('a hook is called');
});
