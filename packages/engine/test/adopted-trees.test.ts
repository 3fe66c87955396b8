import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  addressFull,
  addressRelative,
  commitId,
  commitMessage,
  emptyStringMap,
  encodeEntry,
  entryIdentity,
  timestampFromSeconds,
  type Entry,
} from '@svc/encoding';
import { createMemStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { branchDump } from '../src/dump/dump-schemas.ts';
import { PageRecords } from '../src/dump/page-records.ts';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import type { AddressRights } from '../src/face/objects.ts';
import { commitKey, repositoryPartition } from '../src/store/keys.ts';
import { actor, commit, contents, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';
import { openRealEngine } from './real-engine.ts';

const hostileIds = [
  '../../data/x',
  '/etc/passwd',
  '..',
  'x',
  'A'.repeat(64),
  `${'a'.repeat(63)}g`,
  `${'a'.repeat(64)}\n`,
  `${'a'.repeat(64)}/`,
  `${'../'.repeat(21)}x`,
  'a'.repeat(65),
];

function entryAt(address: string): Entry {
  return {
    address,
    addressType: address.includes('://') ? addressFull : addressRelative,
    lastModified: timestampFromSeconds(1),
    size: 6,
    etag: 'etag',
    metadata: emptyStringMap,
    contentType: '',
  };
}

/** A repository, a second one with a secret in it, and a way to put a tree of any addresses into the first. */
async function twoRepositories() {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const victim = await newRepository(engine);
  await put(engine, repository, 'main', 'own', 'own');
  await put(engine, victim, 'main', 'secret', 'secret');
  await commit(engine, repository, 'main');
  const addressOf = async (name: string, path: string) =>
    engine.objects.stat({ repository: name, ref: 'main', path });
  const { storageId, storageNamespace, metadataPrefix } = await engine.repositories.get(repository);
  const forge = async (address: string, dump?: typeof branchDump): Promise<string> => {
    const entry = entryAt(address);
    const record = { key: Buffer.from('public'), identity: entryIdentity(entry), data: encodeEntry(entry) };
    const records = new PageRecords(
      (async function* () {
        yield [record];
      })(),
    );
    const { metaRangeId } = await world.trees.write(
      { storageId, storageNamespace, metadataPrefix },
      records,
      dump,
    );
    return metaRangeId;
  };
  return { world, engine, repository, victim, addressOf, forge };
}

function recordOf(metaRangeId: string) {
  const fields = {
    committer: 'c',
    message: 'forged',
    metaRangeId,
    creationDate: timestampFromSeconds(1),
    parents: [],
    metadata: {},
    version: 1,
    generation: 1,
  };
  return { ...fields, id: commitId(fields), creationDate: 1 };
}

/** The ways by which a caller names a tree. */
function adoptions(engine: Engine, repository: string, rights: AddressRights) {
  return {
    commit: (id: string) =>
      engine.commits.create({
        repository,
        branch: 'main',
        message: 'm',
        sourceMetaRange: id,
        actor,
        ...rights,
      }),
    record: (id: string) => engine.commits.createRecord({ repository, commit: recordOf(id), ...rights }),
  };
}

test('whatever is no id is refused wherever a tree is named, and nothing is stored', async () => {
  const { engine, repository } = await twoRepositories();
  const everything: AddressRights = { mayUseEveryAddress: () => true, mayReadRepository: () => true };
  const { storageNamespace } = await engine.repositories.get(repository);
  const before = await engine.branches.get({ repository, branch: 'main' });
  for (const id of hostileIds) {
    const { commit: make, record } = adoptions(engine, repository, everything);
    expect([id, await refusalKind(make(id))]).toEqual([id, 'invalid']);
    expect([id, await refusalKind(record(id))]).toEqual([id, 'invalid']);
    expect(await refusalKind(engine.commits.get({ repository, ref: recordOf(id).id }))).toBe('not_found');
  }
  expect(await engine.branches.get({ repository, branch: 'main' })).toEqual(before);
  await engine.repositories.delete({ repository, actor });
  await engine.repositories.create({
    name: repository,
    storageNamespace,
    bare: true,
    actor,
    mayReadRepository: () => true,
  });
  for (const id of hostileIds) {
    for (const part of ['commitsMetaRangeId', 'branchesMetaRangeId', 'tagsMetaRangeId']) {
      const manifest = { commitsMetaRangeId: '', branchesMetaRangeId: '', tagsMetaRangeId: '', [part]: id };
      for (const way of ['restore', 'submitRestore'] as const) {
        expect([
          id,
          await refusalKind(engine.dumps[way]({ repository, manifest, actor, ...everything })),
        ]).toEqual([id, 'invalid']);
      }
    }
  }
});

test('a named tree leads only where the caller may read', async () => {
  const { engine, repository, victim, addressOf, forge } = await twoRepositories();
  const ofVictim = await forge((await addressOf(victim, 'secret')).physicalAddress);
  const ofOwn = await forge((await addressOf(repository, 'own')).address);
  const outside = await forge('mem://elsewhere/x');
  const denied = () => {
    throw new Error('import denied');
  };
  const attempt = async (id: string, rights: AddressRights, way: 'commit' | 'record') => {
    const ways = adoptions(engine, repository, rights);
    try {
      await (way === 'commit' ? ways.commit(id) : ways.record(id));
      return 'taken';
    } catch (error) {
      return error instanceof EngineError ? error.kind : (error as Error).message;
    }
  };
  for (const way of ['record', 'commit'] as const) {
    const readsOwn = { mayReadRepository: (name: string) => name === repository };
    const readsVictim = { mayReadRepository: (name: string) => name === victim };
    expect([
      await attempt(ofVictim, {}, way),
      await attempt(ofVictim, readsOwn, way),
      await attempt(ofVictim, { ...readsVictim, checkImport: denied }, way),
      await attempt(ofOwn, readsVictim, way),
      await attempt(outside, { checkImport: denied }, way),
    ]).toEqual(['forbidden', 'forbidden', 'import denied', 'forbidden', 'import denied']);
    expect([
      await attempt(ofVictim, readsVictim, way),
      await attempt(ofOwn, readsOwn, way),
      await attempt(outside, {}, way),
    ]).toEqual(['taken', 'taken', 'taken']);
  }
  const again = await forge((await addressOf(victim, 'secret')).physicalAddress);
  expect(await attempt(again, { mayUseEveryAddress: () => true }, 'commit')).toBe('taken');
});

test('a restore leads only where the caller may read, and takes dumps for nothing else', async () => {
  const { engine, repository, victim, addressOf, forge } = await twoRepositories();
  const forged = await forge((await addressOf(victim, 'secret')).physicalAddress);
  const trusted = { mayUseEveryAddress: () => true };
  await engine.commits.create({
    repository,
    branch: 'main',
    message: 'm',
    sourceMetaRange: forged,
    actor,
    ...trusted,
  });
  const manifest = await engine.dumps.dump(repository);
  expect(await refusalKind(adoptions(engine, repository, trusted).commit(manifest.tagsMetaRangeId))).toBe(
    'invalid',
  );
  expect(await refusalKind(adoptions(engine, repository, trusted).record(manifest.commitsMetaRangeId))).toBe(
    'invalid',
  );
  const named = await forge('x', branchDump);
  const { storageNamespace } = await engine.repositories.get(repository);
  const restored = async (parts: object, rights: AddressRights) => {
    await engine.repositories.delete({ repository, actor });
    await engine.repositories.create({
      name: repository,
      storageNamespace,
      bare: true,
      actor,
      mayReadRepository: () => true,
    });
    return engine.dumps.restore({ actor, repository, manifest: { ...manifest, ...parts }, ...rights });
  };
  expect(await refusalKind(restored({}, {}))).toBe('forbidden');
  expect(await refusalKind(restored({}, { mayReadRepository: (name) => name === repository }))).toBe(
    'forbidden',
  );
  expect(await refusalKind(restored({ branchesMetaRangeId: forged }, trusted))).toBe('invalid');
  expect(await refusalKind(restored({ tagsMetaRangeId: manifest.branchesMetaRangeId }, trusted))).toBe(
    'invalid',
  );
  expect(await refusalKind(restored({ branchesMetaRangeId: named }, trusted))).toBe('invalid');
  await restored({}, { mayReadRepository: () => true });
  await restored({}, trusted);
  expect(await contents(engine, repository, 'main')).toEqual({ public: 'secret' });
});

test('an id that was stored before it was checked opens, changes and removes nothing', async () => {
  const folder = tempDir('adopted-trees');
  const kv = createMemStore();
  const opened = await openRealEngine(folder, { kv, worker: false });
  const { engine } = opened;
  await engine.repositories.create({ name: 'repo', storageNamespace: 'local://repo', actor });
  const { instanceUid } = await engine.repositories.get('repo');
  const sentinel = join(folder, 'sentinel');
  writeFileSync(sentinel, 'precious');
  for (const metaRangeId of [
    '../../../sentinel',
    '../../../../../../../../../../../../../../etc/passwd',
    '..',
  ]) {
    const { creationDate, ...record } = recordOf(metaRangeId);
    const stored = commitMessage.encode({ ...record, creationDate: timestampFromSeconds(creationDate) });
    await kv.set(repositoryPartition('repo', instanceUid), commitKey(record.id), stored);
    const { id: ref } = record;
    const uses = [
      engine.objects.list({ repository: 'repo', ref }),
      engine.objects.stat({ repository: 'repo', ref, path: 'x' }),
      engine.refs.diff({ repository: 'repo', left: 'main', right: ref }),
      engine.merges.merge({ repository: 'repo', source: ref, destination: 'main', actor, force: true }),
    ];
    for (const use of uses) {
      const error = await refusal(use);
      expect([metaRangeId, error.kind]).toEqual([
        metaRangeId,
        error.kind === 'invalid' ? 'invalid' : 'corrupt',
      ]);
    }
    expect(existsSync(sentinel)).toBe(true);
  }
  await opened.close();
});
