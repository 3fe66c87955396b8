import { createAuth, type Auth } from '@svc/auth';
import type { InstallationFacts } from '@svc/api';
import { BlockStores, createMemAdapter } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { createMemStore, LocalCacheBus, type KvStore } from '@svc/kv';
import { tempDir, waitUntil } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { warmUp, warmUpFurther } from './warm-up.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const actor = { committer: 'me', userId: 'me' };
const never = new Promise<never>(() => {});
const installation = (): InstallationFacts => {
  throw new Error('nobody asks');
};
/** No test waits for that long. */
const patient = { installation, limitMs: 60_000 };

let auth: Auth;
let engine: Engine;
let calls: string[];

/** The same store, which notes the names of what is called. */
function noting(store: KvStore): KvStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(String(name));
        return Reflect.apply(value, target, args);
      };
    },
  });
}

beforeAll(async () => {
  calls = [];
  const kv = noting(createMemStore());
  const cacheBus = new LocalCacheBus();
  auth = await createAuth({
    kv,
    cacheBus,
    encryptSecretKey: 'a secret of the tests, long enough',
    mode: 'internal',
    cache: { enabled: true, size: 1024, ttlMs: 20_000, jitterMs: 0 },
    loginDurationMs: 3_600_000,
    loginMaxDurationMs: 3_600_000,
    logger: quiet,
  });
  ({ engine } = await openEngine({
    kv,
    blockStores: new BlockStores([createMemAdapter({})]),
    cacheBus,
    signingSecret: 'a secret of the tests',
    cacheDir: tempDir(),
    treeSettings: { worker: false },
  }));
});
afterAll(async () => {
  await engine.close();
  auth.close();
});

/** The same engine, whose stats are answered by `stat`. */
function withStat(stat: Engine['objects']['stat']): Engine {
  return { ...engine, objects: { ...engine.objects, stat } };
}

test('nothing is asked where there is nothing to read', async () => {
  await engine.repositories.create({ name: 'empty', storageNamespace: 'mem://bucket/empty', actor });
  const asked: string[] = [];
  const counting = withStat((options) => {
    asked.push(options.path);
    return engine.objects.stat(options);
  });
  await warmUp({ engine: counting, auth, ...patient });
  expect(asked).toEqual([]);
});

test('objects are read until the time is over, and nothing is written or counted', async () => {
  await engine.repositories.create({ name: 'full', storageNamespace: 'mem://bucket/full', actor });
  for (const path of ['a b', 'ä/c'])
    await engine.objects.upload({
      repository: 'full',
      branch: 'main',
      path,
      body: Buffer.from(path),
    });
  await engine.commits.create({ repository: 'full', branch: 'main', message: 'm', actor });
  const asked: string[] = [];
  let counted = 0;
  const { usage } = engine;
  const counting: Engine = {
    ...withStat(async (options) => {
      const entry = await engine.objects.stat(options);
      asked.push(entry.path);
      return entry;
    }),
    usage: {
      record: () => {
        counted += 1;
      },
      flush: () => usage.flush(),
      reports: () => usage.reports(),
    },
  };
  calls = [];
  await warmUp({ engine: counting, auth, installation, limitMs: 200 });
  expect(asked.slice(0, 2)).toEqual(['a b', 'a b']);
  expect(calls.filter((name) => /^(set|change|delete)/.test(name))).toEqual([]);
  expect(counted).toBe(0);
});

test('a store that fails or does not answer keeps nobody from starting', async () => {
  const down: Engine = {
    ...engine,
    repositories: { ...engine.repositories, list: () => Promise.reject(new Error('the store is down')) },
  };
  await warmUp({ engine: down, auth, ...patient });
  let failures = 0;
  const failing = withStat(() => {
    failures += 1;
    return Promise.reject(new Error('the store is down'));
  });
  await warmUp({ engine: failing, auth, installation, limitMs: 50 });
  expect(failures).toBeGreaterThan(0);
  await warmUp({ engine: withStat(() => never), auth, installation, limitMs: 20 });
  const silent: Engine = { ...engine, repositories: { ...engine.repositories, list: () => never } };
  await warmUp({ engine: silent, auth, installation, limitMs: 20 });
});

/** An engine that notes the paths of its stats; the tests before have filled its repository. */
function noticed(): { readonly engine: Engine; readonly asked: string[] } {
  const asked: string[] = [];
  const noticing = withStat((options) => {
    asked.push(options.path);
    return engine.objects.stat(options);
  });
  return { engine: noticing, asked };
}

test('behind an open door objects are read for a while, and nothing is written', async () => {
  const { engine: noticing, asked } = noticed();
  calls = [];
  const further = warmUpFurther({
    engine: noticing,
    auth,
    installation,
    arrivals: () => 0,
    workers: 1,
    limitMs: 100,
  });
  await waitUntil(() => asked.length > 20, { what: 'reads' });
  const isOver = async (): Promise<boolean> => {
    const before = asked.length;
    await delay(100);
    return asked.length === before;
  };
  await waitUntil(isOver, { what: 'the end of reading', timeoutMs: 5000 });
  expect(calls.filter((name) => /^(set|change|delete)/.test(name))).toEqual([]);
  await further.stop();
});

test('many workers of a server read no more together than a few', async () => {
  const reads = async (workers: number): Promise<number> => {
    const { engine: noticing, asked } = noticed();
    const further = warmUpFurther({ engine: noticing, auth, ...patient, arrivals: () => 0, workers });
    await waitUntil(() => asked.length > 0, { what: 'a read' });
    await delay(200);
    await further.stop();
    return asked.length;
  };
  expect(await reads(400)).toBeLessThan((await reads(2)) / 10);
});

test('whoever comes is let by, and reading goes on when it is quiet again', async () => {
  const { engine: noticing, asked } = noticed();
  let arrivals = 0;
  let isQuiet = false;
  const comeOrNot = (): number => (isQuiet ? arrivals : ++arrivals);
  const further = warmUpFurther({ engine: noticing, auth, ...patient, arrivals: comeOrNot, workers: 2 });
  await waitUntil(() => arrivals > 4, { what: 'looks' });
  expect(asked).toEqual([]);
  isQuiet = true;
  await waitUntil(() => asked.length > 0, { what: 'reads' });
  // The connection outlives the looks at connections that send nothing but heads.
  await delay(700);
  const before = asked.length;
  await waitUntil(() => asked.length > before, { what: 'more reads' });
  await further.stop();
});

test('reading behind an open door ends with the server, whatever the store does', async () => {
  const { engine: noticing, asked } = noticed();
  const endless = warmUpFurther({ engine: noticing, auth, ...patient, arrivals: () => 0, workers: 1 });
  await waitUntil(() => asked.length > 0, { what: 'a read' });
  await endless.stop();
  const all = asked.length;
  await delay(50);
  expect(asked.length).toBe(all);

  let isAsked = false;
  const silent = withStat(() => {
    isAsked = true;
    return never;
  });
  const waiting = warmUpFurther({ engine: silent, auth, ...patient, arrivals: () => 0, workers: 1 });
  await waitUntil(() => isAsked, { what: 'the silent store to be asked' });
  await waiting.stop();

  const down: Engine = {
    ...engine,
    repositories: { ...engine.repositories, list: () => Promise.reject(new Error('the store is down')) },
  };
  await warmUpFurther({ engine: down, auth, ...patient, arrivals: () => 0, workers: 1 }).stop();
});
