import { createAuth, type Auth } from '@svc/auth';
import type { InstallationFacts } from '@svc/api';
import { BlockStores, createMemAdapter } from '@svc/block';
import { openEngine, type Engine } from '@svc/engine';
import { createMemStore, LocalCacheBus, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { warmUp } from './warm-up.ts';

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
