import { BlockStores, createMemAdapter, type BlockAdapter, type ObjectPointer } from '@svc/block';
import { commitMessage } from '@svc/encoding';
import { createMemStore, type KvStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { actor, commit, createWorld, newRepository, put } from '../../test/fixture.ts';
import { createCommittedTrees } from '../committed/committed-trees.ts';
import type { Engine } from '../engine.ts';
import { commitKey, repositoryKey } from '../store/keys.ts';
import type { ConcernedFinding, DamageFinding, Finding } from './finding.ts';
import { IdSet } from './id-set.ts';
import { repositoryNames, verifyRepository, type VerifyProgress } from './verify-repository.ts';

interface Lake {
  readonly engine: Engine;
  readonly kv: KvStore;
  readonly adapter: BlockAdapter;
  readonly repository: string;
  /** In the order they were made. */
  readonly commits: readonly string[];
  /** Stored tables by their bytes' place in the order they were written. */
  readonly tables: readonly string[];
  pointer(table: string): ObjectPointer;
  bytes(table: string): Promise<Buffer>;
  verify(readsObjects?: boolean): Promise<{ findings: Finding[]; progress: VerifyProgress }>;
}

/** Three commits over few ranges: the second adds a range, the third is on a branch of its own and tagged. */
async function createLake(): Promise<Lake> {
  const adapter = createMemAdapter();
  const tables: string[] = [];
  const gets: string[] = [];
  const noting = new Proxy(adapter, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function') return found;
      return (pointer: ObjectPointer, ...rest: unknown[]) => {
        if (name === 'put' && /^_svc\/[0-9a-f]{64}$/.test(pointer.identifier))
          tables.push(pointer.identifier.slice(5));
        if (name === 'get') gets.push(pointer.identifier);
        return found.call(target, pointer, ...rest);
      };
    },
  });
  const trees = await createCommittedTrees({
    blockStores: new BlockStores([noting]),
    cacheDir: tempDir(),
    cacheSizeBytes: 100_000_000,
    rangeProportion: 0.9,
    metarangeProportion: 0.1,
    memoryCacheBytes: 10_000_000,
    minRangeSize: 0,
    maxRangeSize: 1500,
    raggedness: 1_000_000,
    evict: true,
    worker: false,
  });
  const world = createWorld(trees, noting);
  const engine = world.engine();
  const repository = await newRepository(engine);
  const commits: string[] = [];
  for (let i = 0; i < 30; i++)
    await put(engine, repository, 'main', `a/${String(i).padStart(3, '0')}`, `one ${i}`);
  commits.push(await commit(engine, repository, 'main'));
  world.now += 1000;
  for (let i = 0; i < 10; i++) await put(engine, repository, 'main', `z/${i}`, `two ${i}`);
  commits.push(await commit(engine, repository, 'main'));
  await engine.branches.create({ repository, name: 'dev', source: commits[0]!, actor });
  world.now += 1000;
  await put(engine, repository, 'dev', 'zz', 'three');
  commits.push(await commit(engine, repository, 'dev'));
  await engine.tags.create({ repository, id: 'v1', ref: 'dev', actor });
  await trees.close();

  const kv = createMemStore(world.state);
  const { storageNamespace } = await engine.repositories.get(repository);
  const pointer = (table: string): ObjectPointer => ({
    storageNamespace,
    identifier: `_svc/${table}`,
    identifierType: 'relative',
  });
  return {
    engine,
    kv,
    adapter,
    repository,
    commits,
    tables,
    pointer,
    async bytes(table) {
      return Buffer.concat((await (await adapter.get(pointer(table))).stream().toArray()) as Buffer[]);
    },
    async verify(readsObjects) {
      gets.length = 0;
      const temporaryFolder = tempDir();
      const progress = { commits: 0, metaRanges: 0, ranges: 0, objects: 0, bytes: 0 };
      const parts = {
        kv,
        blockStores: new BlockStores([noting]),
        metadataPrefix: '_svc',
        temporaryFolder,
        readsObjects,
      };
      const findings: Finding[] = [];
      for await (const finding of verifyRepository(parts, repository, progress)) findings.push(finding);
      expect(readdirSync(temporaryFolder)).toEqual([]);
      if (readsObjects !== true) expect(gets.length, 'each table is read once').toBe(new Set(gets).size);
      return { findings, progress };
    },
  };
}

const damages = (findings: readonly Finding[]): DamageFinding[] =>
  findings.filter((finding) => finding.type === 'damage');
const concerned = (findings: readonly Finding[]): string[] =>
  findings
    .filter((finding): finding is ConcernedFinding => finding.type === 'concerned')
    .map(({ kind, id }) => `${kind} ${id}`)
    .sort();

test('a sound repository has nothing to be found; every table is read once', async () => {
  const lake = await createLake();
  const { findings, progress } = await lake.verify();
  expect(findings).toEqual([]);
  expect(progress.commits).toBe(4);
  expect(progress.metaRanges).toBe(3);
  expect(progress.ranges + progress.metaRanges).toBe(new Set(lake.tables).size);
  const names: string[] = [];
  for await (const name of repositoryNames(lake.kv)) names.push(name);
  expect(names).toEqual([lake.repository]);
});

