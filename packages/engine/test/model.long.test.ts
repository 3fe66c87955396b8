import { join } from 'node:path';
import { openStore, type KvStore } from '@svc/kv';
import { tempDir, testServer } from '@svc/testing';
import { expect, test } from 'vitest';
import { actor, contents, newRepository, put } from './fixture.ts';
import { runModel } from './model-run.ts';
import { openRealEngine, type RealEngine } from './real-engine.ts';
import { Random } from './scheduler.ts';

/** Two engines on one store, each with its own cache folder, as two servers have. */
async function openTwo(openKv: () => Promise<KvStore>): Promise<{ both: RealEngine[]; folder: string }> {
  const folder = tempDir('model-long');
  const both = [await openRealEngine(folder, { kv: await openKv() })];
  both.push(await openRealEngine(folder, { kv: await openKv(), evict: false }));
  return { both, folder };
}

async function openLocal(): Promise<() => Promise<KvStore>> {
  const path = join(tempDir('model-kv'), 'kv');
  return () => openStore({ type: 'local', path, syncWrites: true });
}

async function openPostgres(): Promise<() => Promise<KvStore>> {
  const { connectionString } = await testServer('postgres');
  return () =>
    openStore({
      type: 'postgres',
      connectionString,
      maxOpenConnections: 10,
      maxIdleConnections: 10,
      connectionMaxLifetimeMs: 0,
      scanPageSize: 1000,
    });
}

/** Reads of the local store end without leaving the event loop's turn; a tight loop would let nobody else in. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const stores: [string, () => Promise<() => Promise<KvStore>>][] = [
  ['local', openLocal],
  ['postgres', openPostgres],
];

test.each(stores)('%s: random operations on two engines agree with the model', async (_name, openKv) => {
  const { both } = await openTwo(await openKv());
  const engines = both.map((opened) => opened.engine);
  for (let seed = 1; seed <= 3; seed += 1) {
    const repository = await newRepository(engines[0]!, { folder: 'local://model' });
    let date = 0;
    await runModel({ engines, repository, random: new Random(seed), steps: 300, tick: () => (date += 1) });
  }
  for (const opened of both) await opened.close();
});

test.each(stores)('%s: no acknowledged write is lost while commits and merges run', async (_name, openKv) => {
  const { both } = await openTwo(await openKv());
  const engines = both.map((opened) => opened.engine);
  const repository = await newRepository(engines[0]!, { folder: 'local://race' });
  await engines[0]!.branches.create({ repository, name: 'side', source: 'main', actor });
  const acknowledged = new Map<string, string>();
  const writer = async (index: number): Promise<void> => {
    for (let round = 0; round < 150; round += 1) {
      const key = `w${index}/${round % 20}`;
      await put(engines[index % 2]!, repository, 'main', key, String(round));
      acknowledged.set(key, String(round));
      const shown = await engines[(index + 1) % 2]!.objects.stat({ repository, ref: 'main', path: key });
      expect(shown.size).toBe(String(round).length);
    }
  };
  const state = { writing: true };
  const quiet = (error: unknown): void => {
    expect(['no_changes', 'busy', 'dirty_branch']).toContain((error as { kind?: string }).kind);
  };
  const committer = async (index: number): Promise<void> => {
    while (state.writing) {
      await breath();
      await engines[index]!.commits.create({ repository, branch: 'main', message: 'c', actor }).catch(quiet);
    }
  };
  const merger = async (): Promise<void> => {
    while (state.writing) {
      await breath();
      await engines[0]!.merges.merge({ repository, source: 'main', destination: 'side', actor }).catch(quiet);
    }
  };
  const background = [committer(0), committer(1), merger()];
  await Promise.all(Array.from({ length: 20 }, (_, index) => writer(index)));
  state.writing = false;
  await Promise.all(background);
  expect(new Map(Object.entries(await contents(engines[0]!, repository, 'main')))).toEqual(acknowledged);
  for (const opened of both) await opened.close();
});
