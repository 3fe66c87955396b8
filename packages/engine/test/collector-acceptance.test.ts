import { openBlockStore } from '@svc/block';
import { createMemStore, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport, GcRunRequest } from '../src/face/gc-runs.ts';
import { actor, commit, newRepository, put, read } from './fixture.ts';
import { day, GcWorld, hour } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function openWorld(): GcWorld {
  const world = new GcWorld();
  worlds.push(world);
  return world;
}

async function collect(
  world: GcWorld,
  engine: Engine,
  repository: string,
  options: Partial<GcRunRequest> = {},
): Promise<GcReport> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', ...options });
  await world.collect(engine);
  const { error, report } = await engine.gcRuns.get({ repository, run });
  if (report === undefined) throw new Error(error);
  return report;
}

function count(report: GcReport, name: string, what: 'condemned' | 'deleted'): number {
  return report.classes.find((row) => row.class === name)?.[what].objects ?? -1;
}

it('expires nothing without rules', async () => {
  const world = openWorld();
  const engine = await world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', 'old');
  const old = await commit(engine, repository, 'main');
  await engine.objects.delete({ repository, branch: 'main', path: 'a' });
  await commit(engine, repository, 'main');
  world.now += 400 * day;
  expect(count(await collect(world, engine, repository, { hard: true }), 'expired', 'condemned')).toBe(0);
  expect(await read(engine, repository, old, 'a')).toBe('old');
});

it('keeps what was uploaded in parts over days, also before anybody has staged it', async () => {
  const world = openWorld();
  const collector = await world.engine();
  const repository = await newRepository(collector);
  let runs = 0;
  // The parts are joined, and nothing says yet whose they are.
  const writer = await world.engine({
    around: async (name, call) => {
      const answer = await call();
      if (name === 'completeMultipart') {
        runs += 1;
        await collect(world, collector, repository, { hard: true, maxPercent: 100 });
      }
      return answer;
    },
  });
  const target = { repository, branch: 'main', path: 'large' };
  const { uploadId } = await writer.uploads.create({ ...target, owner: 'me' });
  const body = Buffer.from('part');
  const { etag } = await writer.uploads.putPart({ ...target, uploadId, partNumber: 1, body });
  world.now += 3 * day;
  await writer.uploads.complete({ ...target, uploadId, parts: [{ partNumber: 1, etag }] });
  expect(runs).toBe(1);
  expect(await read(collector, repository, 'main', 'large')).toBe('part');
});

it('leaves what was imported, and the tables of its commit; those made on the way go', async () => {
  const world = openWorld();
  const engine = await world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  const sources = Array.from({ length: 1000 }, (_, index) => `file-${String(index).padStart(4, '0')}`);
  for (const identifier of sources) {
    await world.adapter.put(
      { storageNamespace: 'mem://outside', identifier, identifierType: 'relative' },
      Buffer.from('x'),
    );
  }
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  // So that the import's own tree is not that of the commit.
  await put(engine, repository, 'dev', 'zebra', 'x');
  await commit(engine, repository, 'dev');
  const paths = [{ type: 'common_prefix', path: 'mem://outside/', destination: 'in/' } as const];
  const id = await engine.imports.start({ repository, branch: 'dev', paths, actor });
  await expect.poll(async () => (await engine.imports.status({ repository, id })).completed).toBe(true);
  const { commitId } = await engine.branches.get({ repository, branch: 'dev' });
  await engine.branches.delete({ repository, branch: 'dev', actor });
  world.now += 28 * hour;
  const first = await collect(world, engine, repository);
  world.now += 8 * day;
  const second = await collect(world, engine, repository);
  expect(count(first, 'tables', 'condemned')).toBeGreaterThan(0);
  expect(count(second, 'tables', 'deleted')).toBe(count(first, 'tables', 'condemned'));
  expect(await world.keys('mem://outside')).toEqual(sources);
  const fresh = await world.engine();
  const { items } = await fresh.commits.log({ repository, ref: commitId });
  expect(items[0]?.id).toBe(commitId);
  expect(await read(fresh, repository, commitId, 'in/file-0999')).toBe('x');
  expect((await world.keys(storageNamespace)).some((key) => key.startsWith('data/'))).toBe(true);
});