test('a damaged range is named with its keys and with all that show it', async () => {
  const lake = await createLake();
  const [range] = lake.tables;
  const bytes = await lake.bytes(range!);
  bytes[10]! ^= 4;
  await lake.adapter.put(lake.pointer(range!), bytes);
  const { findings } = await lake.verify();
  expect(damages(findings)).toMatchObject([
    { kind: 'range', id: range, problem: 'damaged', reason: expect.stringMatching(/checksum/) },
  ]);
  const [damage] = damages(findings);
  expect(damage?.keys?.first.toString()).toBe('a/000');
  expect(damage?.lost).toHaveLength(1);
  expect(damage?.lost[0]?.after).toBeUndefined();
  expect(concerned(findings)).toEqual(
    [...lake.commits.map((id) => `commit ${id}`), 'branch dev', 'branch main', 'tag v1'].sort(),
  );
});

test('a missing range, and one with the bytes of another, concern only who names them', async () => {
  const lake = await createLake();
  // The last range was written for the commit on the branch, and is its alone.
  const last = lake.tables.at(-2)!;
  await lake.adapter.delete(lake.pointer(last));
  const missing = await lake.verify();
  expect(damages(missing.findings)).toMatchObject([{ kind: 'range', id: last, problem: 'missing' }]);
  expect(concerned(missing.findings)).toEqual(['branch dev', `commit ${lake.commits[2]}`, 'tag v1'].sort());

  await lake.adapter.put(lake.pointer(last), await lake.bytes(lake.tables[0]!));
  const swapped = await lake.verify();
  expect(damages(swapped.findings)).toMatchObject([
    { kind: 'range', id: last, problem: 'damaged', reason: expect.stringContaining(lake.tables[0]!) },
  ]);
});

test('a damaged or missing metarange is named', async () => {
  const lake = await createLake();
  const metaRange = lake.tables.at(-1)!;
  const sound = await lake.bytes(metaRange);
  for (const hurt of [sound.subarray(0, 100), undefined]) {
    if (hurt === undefined) await lake.adapter.delete(lake.pointer(metaRange));
    else await lake.adapter.put(lake.pointer(metaRange), hurt);
    const { findings } = await lake.verify();
    const problem = hurt === undefined ? 'missing' : 'damaged';
    expect(damages(findings)).toMatchObject([{ kind: 'metarange', id: metaRange, problem }]);
    expect(concerned(findings)).toContain('tag v1');
  }
});

test('commits that are not what their id says, and refs to missing ones, are named', async () => {
  const lake = await createLake();
  const { id: name, instanceUid } = await lake.engine.repositories.get(lake.repository);
  const partition = Buffer.from(`${name}-${instanceUid}`);
  const [first, second, third] = lake.commits as [string, string, string];
  const key = commitKey(second);
  const stored = commitMessage.decode((await lake.kv.get(partition, key))!.value);
  await lake.kv.set(partition, key, commitMessage.encode({ ...stored, message: 'forged' }));
  await lake.kv.set(partition, commitKey(third), Buffer.from('ff', 'hex'));
  await lake.kv.delete(partition, commitKey(first));
  const { findings } = await lake.verify();
  expect(
    damages(findings)
      .map(({ kind, id, problem }) => `${problem} ${kind} ${id}`)
      .sort(),
  ).toEqual([`damaged commit ${second}`, `damaged commit ${third}`, `missing commit ${first}`].sort());
  await lake.kv.delete(partition, commitKey(second));
  expect(damages((await lake.verify()).findings).map(({ kind, id }) => `${kind} ${id}`)).toContain(
    'branch main',
  );
});

test('an unknown repository is refused', async () => {
  const lake = await createLake();
  await lake.kv.delete(Buffer.from('graveler'), repositoryKey(lake.repository));
  await expect(lake.verify()).rejects.toMatchObject({ kind: 'not_found' });
});

test('a set of ids keeps thousands of them and their notes', () => {
  const ids = new IdSet();
  const idOf = (i: number): string => createHash('sha256').update(String(i)).digest('hex');
  const note = (i: number): Buffer => Buffer.from(String(i).padStart(8));
  for (let i = 0; i < 5000; i++) ids.add(idOf(i), note(i));
  for (let i = 0; i < 5000; i++) expect(ids.get(idOf(i))).toEqual(note(i));
  for (let i = 5000; i < 6000; i++) expect(ids.has(idOf(i))).toBe(false);
  ids.add(idOf(7), note(8));
  expect(ids.get(idOf(7))).toEqual(note(8));
});

test('the data of objects is read when that is asked for, each once', async () => {
  const lake = await createLake();
  const sound = await lake.verify(true);
  expect(sound.findings).toEqual([]);
  expect(sound.progress.objects).toBe(41);

  const addressOf = async (ref: string, path: string): Promise<ObjectPointer> => {
    const { address } = await lake.engine.objects.stat({ repository: lake.repository, ref, path });
    return { ...lake.pointer(''), identifier: address };
  };
  await lake.adapter.put(await addressOf('main', 'a/003'), Buffer.from('one X'));
  await lake.adapter.put(await addressOf('main', 'a/004'), Buffer.from('longer than before'));
  await lake.adapter.delete(await addressOf('v1', 'zz'));
  const { findings } = await lake.verify(true);
  expect(
    damages(findings)
      .map(({ kind, id, problem, reason }) => `${kind} ${id} ${problem}: ${reason.split(';')[0]}`)
      .sort(),
  ).toEqual([
    expect.stringMatching(/^object a\/003 damaged: its checksum is not [\da-f]{32}$/),
    'object a/004 damaged: it has 18 bytes, not 5',
    'object zz missing: its data is missing from the store',
  ]);
  expect(damages(findings).find(({ id }) => id === 'zz')?.reason).toContain('branch "dev" shows it');
  expect((await lake.verify()).findings).toEqual([]);
});
