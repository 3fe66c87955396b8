import { afterEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { watched } from './failing-store.ts';
import { actor, commit, createWorld, newRepository, paths, put, refusal, refusalKind } from './fixture.ts';
import { remote } from './remote-store.ts';

let engine: Engine;
afterEach(() => engine.close());

/** An engine on a store that must be waited for; `waits` holds the calls of each time that something was waited for. */
async function open(): Promise<{ repository: string; waits: string[][] }> {
  const waits: string[][] = [];
  let isOpen = false;
  engine = createWorld().engine({
    wrapKv: (kv) =>
      watched(remote(kv), async ({ method, key }) => {
        if (!isOpen) waits.push([]);
        isOpen = true;
        waits.at(-1)?.push(`${method} ${key}`);
        // Whatever is asked for before anything is answered goes together.
        await new Promise((resolve) => setImmediate(resolve));
        isOpen = false;
      }),
  });
  return { repository: await newRepository(engine), waits };
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

test('a branch from nowhere, or of a name that is taken, is refused as before', async () => {
  const { repository } = await open();
  const create = (name: string, source: string): Promise<unknown> =>
    engine.branches.create({ repository, name, source, actor });
  expect(await refusalKind(create('main', 'nowhere'))).toBe('not_found');
  expect(await refusalKind(create('main', 'main'))).toBe('already_exists');
  await create('free', 'main');
});

test('a merge into a clean branch asks for both at once, and reads the destination once more', async () => {
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
  const ofRefs = waits.map((calls) => calls.filter((call) => call.includes('branches/')).toSorted());
  expect(ofRefs.filter((calls) => calls.length > 0)).toEqual([
    ['get branches/main', 'get branches/two'],
    ['get branches/main'],
    ['change branches/main'],
  ]);
  const nowhere = engine.merges.merge({ repository, source: 'gone', destination: 'nowhere', actor });
  expect(await refusal(nowhere)).toMatchObject({ kind: 'not_found', subject: 'branch' });
  expect(await refusalKind(merge('gone'))).toBe('not_found');
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
