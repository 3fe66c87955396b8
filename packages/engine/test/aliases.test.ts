import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { wholeRound } from '../src/face/jobs.ts';
import { actor, commit, createWorld, put, refusal, refusalKind, type World } from './fixture.ts';
import { Random } from './scheduler.ts';

const anna = { committer: 'Anna', userId: 'anna' };

async function sales(): Promise<{ world: World; engine: Engine; heads: string[] }> {
  const world = createWorld();
  const engine = world.engine();
  await engine.repositories.create({ name: 'sales', storageNamespace: 'mem://bucket/sales', actor });
  const heads: string[] = [];
  for (const content of ['1', '2']) {
    world.now += 1000;
    await put(engine, 'sales', 'main', 'tables/a', content);
    heads.push(await commit(engine, 'sales', 'main'));
  }
  return { world, engine, heads };
}

test('an alias is swapped and rolled back, by whom and from what to what on record', async () => {
  const { world, engine, heads } = await sales();
  const target = { repository: 'sales', ref: 'main', prefix: 'tables/' };
  const made = await engine.bindings.createAlias({ name: 'prod', target, actor });
  expect(made).toMatchObject({
    generation: 1,
    writable: true,
    pinned: false,
    commitId: heads[1],
    dangling: false,
  });
  world.now += 1000;
  const pinned = await engine.bindings.setAlias({
    name: 'prod',
    target: { repository: 'sales', ref: 'main~1', pin: true },
    actor: anna,
    ifGeneration: 1,
  });
  expect(pinned.before.commitId).toBe(heads[1]);
  expect(pinned.after).toMatchObject({
    generation: 2,
    writable: false,
    pinned: true,
    commitId: heads[0],
    prefix: '',
  });
  // Another server sees it at once.
  expect((await world.engine().bindings.findBucket('prod')).bound?.ref).toBe(heads[0]);
  expect(await refusalKind(engine.bindings.setAlias({ name: 'prod', target, actor, ifGeneration: 1 }))).toBe(
    'precondition_failed',
  );
  world.now += 1000;
  const back = await engine.bindings.rollbackAlias({ name: 'prod', actor: anna });
  expect(back).toMatchObject({ generation: 3, ref: 'main', prefix: 'tables/', pinned: false });
  const log = await engine.bindings.aliasLog({ name: 'prod', amount: 2 });
  expect(log.items.map(({ kind, user }) => [kind, user])).toEqual([
    ['rollback', 'anna'],
    ['set', 'anna'],
  ]);
  expect(log.items[1]).toMatchObject({ old: { ref: 'main' }, new: { ref: 'main~1', commitId: heads[0] } });
  const rest = await engine.bindings.aliasLog({ name: 'prod', after: log.nextOffset });
  expect(rest.items.map(({ kind }) => kind)).toEqual(['create']);
  await engine.bindings.deleteAlias({ name: 'prod', actor });
  expect(await refusalKind(engine.bindings.getAlias('prod'))).toBe('not_found');
  expect(await refusalKind(engine.bindings.findBucket('prod'))).toBe('not_found');
});

test('no name is an alias and a repository, also when both are made at once', async () => {
  const { world, engine } = await sales();
  const target = { repository: 'sales', ref: 'main' };
  expect(await refusalKind(engine.bindings.createAlias({ name: 'sales', target, actor }))).toBe(
    'already_exists',
  );
  await engine.bindings.createAlias({ name: 'prod', target, actor });
  const repository = { name: 'prod', storageNamespace: 'mem://bucket/prod', actor };
  expect((await refusal(engine.repositories.create(repository))).message).toBe("an alias 'prod' exists");
  for (let round = 0; round < 20; round += 1) {
    const name = `both-${round}`;
    const outcomes = await Promise.allSettled([
      engine.bindings.createAlias({ name, target, actor }),
      world.engine().repositories.create({ name, storageNamespace: `mem://bucket/${name}`, actor }),
    ]);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThan(2);
    const found = await Promise.allSettled([
      engine.bindings.getAlias(name),
      world.engine().repositories.get(name),
    ]);
    expect(found.map(({ status }) => status)).toEqual(outcomes.map(({ status }) => status));
  }
});