describe('of a key-value store that was copied', () => {
  interface Twins {
    readonly world: GcWorld;
    readonly repository: string;
    readonly original: Engine;
    readonly copy: Engine;
  }

  async function copied(): Promise<Twins> {
    const world = openWorld();
    const original = await world.engine();
    const repository = await newRepository(original);
    await put(original, repository, 'main', 'a', 'old');
    await put(original, repository, 'main', 'a', 'new');
    await collect(world, original, repository);
    const other = new GcWorld();
    worlds.push(other);
    const kv: KvStore = createMemStore(other.state);
    for (const [partition, records] of world.state.partitions.entriesFrom('')) {
      for (const [key, value] of records.entriesFrom('')) {
        await kv.set(Buffer.from(partition, 'latin1'), Buffer.from(key, 'latin1'), value);
      }
    }
    const copy = await world.engine({ wrapKv: () => createMemStore(other.state) });
    world.now += 28 * hour;
    return { world, repository, original, copy };
  }

  it('the original stops once the copy has collected, and the copy stops before it deletes', async () => {
    const { world, repository, original, copy } = await copied();
    expect(count(await collect(world, copy, repository), 'uncommitted', 'condemned')).toBe(1);
    await expect(collect(world, original, repository)).rejects.toThrow('collected by another installation');
    world.now += 8 * day;
    await expect(collect(world, copy, repository)).rejects.toThrow('run again with take_over');
    expect(world.deleted.filter((uri) => uri.includes('/data/'))).toEqual([]);
  });

  it('the copy stops once the original has collected', async () => {
    const { world, repository, original, copy } = await copied();
    expect(count(await collect(world, original, repository), 'uncommitted', 'condemned')).toBe(1);
    await expect(collect(world, copy, repository)).rejects.toThrow('collected by another installation');
  });
});

it('tolerates a name that is no text, in a local store', async () => {
  const folder = tempDir();
  const adapter = await openBlockStore({ type: 'local', path: folder });
  const world = new GcWorld(adapter);
  const engine = await world.engine();
  const repository = await newRepository(engine, { folder: 'local://gc' });
  const { storageNamespace } = await engine.repositories.get(repository);
  await put(engine, repository, 'main', 'a', 'old');
  await put(engine, repository, 'main', 'a', 'new');
  const data = join(folder, storageNamespace.slice('local://'.length), 'data');
  mkdirSync(data, { recursive: true });
  const strange = Buffer.concat([Buffer.from(`${data}/x`), Buffer.from([0xff])]);
  writeFileSync(strange, 'x');
  world.now += 28 * hour;
  expect(count(await collect(world, engine, repository), 'uncommitted', 'condemned')).toBe(1);
  world.now += 8 * day;
  expect(count(await collect(world, engine, repository), 'uncommitted', 'deleted')).toBe(1);
  expect(statSync(strange).size).toBe(1);
  await world.close();
  await adapter.close();
});

it.each(['deleted', 'damaged'])('finds the same when what it learned before is %s', async (what) => {
  const world = openWorld();
  const folder = tempDir();
  const engine = await world.engine({ gc: { folder } });
  const repository = await newRepository(engine);
  for (let index = 0; index < 60; index += 1)
    await put(engine, repository, 'main', `${index}`, `old ${index}`);
  await commit(engine, repository, 'main');
  for (let index = 0; index < 60; index += 3) await put(engine, repository, 'main', `${index}`, 'new');
  await commit(engine, repository, 'main');
  await engine.gc.setRules({ repository, rules: { defaultRetentionDays: 1, branches: [] } });
  world.now += 5 * day;
  const dry = { dryRun: true };
  const first = await collect(world, engine, repository, dry);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  expect(files.length).toBeGreaterThan(0);
  for (const file of files) {
    const bytes = readFileSync(file);
    // In the last mark, before the checksum.
    const at = bytes.length - 8;
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    writeFileSync(file, what === 'damaged' ? bytes : '');
  }
  const second = await collect(world, engine, repository, dry);
  expect(count(first, 'expired', 'condemned')).toBe(20);
  expect(second.classes).toEqual(first.classes);
  expect(second.roots).toEqual(first.roots);
});
