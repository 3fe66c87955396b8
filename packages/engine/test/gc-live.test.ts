import { BlockStores } from '@svc/block';
import { createMemStore, LocalCacheBus, type KvStore } from '@svc/kv';
import { describe, expect, test } from 'vitest';
import { createContext } from '../src/context/engine-context.ts';
import type { Engine } from '../src/engine.ts';
import { foldSealedTokens } from '../src/staging/fold-tokens.ts';
import { entryByEntry, watched } from './failing-store.ts';
import { listCommits, listStaged, noDays, readAddresses } from './external-collector.ts';
import { actor, commit, createWorld, newRepository, put, refusal, type World } from './fixture.ts';

const hour = 3_600_000;
const everyKeyAPage = { settings: { ugcPrepareIntervalMs: -1 } };

async function addressOf(engine: Engine, repository: string, ref: string, path: string): Promise<string> {
  return (await engine.objects.stat({ repository, ref, path })).address;
}

describe('what is staged, told to an external collector', () => {
  test('has a place and a file also when nothing is staged', async () => {
    const world = createWorld();
    const engine = world.engine();
    const repository = await newRepository(engine);
    const { storageNamespace } = await engine.repositories.get(repository);
    const page = await engine.gc.prepareUncommitted({ repository });
    expect(page.continuationToken).toBeUndefined();
    expect(page.location).toBe(`${storageNamespace}/_svc/retention/gc/uncommitted/${page.runId}/uncommitted`);
    expect(await readAddresses(world.adapter, page.location)).toEqual([]);
  });

  test('is not forgotten when the last page has nothing but deletions', async () => {
    const world = createWorld();
    const engine = world.engine(everyKeyAPage);
    const repository = await newRepository(engine);
    await put(engine, repository, 'main', 'z', '1');
    await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', '2');
    await engine.objects.delete({ repository, branch: 'main', path: 'z' });
    const staged = await listStaged(world.adapter, engine, repository);
    expect([...staged]).toEqual([await addressOf(engine, repository, 'main', 'a')]);
  });

  test('goes on for two hours after the last call', async () => {
    const world = createWorld();
    const engine = world.engine(everyKeyAPage);
    const repository = await newRepository(engine);
    for (const path of ['a', 'b', 'c', 'd']) await put(engine, repository, 'main', path, path);
    const first = await engine.gc.prepareUncommitted({ repository });
    world.now += 1.9 * hour;
    const second = await engine.gc.prepareUncommitted({ repository, ...first });
    world.now += 1.9 * hour;
    const third = await engine.gc.prepareUncommitted({ repository, ...second });
    world.now += 2.1 * hour;
    expect(await refusal(engine.gc.prepareUncommitted({ repository, ...third }))).toMatchObject({
      kind: 'conflict',
      message: `run ${first.runId} is too old: start again`,
    });
    expect((await listStaged(world.adapter, engine, repository)).size).toBe(4);
  });

  test('includes objects of uploads that are under way or just over', async () => {
    const world = createWorld();
    const engine = world.engine();
    const [repository, foreign] = [await newRepository(engine), await newRepository(engine)];
    const begin = async (where: string, path: string) => {
      const place = { repository: where, branch: 'main', path };
      const { uploadId } = await engine.uploads.create({ ...place, owner: 'me' });
      const part = await engine.uploads.putPart({
        ...place,
        uploadId,
        partNumber: 1,
        body: Buffer.from(path),
      });
      return () => engine.uploads.complete({ ...place, uploadId, parts: [part] });
    };
    await begin(foreign, 'foreign');
    await begin(repository, 'open');
    const completed = await (await begin(repository, 'completed'))();
    world.now += 3 * 24 * hour;
    const late = await begin(repository, 'late');
    const held = await listStaged(world.adapter, engine, repository);
    // Staged after it was listed: the store dates the object by the start of the upload.
    const lateEntry = await late();
    expect(held).toContain(lateEntry.address);
    expect(held).toContain(completed.address);
    expect(held.size).toBe(3);
  });

  test.each(['listed', 'read'])(
    'is read again when tokens are folded after the branch was %s',
    async (when) => {
      const world = createWorld();
      const { repository, addresses, fold } = await withManySealedTokens(world);
      let once = true;
      const foldOnce = async (key: string, moment: string): Promise<void> => {
        if (key !== 'branches/dev' || moment !== when || !once) return;
        once = false;
        await fold();
      };
      const collector = world.engine({
        wrapKv: (kv) =>
          watched(
            entryByEntry(kv, (key) => foldOnce(key, 'listed')),
            () => undefined,
            ({ key, method }) => (method === 'get' ? foldOnce(key, 'read') : undefined),
          ),
      });
      const staged = await listStaged(world.adapter, collector, repository);
      expect(once).toBe(false);
      expect([...staged].toSorted()).toEqual(addresses.toSorted());
    },
  );
});