test('an alias dangles while its repository is deleted, never means a namesake, and revives with it', async () => {
  const { engine } = await sales();
  const { instanceUid: instance } = await engine.repositories.get('sales');
  await engine.bindings.createAlias({ name: 'prod', target: { repository: 'sales', ref: 'main' }, actor });
  await engine.repositories.delete({ repository: 'sales', actor });
  expect(await engine.bindings.getAlias('prod')).toMatchObject({ dangling: true, commitId: undefined });
  await engine.repositories.create({ name: 'sales', storageNamespace: 'mem://bucket/other', actor });
  expect(await refusalKind(engine.bindings.findBucket('prod'))).toBe('not_found');
  await engine.repositories.delete({ repository: 'sales', actor, purge: true });
  await engine.repositories.restore({ instance, actor });
  expect((await engine.bindings.findBucket('prod')).repository.instanceUid).toBe(instance);
});

test('an access key with a view knows its bucket and no other', async () => {
  const { engine } = await sales();
  const target = { repository: 'sales', ref: 'main', readOnly: true };
  const view = await engine.bindings.setView({ accessKeyId: 'AKIAVIEW', target, actor });
  expect(view).toMatchObject({ bucket: 'sales', writable: false });
  const find = (bucket: string) => engine.bindings.findBucketOfKey({ accessKeyId: 'AKIAVIEW', bucket });
  expect((await find('sales')).bound).toMatchObject({ ref: 'main', readOnly: true });
  expect(await refusalKind(find('other'))).toBe('forbidden');
  await engine.bindings.deleteView({ accessKeyId: 'AKIAVIEW', actor });
  expect(await refusalKind(find('sales'))).toBe('forbidden');
});

test('what a pinned alias shows is kept by collectors', async () => {
  const { world, engine, heads } = await sales();
  await engine.gc.setRules({ repository: 'sales', rules: { defaultRetentionDays: 1, branches: [] } });
  const pinned = { repository: 'sales', ref: 'main~1', pin: true };
  const active = async (): Promise<string> => {
    const { commitsLocation } = await engine.gc.prepareCommits('sales');
    const identifier = commitsLocation.slice('mem://bucket/sales/'.length);
    const pointer = {
      storageNamespace: 'mem://bucket/sales',
      identifier,
      identifierType: 'relative',
    } as const;
    const body = await world.adapter.get(pointer);
    let text = '';
    for await (const chunk of body.stream()) text += String(chunk);
    return text;
  };
  world.now += 10 * 24 * 3_600_000;
  expect(await active()).not.toContain(heads[0]);
  await engine.bindings.createAlias({ name: 'prod', target: pinned, actor });
  expect(await active()).toContain(heads[0]);
});

test('bad targets are refused by the field they are about', async () => {
  const { engine } = await sales();
  const make = (target: object, name = 'prod') =>
    refusal(
      engine.bindings.createAlias({ name, target: { repository: 'sales', ref: 'main', ...target }, actor }),
    );
  expect((await make({ prefix: '/a' })).message).toContain('prefix');
  expect((await make({ prefix: 'x'.repeat(513) })).message).toContain('prefix');
  expect((await make({ description: 'x'.repeat(257) })).message).toContain('description');
  expect((await make({}, 'Prod')).message).toContain('name');
  expect((await make({ ref: 'nothing' })).kind).toBe('not_found');
  expect((await make({ ref: 'main$', pin: true })).kind).toBe('invalid');
  expect((await make({ repository: 'nothing' })).kind).toBe('not_found');
});

