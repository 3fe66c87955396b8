import { expect, test } from 'vitest';
import { moveMessage } from '@svc/encoding';
import { createMemStore } from '@svc/kv';
import {
  actor,
  changes,
  commit,
  contents,
  createWorld,
  newRepository,
  paths,
  put,
  read,
  refusal,
  refusalKind,
} from './fixture.ts';

test('creating branches: names, sources, clashes', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'staged', '1');
  const create = (name: string, source = 'main') =>
    engine.branches.create({ repository, name, source, actor });
  const head = (await engine.branches.get({ repository, branch: 'main' })).commitId;
  expect(await create('dev')).toMatchObject({ id: 'dev', commitId: head });
  // Staging of the source is not copied.
  expect(await paths(engine, repository, 'dev')).toEqual([]);
  expect((await refusal(create('dev'))).message).toBe('branch already exists: not unique');
  for (const bad of ['-x', 'a.b', 'a/b', 'ä', 'x'.repeat(1025)])
    expect(await refusalKind(create(bad))).toBe('invalid');
  expect((await refusal(create('a b'))).message).toMatch(/cannot start with a dash$/);
  // Required values are bad requests.
  expect((await refusal(create(''))).message).toBe('argument name: required value: validation error');
  expect((await refusal(create('x', ''))).kind).toBe('invalid');
  expect((await refusal(create('x', 'gone'))).message).toBe("source reference 'gone': not found");
  // A source with uncommitted changes asked for is a bad request.
  expect(await refusalKind(create('x', 'main$'))).toBe('invalid');
  await engine.tags.create({ repository, id: 'tagged', ref: 'main', actor });
  expect((await refusal(create('tagged'))).message).toBe('tag ID tagged: conflict found');
});

test('branches and tags are found by any part of their names, page by page', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const name of ['fix-1', 'hotfix', 'other', 'prefix']) {
    await engine.branches.create({ repository, name, source: 'main', actor });
    await engine.tags.create({ repository, id: `v-${name}`, ref: 'main', actor });
  }
  const search = 'fix';
  const first = await engine.branches.list({ repository, search, amount: 2 });
  expect([first.items.map(({ id }) => id), first.hasMore]).toEqual([['fix-1', 'hotfix'], true]);
  const rest = await engine.branches.list({ repository, search, amount: 2, after: first.nextOffset });
  expect([rest.items.map(({ id }) => id), rest.hasMore]).toEqual([['prefix'], false]);
  const tags = await engine.tags.list({ repository, search, prefix: 'v-' });
  expect(tags.items.map(({ id }) => id)).toEqual(['v-fix-1', 'v-hotfix', 'v-prefix']);
});

test('hidden branches are listed only on request; the default branch cannot be deleted', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'tx-1', source: 'main', hidden: true, actor });
  const ids = async (showHidden: boolean) =>
    (await engine.branches.list({ repository, showHidden })).items.map((branch) => branch.id);
  expect(await ids(false)).toEqual(['main']);
  expect(await ids(true)).toEqual(['main', 'tx-1']);
  expect((await refusal(engine.branches.delete({ repository, branch: 'main', actor }))).message).toBe(
    'cannot delete repository default branch',
  );
  await engine.branches.delete({ repository, branch: 'tx-1', actor });
  expect(await refusalKind(engine.branches.delete({ repository, branch: 'tx-1', actor }))).toBe('not_found');
});

test('a delete that races delete and re-create spares the new branch or takes it whole, never half', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  let meddled = false;
  const slow = world.engine({
    hooks: {
      after: () => undefined,
      before: async (event) => {
        if (event.type !== 'pre-delete-branch' || meddled) return undefined;
        meddled = true;
        await engine.branches.delete({ repository, branch: 'dev', actor });
        await put(engine, repository, 'main', 'a', '1');
        await commit(engine, repository, 'main');
        await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
        return undefined;
      },
    },
  });
  // The record read first is gone; the delete looks at the new branch, asks its hooks and takes that one.
  await slow.branches.delete({ repository, branch: 'dev', actor });
  expect(await refusalKind(engine.branches.get({ repository, branch: 'dev' }))).toBe('not_found');
});