/** A branch whose commits were refused again and again, so that its staging lies in many tokens. */
async function withManySealedTokens(world: World) {
  const engine = world.engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const kv = createMemStore(world.state);
  const context = createContext({
    kv,
    blockStores: new BlockStores([world.adapter]),
    trees: world.trees,
    cacheBus: new LocalCacheBus(),
    signingSecret: 'secret-key',
  });
  const scope = await context.repositories.open(repository);
  const addresses: string[] = [];
  for (let index = 0; index < 18; index += 1) {
    const path = `p${index}`;
    await put(engine, repository, 'dev', path, path);
    addresses.push(await addressOf(engine, repository, 'dev', path));
    const head = await context.branches.get(scope, 'dev');
    const sealedTokens = [head.data.stagingToken, ...head.data.sealedTokens];
    const stagingToken = `${repository}-dev:${crypto.randomUUID()}`;
    await context.branches.replace(scope, head, { ...head.data, stagingToken, sealedTokens });
  }
  const fold = async (): Promise<void> => {
    expect(await foldSealedTokens(context, scope, 'dev')).toBe(true);
    await cleanRetired(kv);
  };
  return { repository, addresses, fold };
}

/** As the cleaner does some time later. */
async function cleanRetired(kv: KvStore): Promise<void> {
  for await (const page of kv.scan(Buffer.from('cleanup-tokens'))) {
    for (const { key: token } of page) {
      for await (const entries of kv.scan(token)) {
        for (const { key } of entries) await kv.delete(token, key);
      }
    }
  }
}

describe('what is committed, told to an external collector', () => {
  const rules = { defaultRetentionDays: 0, branches: [{ branch: 'z', retentionDays: 90 }] };

  /** Three commits on `z`, each ten days after the other. */
  async function withHistory() {
    const world = createWorld();
    const engine = world.engine();
    const repository = await newRepository(engine);
    await engine.gc.setRules({ repository, rules });
    await engine.branches.create({ repository, name: 'z', source: 'main', actor });
    const commits: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      world.now += 10 * 24 * hour;
      await put(engine, repository, 'z', 'a', String(index));
      commits.push(await commit(engine, repository, 'z'));
    }
    world.now += 10 * 24 * hour;
    return { world, engine, repository, commits };
  }

  const moves: Record<string, (engine: Engine, repository: string) => Promise<void>> = {
    'renamed behind the listing': async (engine, repository) => {
      await engine.branches.create({ repository, name: 'a', source: 'z', actor });
      await engine.branches.delete({ repository, branch: 'z', actor });
    },
    'reset behind the listing, its head kept by another': async (engine, repository) => {
      await engine.branches.create({ repository, name: 'a', source: 'z', actor });
      await engine.branches.hardReset({ repository, branch: 'z', ref: 'main', actor });
    },
  };

  test.each(Object.entries(moves))('includes a branch that is %s', async (_name, move) => {
    const { world, engine, repository, commits } = await withHistory();
    let once = true;
    const collector = world.engine({
      wrapKv: (kv) =>
        entryByEntry(kv, async (key) => {
          if (key !== 'branches/main' || !once) return;
          once = false;
          await move(engine, repository);
        }),
    });
    const listed = await listCommits(world.adapter, collector, repository);
    expect(once).toBe(false);
    for (const id of commits) expect(listed).toContain(id);
  });

  test('includes what a deleted tag showed, while it can be brought back', async () => {
    const { world, engine, repository, commits } = await withHistory();
    await engine.tags.create({ repository, id: 'old', ref: commits[0]!, actor });
    await engine.gc.setRules({ repository, rules: noDays });
    await listStaged(world.adapter, engine, repository);
    world.now += hour;
    await engine.tags.delete({ repository, id: 'old', actor });
    expect(await listCommits(world.adapter, engine, repository)).toContain(commits[0]);
    world.now += 27 * hour;
    await listStaged(world.adapter, engine, repository);
    expect(await listCommits(world.adapter, engine, repository)).toContain(commits[0]);
  });

  test('is not told of a repository whose refs are not there yet, or no more', async () => {
    const { world, engine, repository } = await withHistory();
    const manifest = await engine.dumps.dump(repository);
    const { storageNamespace } = await engine.repositories.get(repository);
    const createAgain = () =>
      engine.repositories.create({
        name: repository,
        storageNamespace,
        bare: true,
        actor,
        mayReadRepository: () => true,
      });
    await engine.repositories.delete({ repository, actor });
    await createAgain();
    const calls = () => [
      () => engine.gc.prepareCommits(repository),
      () => engine.gc.prepareUncommitted({ repository }),
      () => engine.gcRuns.start({ repository, user: 'tester' }),
    ];
    for (const call of calls()) {
      expect(await refusal(call())).toMatchObject({
        kind: 'conflict',
        message: 'repository is bare: nothing to collect',
      });
    }
    const broken = { ...manifest, tagsMetaRangeId: 'f'.repeat(64) };
    await expect(engine.dumps.restore({ actor, repository, manifest: broken })).rejects.toThrow();
    for (const call of calls()) {
      expect(await refusal(call())).toMatchObject({
        kind: 'conflict',
        message: 'a restore has not finished: delete the repository and restore again',
      });
    }
    await engine.repositories.delete({ repository, actor });
    await createAgain();
    await engine.dumps.restore({ actor, repository, manifest, mayReadRepository: () => true });
    expect((await listStaged(world.adapter, engine, repository)).size).toBe(0);
    expect((await listCommits(world.adapter, engine, repository)).size).toBeGreaterThan(2);
  });
});
