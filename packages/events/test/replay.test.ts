import { BlockStores, createMemAdapter } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { createMemStore, LocalCacheBus, MemState, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { KeeperTerm } from '../src/index.ts';
import { readLog, silent } from './moves.ts';
import { Killed, killedAt, steppedKv } from './stepped-kv.ts';

const actor = { committer: 'anna', userId: 'anna' };

async function partitionsOf({ outboxes }: Engine): Promise<string[]> {
  const names: string[] = [];
  for await (const partition of outboxes.partitions()) names.push(partition.toString());
  return names;
}

/** One term of a keeper, until nothing is left or it dies. */
async function keep(kv: KvStore, engine: Engine): Promise<void> {
  const term = await KeeperTerm.begin({ kv, source: engine.outboxes, logger: silent, clock: Date.now });
  for (;;) {
    const round = await term.round(await partitionsOf(engine));
    if (round === undefined || round.appended === 0) return;
  }
}

/** The refs that the events tell of, from nothing. */
async function replayed(kv: KvStore): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  for (const { subject, move } of await readLog(kv)) {
    if (move === undefined || subject === '') continue;
    const [before, after] = [move.old.toString('hex'), move.new.toString('hex')];
    // Each event begins where the one before it ended.
    expect(before, subject).toBe(refs.get(subject) ?? '');
    if (after === '') refs.delete(subject);
    else refs.set(subject, after);
  }
  return refs;
}

async function refsOf(engine: Engine, repository: string): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  for (const { id, commitId } of (await engine.branches.list({ repository, amount: 1000 })).items) {
    refs.set(`branch/${id}`, commitId);
  }
  for (const { id, commitId } of (await engine.tags.list({ repository, amount: 1000 })).items) {
    refs.set(`tag/${id}`, commitId);
  }
  return refs;
}

test('the events of random work, replayed from nothing, meet the refs exactly, whatever keepers die', async () => {
  const kv = createMemStore(new MemState());
  const { engine } = await openEngine({
    kv,
    blockStores: new BlockStores([createMemAdapter({})]),
    cacheBus: new LocalCacheBus(),
    signingSecret: 'a secret of the tests',
    cacheDir: tempDir(),
    treeSettings: { worker: false },
  });
  const repository = 'replayed';
  await engine.repositories.create({ name: repository, storageNamespace: 'mem://replayed', actor });
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return (seed >> 8) % below;
  };
  const name = (): string => `b${random(4)}`;
  const commit = (branch: string) =>
    engine.commits.create({ repository, branch, message: 'm', allowEmpty: true, actor });
  const works: readonly (() => Promise<unknown>)[] = [
    () => commit('main'),
    () => commit(name()),
    () => engine.branches.create({ repository, name: name(), source: 'main', actor }),
    () => engine.branches.delete({ repository, branch: name(), actor }),
    () => engine.branches.hardReset({ repository, branch: name(), ref: 'main', actor }),
    () => engine.tags.create({ repository, id: `t${random(3)}`, ref: 'main', actor }),
    () => engine.tags.delete({ repository, id: `t${random(3)}`, actor }),
    () => engine.reflog.undelete({ repository, type: 'branch', id: name(), actor }),
  ];
  let deaths = 0;
  for (let step = 0; step < 150; step += 1) {
    // Refusals are part of the work: they must tell of nothing.
    await works[random(works.length)]?.().catch(() => undefined);
    if (random(3) > 0) continue;
    try {
      await keep(steppedKv(kv, killedAt(random(60)).step), engine);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      deaths += 1;
    }
  }
  await keep(kv, engine);
  expect(deaths).toBeGreaterThan(10);
  const refs = await refsOf(engine, repository);
  expect(refs.size).toBeGreaterThan(1);
  expect(await replayed(kv)).toEqual(refs);
  await engine.close();
});

test('what happened in a repository just before it was deleted is told all the same', async () => {
  const kv = createMemStore(new MemState());
  const { engine } = await openEngine({
    kv,
    blockStores: new BlockStores([createMemAdapter({})]),
    cacheBus: new LocalCacheBus(),
    signingSecret: 'a secret of the tests',
    cacheDir: tempDir(),
    treeSettings: { worker: false },
  });
  const repository = 'short-lived';
  await engine.repositories.create({ name: repository, storageNamespace: 'mem://short-lived', actor });
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await engine.repositories.delete({ repository, actor });
  for (const name of await partitionsOf(engine)) {
    expect(await engine.outboxes.isThere(Buffer.from(name)), name).toBe(true);
  }
  await keep(kv, engine);
  expect((await readLog(kv)).map(({ type, subject }) => `${type} ${subject}`)).toEqual([
    'svc.repository.created ',
    'svc.repository.deleted ',
    'svc.branch.created branch/main',
    'svc.branch.created branch/dev',
  ]);
  await engine.close();
});