test('reset of everything, of a prefix and of one object', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['a', 'd/one', 'd/two']) await put(engine, repository, 'main', path, 'old');
  await commit(engine, repository, 'main');
  const change = async () => {
    await put(engine, repository, 'main', 'a', 'new');
    await put(engine, repository, 'main', 'd/one', 'new');
    await put(engine, repository, 'main', 'd/three', 'new');
    await engine.objects.delete({ repository, branch: 'main', path: 'd/two' });
  };
  await change();
  expect(await changes(engine, repository, 'main')).toEqual([
    'changed a',
    'changed d/one',
    'added d/three',
    'removed d/two',
  ]);
  await engine.branches.reset({ repository, branch: 'main', type: 'object', path: 'd/two' });
  expect(await changes(engine, repository, 'main')).toEqual(['changed a', 'changed d/one', 'added d/three']);
  await engine.branches.reset({ repository, branch: 'main', type: 'object', path: 'never-there' });
  await engine.branches.reset({ repository, branch: 'main', type: 'common_prefix', path: 'd/' });
  expect(await changes(engine, repository, 'main')).toEqual(['changed a']);
  expect(await contents(engine, repository, 'main')).toEqual({ a: 'new', 'd/one': 'old', 'd/two': 'old' });
  await change();
  await engine.branches.reset({ repository, branch: 'main', type: 'common_prefix' });
  expect(await changes(engine, repository, 'main')).toEqual([]);
  await change();
  await engine.branches.reset({ repository, branch: 'main', type: 'reset' });
  expect(await contents(engine, repository, 'main')).toEqual({ a: 'old', 'd/one': 'old', 'd/two': 'old' });
  expect(await refusalKind(engine.branches.reset({ repository, branch: 'main', type: 'object' }))).toBe(
    'invalid',
  );
  expect(await refusalKind(engine.branches.reset({ repository, branch: 'gone', type: 'reset' }))).toBe(
    'not_found',
  );
});

test('hard reset refuses staged data, drops entries without effect and follows refs', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const first = await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'a', '2');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'b', 'staged');
  const reset = (ref: string) => engine.branches.hardReset({ repository, branch: 'main', ref, actor });
  // Uncommitted changes are never carried over.
  expect((await refusal(reset('main~'))).message).toBe('main: uncommitted changes (dirty branch)');
  expect(await changes(engine, repository, 'main')).toEqual(['added b']);
  await engine.branches.reset({ repository, branch: 'main', type: 'object', path: 'b' });
  await reset('HEAD~1');
  expect((await engine.branches.get({ repository, branch: 'main' })).commitId).toBe(first);
  expect(await read(engine, repository, 'main', 'a')).toBe('1');
  // The no-effect tombstone of b went with the reset.
  expect(await changes(engine, repository, 'main')).toEqual([]);
  expect(await refusalKind(reset('main$'))).toBe('invalid');
  expect((await refusal(reset('nope'))).message).toBe('hard-reset main to nope: not found');
});

test('protection patterns block writes at once, not merges; bad patterns are refused on save', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const root = (await engine.commits.log({ repository, ref: 'main' })).items.at(-1)!.id;
  await engine.branches.create({ repository, name: 'stable_1', source: root, actor });
  await put(engine, repository, 'stable_1', 'x', '1');
  await engine.branches.reset({ repository, branch: 'stable_1', type: 'reset' });
  const set = (patterns: string[], ifMatch?: string) =>
    engine.protection.set({ repository, patterns, ifMatch });
  expect(await refusalKind(set(['[']))).toBe('invalid');
  await set(['stable_*', 'a', 'stable_*']);
  const rules = await engine.protection.get(repository);
  expect(rules.patterns).toEqual(['a', 'stable_*']);
  expect((await refusal(put(engine, repository, 'stable_1', 'x', '1'))).message).toBe(
    'cannot write to protected branch',
  );
  expect((await refusal(commit(engine, repository, 'stable_1'))).message).toBe(
    'cannot commit to protected branch',
  );
  expect(
    (await refusal(engine.branches.hardReset({ repository, branch: 'stable_1', ref: 'main', actor })))
      .message,
  ).toBe('protected branch');
  await engine.merges.merge({ repository, source: 'main', destination: 'stable_1', actor });
  expect(await contents(engine, repository, 'stable_1')).toEqual({ a: '1' });
  expect(await refusalKind(set([], 'stale'))).toBe('precondition_failed');
  await set(['b'], `"${rules.etag}"`);
  expect(await refusalKind(set(['c'], ''))).toBe('precondition_failed');
  await set([]);
  expect((await engine.protection.get(repository)).etag).toBe('');
  await set(['c'], '');
  await engine.protection.add({ repository, pattern: 'd' });
  await engine.protection.remove({ repository, pattern: 'c' });
  expect((await engine.protection.get(repository)).patterns).toEqual(['d']);
  expect(await refusalKind(engine.protection.remove({ repository, pattern: 'c' }))).toBe('not_found');
});

