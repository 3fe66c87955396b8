import { expect, test } from 'vitest';
import type { HookPoints } from '../src/index.ts';
import { actor, commit, createWorld, newRepository, put } from './fixture.ts';

/** Notes which events are told. */
function noting() {
  const told: string[] = [];
  const hooks: HookPoints = {
    folders: ['_ours/', '_theirs/'],
    before: (event) => Promise.resolve(void told.push(event.type)),
    after: (event) => void told.push(event.type),
  };
  return { hooks, take: () => told.splice(0) };
}

const ofCommit = ['prepare-commit', 'pre-commit', 'post-commit'];

test('hooks are told of refs that show files of theirs, and of no others', async () => {
  const { hooks, take } = noting();
  const engine = createWorld().engine({ hooks });
  const repository = await newRepository(engine);
  const main = { repository, branch: 'main' };
  const merge = (source: string, destination: string) =>
    engine.merges.merge({ repository, source, destination, actor });
  const branch = (name: string, source = 'main') =>
    engine.branches.create({ repository, name, source, actor });

  for (const path of ['a', '_ours', '_theirs0', 'z/_ours/a'])
    await put(engine, repository, 'main', path, '1');
  await commit(engine, repository, 'main');
  await branch('side');
  await put(engine, repository, 'side', 'b', '1');
  await commit(engine, repository, 'side');
  await merge('side', 'main');
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
  await engine.branches.delete({ repository, branch: 'side', actor });
  expect(take()).toEqual([]);

  // A name between the folders is looked at twice while it is staged.
  await put(engine, repository, 'main', '_ourt/a', '1');
  await commit(engine, repository, 'main');
  expect(take()).toEqual(['prepare-commit']);

  await put(engine, repository, 'main', '_theirs/a', '1');
  await branch('early');
  expect(take()).toEqual(['pre-create-branch', 'post-create-branch']);
  await commit(engine, repository, 'main');
  expect(take()).toEqual(ofCommit);
  await put(engine, repository, 'main', 'c', '1');
  await commit(engine, repository, 'main');
  expect(take()).toEqual(ofCommit);

  // The source has no files, the result has.
  await put(engine, repository, 'early', 'd', '1');
  await commit(engine, repository, 'early');
  await merge('early', 'main');
  expect(take()).toEqual(['post-merge']);
  await merge('main', 'early');
  await engine.commits.revert({ ...main, ref: 'main', parentNumber: 1, actor });
  expect(take()).toEqual(['pre-merge', 'post-merge', 'pre-revert', 'post-revert']);

  // While they are being deleted they are still there; then they are not.
  await engine.objects.delete({ ...main, path: '_theirs/a' });
  await commit(engine, repository, 'main');
  expect(take()).toEqual(['prepare-commit']);
  await put(engine, repository, 'main', 'e', '1');
  await commit(engine, repository, 'main');
  expect(take()).toEqual([]);
});

test('hooks are told by one text which files there are, and by none while some are staged', async () => {
  const told: (string | undefined)[] = [];
  const hooks: HookPoints = {
    folders: ['_ours/', '_theirs/'],
    before: ({ type, files }) => Promise.resolve(void (type === 'prepare-commit' ? 0 : told.push(files))),
    after: ({ files }) => void told.push(files),
  };
  const engine = createWorld().engine({ hooks });
  const repository = await newRepository(engine);
  const change = async (path: string, text: string) => {
    await put(engine, repository, 'main', path, text);
    await commit(engine, repository, 'main');
    return told.splice(0);
  };
  const [first, after] = await change('_ours/a', '1');
  expect(first).toMatch(/^\S{20,}$/);
  expect(after).toBe(first);
  expect(await change('b', '1')).toEqual([first, first]);
  const [second] = await change('_theirs/b', '1');
  expect(second).not.toBe(first);
  await put(engine, repository, 'main', '_ours/c', '1');
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  expect(told.splice(0)).toEqual([undefined, undefined]);
  await engine.tags.create({ repository, id: 'v1', ref: 'main', actor });
  expect(told.splice(0)).toEqual([second, second]);
});

test('files that another process committed are seen', async () => {
  const world = createWorld();
  const { hooks, take } = noting();
  const engine = world.engine({ hooks });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const other = world.engine();
  await put(other, repository, 'main', '_ours/a', '1');
  await commit(other, repository, 'main');
  await put(engine, repository, 'main', 'b', '1');
  await commit(engine, repository, 'main');
  expect(take()).toEqual(ofCommit);
});

test('a commit without such files asks the store once for them and looks into no tree', async () => {
  const { hooks } = noting();
  const scans: string[] = [];
  let looks = 0;
  let repository = '';
  const world = createWorld();
  const engine = world.engine({
    hooks,
    trees: new Proxy(world.trees, {
      get: (target, name) => {
        if (name === 'iterate') looks += 1;
        return (Reflect.get(target, name) as () => unknown).bind(target);
      },
    }),
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) => {
          const note = (partition: Uint8Array, start: Uint8Array | undefined): void => {
            const isStaging = Buffer.from(partition).toString().startsWith(`${repository}-main:`);
            if (isStaging) scans.push(Buffer.from(start ?? '').toString());
          };
          if (name === 'scan')
            return (...[partition, options]: Parameters<typeof kv.scan>) => {
              note(partition, options?.start);
              return target.scan(partition, options);
            };
          if (name === 'firstKeyAtOnce')
            return (partition: Uint8Array, start: Uint8Array) => {
              note(partition, start);
              return target.firstKeyAtOnce?.(partition, start);
            };
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? (member.bind(target) as unknown) : member;
        },
      }),
  });
  repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  looks = 0;
  scans.length = 0;
  await put(engine, repository, 'main', 'b', '1');
  await commit(engine, repository, 'main');
  // The look for files tells that something is staged as well; then what was sealed is read.
  expect(scans).toEqual(['_ours/', '']);
  expect(looks).toBe(0);
});
