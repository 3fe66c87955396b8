import { openBlockStores, type BlockStoreConfig } from '@svc/block';
import { createMemStore, type CacheBus, type KvStore } from '@svc/kv';
import { startFaultProxy, type Fate, type FaultProxy } from '@svc/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { checkedClient, type Ask, type Reply } from './checked-client.ts';
import { cloudStores, freshBucket } from './cloud-stores.ts';
import { engineOver } from './mem-engine.ts';
import { startApi, type RunningApi } from './start-api.ts';

const stores = await cloudStores();

/** What a store that will be back does meanwhile; the answer is 503 and names it. */
const passing: readonly { readonly fault: string; readonly fate: Fate; readonly cause: string }[] = [
  { fault: 'hangs up', fate: 'drop', cause: 'the store could not be reached: ' },
  {
    fault: 'says nothing',
    fate: 'silence',
    cause: 'the store could not be reached: UND_ERR_HEADERS_TIMEOUT',
  },
  { fault: 'is overloaded', fate: { status: 503 }, cause: 'the store answered 503' },
  { fault: 'throttles', fate: { status: 429 }, cause: 'the store answered 429' },
  { fault: 'fails', fate: { status: 500 }, cause: 'the store answered 500' },
];

describe.each(stores)('faults of a store of type $name', (store) => {
  let proxy: FaultProxy;
  /** Two servers on one database: one reaches the store, the other as the proxy lets it, and with little patience. */
  let healthy: RunningApi;
  let troubled: RunningApi;
  let ask: Ask;
  let bucket = '';
  let fate: Fate = 'pass';
  let counter = 0;
  let repository = '';

  beforeAll(async () => {
    bucket = freshBucket();
    await store.createBucket(bucket);
    proxy = await startFaultProxy(store.endpoint, () => fate);
    const kv = createMemStore();
    const on = (config: BlockStoreConfig) => async (database: KvStore, bus: CacheBus) =>
      engineOver(await openBlockStores([config]), database, bus);
    healthy = await startApi(on(store.config(store.endpoint)), { kv });
    troubled = await startApi(on(store.config(proxy.endpoint, 300)), { kv, withoutSetup: true });
  });
  afterAll(async () => {
    await troubled.stop();
    await healthy.stop();
    await proxy.close();
  });
  beforeEach(async () => {
    // No waiting between attempts.
    vi.spyOn(Math, 'random').mockReturnValue(0);
    become('pass');
    repository = `faults-${counter++}`;
    expect((await create(repository)).status).toBe(201);
  });
  afterEach(() => void vi.restoreAllMocks());

  /** From now on this becomes of every request to the store. */
  const become = (next: Fate): void => {
    fate = next;
    ask = checkedClient(next === 'pass' ? healthy.url : troubled.url);
  };
  const create = (name: string, place = store.place(bucket)): Promise<Reply> =>
    ask('POST', '/repositories', { json: { name, storage_namespace: `${place}/${name}` } });
  const upload = (path: string): Promise<Reply> =>
    ask('POST', `/repositories/${repository}/branches/main/objects?path=${path}`, {
      body: `this is ${path}`,
    });
  const read = (path: string): Promise<Reply> =>
    ask('GET', `/repositories/${repository}/refs/main/objects?path=${path}`);
  const commit = (): Promise<Reply> =>
    ask('POST', `/repositories/${repository}/branches/main/commits`, { json: { message: 'a commit' } });

  /** What an import of everything below `source/` comes to. */
  async function importAll(): Promise<{ readonly completed: boolean; readonly error?: { message: string } }> {
    const branch = `/repositories/${repository}/branches/main/import`;
    const paths = [{ path: `${store.place(bucket)}/source/`, destination: 'in/', type: 'common_prefix' }];
    const started = await ask('POST', branch, { json: { paths, commit: { message: 'imported' } } });
    expect(started.status).toBe(202);
    const status = async () => (await ask('GET', `${branch}?id=${started.body.id}`)).body;
    await expect
      .poll(status, { timeout: 30_000 })
      .toSatisfy(({ completed, error }) => completed === true || error !== undefined);
    return await status();
  }

  test.each(passing)('while it $fault, nothing acknowledged is lost and nothing half done', async (row) => {
    expect((await upload('kept')).status).toBe(201);
    const other = `${repository}-other`;
    const told = { status: 503, body: { message: expect.stringContaining(row.cause) as string } };
    become(row.fate);
    const refused = await create(other);
    expect(refused).toMatchObject(told);
    expect(refused.body.message).toMatch(/^failed to create repository: failed to access storage: /);
    expect(await upload('lost')).toMatchObject(told);
    expect(await commit()).toMatchObject({ status: 503 });
    expect((await importAll()).error?.message).toContain(row.cause);

    become('pass');
    expect((await create(other)).status).toBe(201);
    expect((await read('lost')).status).toBe(404);
    expect((await commit()).status).toBe(201);
    expect(await read('kept')).toMatchObject({ status: 200, text: 'this is kept' });
    expect((await importAll()).completed).toBe(true);
  });

  test('with nobody there the answer is 503 and says so', async () => {
    const nobody = await openBlockStores([store.config('http://127.0.0.1:1')]);
    const alone = await startApi((kv, bus) => engineOver(nobody, kv, bus));
    const name = 'nobody';
    const reply = await checkedClient(alone.url)('POST', '/repositories', {
      json: { name, storage_namespace: `${store.place(bucket)}/${name}` },
    });
    expect(reply).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining('ECONNREFUSED') as string },
    });
    await alone.stop();
  });

  test('a bucket that is missing, and a key that is not known, are told to who creates a repository', async () => {
    expect((await upload('kept')).status).toBe(201);
    const missing = await create('missing', store.place(freshBucket()));
    expect(missing.status).toBe(400);
    expect(missing.body.message).toMatch(/^failed to create repository: .*the store answered 404/);
    become(store.refusesKey);
    const refused = await create('refused');
    expect(refused.status).toBe(400);
    expect(refused.body.message).toMatch(
      new RegExp(
        `^failed to create repository: failed to access storage: .*the store answered ${store.refusesKey.status}`,
      ),
    );
    expect(await upload('refused')).toMatchObject({
      status: 403,
      body: { message: 'forbidden by the object store' },
    });
    expect(await commit()).toMatchObject({ status: 403 });
    become('pass');
    expect((await create('refused')).status).toBe(201);
    expect((await read('refused')).status).toBe(404);
    expect((await commit()).status).toBe(201);
    expect((await read('kept')).text).toBe('this is kept');
  });

  test('a clock that the store does not accept is told to who creates a repository', async () => {
    const ahead = new Date(Date.now() + 3_600_000).toUTCString();
    become({ ...store.refusesClock, headers: { ...store.refusesClock.headers, date: ahead } });
    const refused = await create('skewed');
    expect(refused.status).toBe(400);
    expect(refused.body.message).toContain(`the store answered ${store.refusesClock.status}`);
    become('pass');
    expect((await create('skewed')).status).toBe(201);
  });
});