test('rules are changed by compare-and-set: concurrent additions all stay', async () => {
  const world = createWorld();
  const engines = [world.engine(), world.engine()];
  const repository = await newRepository(engines[0]!);
  await Promise.all(
    ['a', 'b', 'c', 'd'].map((pattern, index) => engines[index % 2]!.protection.add({ repository, pattern })),
  );
  expect((await engines[0]!.protection.get(repository)).patterns).toEqual(['a', 'b', 'c', 'd']);
});

test('retired tokens are cleaned after the grace, twice, and only they', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'b', '1');
  const { TokenCleaner } = await import('../src/staging/clean-tokens.ts');
  const { RateLimit } = await import('../src/context/rate-limit.ts');
  const kv = createMemStore(world.state);
  // As the keeper of events does.
  const { instanceUid } = await engine.repositories.get(repository);
  const moves = kv.scan(Buffer.from(`${repository}-${instanceUid}`), { prefix: Buffer.from('moves/') });
  for await (const page of moves)
    for (const { value } of page) await engine.outboxes.retireTokens(moveMessage.decode(value).retiredTokens);
  const cleaner = new TokenCleaner({ kv, clock: () => world.now } as never, new RateLimit(0));
  const tokens = async () => {
    const found: string[] = [];
    for await (const partition of kv.partitions())
      if (partition.toString().includes(':')) found.push(partition.toString());
    return found.length;
  };
  await cleaner.run();
  world.now += 59_000;
  await cleaner.run();
  // Entries of a dropped token stay for readers that still hold the old record.
  expect(await tokens()).toBe(2);
  world.now += 1000;
  await cleaner.run();
  expect(await tokens()).toBe(1);
  world.now += 60_000;
  expect(await cleaner.run()).toBe(1);
  expect(await changes(engine, repository, 'main')).toEqual(['added b']);
  const left: string[] = [];
  for await (const page of kv.scan(Buffer.from('cleanup-tokens')))
    left.push(...page.map((entry) => entry.key.toString()));
  expect(left).toEqual([]);
});

test('sealed tokens left by failing commits are folded and lose nothing', async () => {
  const world = createWorld();
  const engine = world.engine({
    hooks: {
      after: () => undefined,
      before: async (event) => {
        if (event.type === 'pre-commit') throw new Error('refused');
        return undefined;
      },
    },
  });
  const repository = await newRepository(engine);
  const expected: Record<string, string> = {};
  for (let index = 0; index < 40; index += 1) {
    expected[`k${index % 7}`] = String(index);
    await put(engine, repository, 'main', `k${index % 7}`, String(index));
    await expect(commit(engine, repository, 'main')).rejects.toThrow('refused');
  }
  await engine.close();
  const stored = await createMemStore(world.state).get(
    Buffer.from(`${repository}-${(await engine.repositories.get(repository)).instanceUid}`),
    Buffer.from('branches/main'),
  );
  const { branchMessage } = await import('@svc/encoding');
  expect(branchMessage.decode(stored!.value).sealedTokens.length).toBeLessThanOrEqual(20);
  const other = world.engine();
  expect(await contents(other, repository, 'main')).toEqual(expected);
  await commit(other, repository, 'main');
  expect(await contents(other, repository, 'main@')).toEqual(expected);
});