test('views of keys that are gone are removed once they are no longer young', async () => {
  const { world, engine } = await sales();
  const target = { repository: 'sales', ref: 'main' };
  for (const accessKeyId of ['AKIAUSED', 'AKIAGONE', 'AKIASETAGAIN'])
    await engine.bindings.setView({ accessKeyId, target, actor });
  const found = async (): Promise<string[]> => {
    const keys = ['AKIAUSED', 'AKIAGONE', 'AKIASETAGAIN'];
    const views = await Promise.all(keys.map((key) => engine.bindings.getView(key)));
    return keys.filter((_key, index) => views[index] !== undefined);
  };
  const sweep = (onAsked?: () => Promise<unknown>) =>
    engine.bindings.removeUnusedViews({
      isUsed: async (key) => {
        if (key === 'AKIASETAGAIN') await onAsked?.();
        return key === 'AKIAUSED';
      },
      round: wholeRound,
    });
  await sweep();
  expect(await found()).toEqual(['AKIAUSED', 'AKIAGONE', 'AKIASETAGAIN']);
  world.now += 2 * 3_600_000;
  await sweep(() => engine.bindings.setView({ accessKeyId: 'AKIASETAGAIN', target, actor }));
  expect(await found()).toEqual(['AKIAUSED', 'AKIASETAGAIN']);
});

test('aliases moved at random by two servers whose clocks differ: their logs replay to what they show', async () => {
  const { world, engine } = await sales();
  const late = world.engine({ clock: () => world.now - 3_600_000 });
  const random = new Random(7);
  const refs = ['main', 'main@', 'main~1', 'main@-1'];
  interface Move {
    readonly old: string | undefined;
    readonly new: string;
  }
  const model = new Map<string, Move[]>();
  for (let step = 0; step < 150; step += 1) {
    world.now += random.below(2000);
    const { bindings } = random.below(2) === 0 ? engine : late;
    const name = `alias-${random.below(3)}`;
    const moves = model.get(name);
    const shown = moves?.at(-1)?.new;
    const ref = refs[random.below(refs.length)] ?? 'main';
    const target = { repository: 'sales', ref };
    const what = random.below(8);
    if (moves === undefined) {
      await bindings.createAlias({ name, target, actor });
      model.set(name, [{ old: undefined, new: ref }]);
    } else if (what === 0) {
      await bindings.deleteAlias({ name, actor });
      model.delete(name);
    } else if (what < 3) {
      const back = moves.at(-1)?.old;
      const rolled = bindings.rollbackAlias({ name, actor });
      if (back === undefined) expect(await refusalKind(rolled)).toBe('not_found');
      else {
        expect((await rolled).ref).toBe(back);
        moves.push({ old: shown, new: back });
      }
    } else {
      await bindings.setAlias({ name, target, actor });
      moves.push({ old: shown, new: ref });
    }
    for (const [each, past] of model) {
      expect((await engine.bindings.getAlias(each)).ref).toBe(past.at(-1)?.new);
    }
  }
  for (const [name, moves] of model) {
    const { items } = await late.bindings.aliasLog({ name, amount: 1000 });
    expect(items.map((item) => ({ old: item.old?.ref, new: item.new?.ref })).reverse()).toEqual(moves);
    const ids = items.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
  }
  const listed = (await engine.bindings.listAliases({})).items.map(({ bucket }) => bucket);
  expect(listed).toEqual([...model.keys()].sort());
});

test('what is found of an alias without waiting is what the store says now, whoever swapped it', async () => {
  const { world, engine, heads } = await sales();
  const other = world.engine();
  const target = { repository: 'sales', ref: 'main' };
  expect(engine.bindings.findBucketAtOnce('prod')).toBeUndefined();
  await other.bindings.createAlias({ name: 'prod', target, actor });
  expect(engine.bindings.findBucketAtOnce('prod')?.bound?.ref).toBe('main');
  await other.bindings.setAlias({ name: 'prod', target: { ...target, ref: 'main~1', pin: true }, actor });
  expect(engine.bindings.findBucketAtOnce('prod')?.bound?.ref).toBe(heads[0]);
  await other.bindings.deleteAlias({ name: 'prod', actor });
  expect(engine.bindings.findBucketAtOnce('prod')).toBeUndefined();
  await other.bindings.createAlias({ name: 'prod', target, actor });
  await engine.repositories.delete({ repository: 'sales', actor });
  await engine.repositories.create({
    name: 'sales',
    storageNamespace: 'mem://bucket/namesake',
    actor,
  });
  await engine.repositories.get('sales');
  expect(engine.bindings.findBucketAtOnce('prod')).toBeUndefined();
  expect(await refusalKind(engine.bindings.findBucket('prod'))).toBe('not_found');
});
