import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { decodeToken } from '../src/gc/prepare-uncommitted.ts';
import { actor, commit, createWorld, newRepository, put, refusalKind, type World } from './fixture.ts';

async function readObject(world: World, location: string): Promise<Buffer> {
  const body = await world.adapter.get({
    storageNamespace: '',
    identifier: location,
    identifierType: 'full',
  });
  return body.bytes ?? Buffer.alloc(0);
}

async function csvCommits(world: World, engine: Engine, repository: string): Promise<string[]> {
  const { commitsLocation } = await engine.gc.prepareCommits(repository);
  const [header, ...rows] = (await readObject(world, commitsLocation)).toString().trimEnd().split('\n');
  expect(header).toBe('commit_id,expired,metarange_id');
  return rows.map((row) => row.split(',')[0] ?? '').sort();
}

test('without rules every commit is active, never not-found', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  expect(await refusalKind(engine.gc.getRules(repository))).toBe('not_found');
  await put(engine, repository, 'main', 'a', '1');
  const head = await commit(engine, repository, 'main');
  const { parents } = await engine.commits.get({ repository, ref: head });
  expect(await csvCommits(world, engine, repository)).toEqual([head, ...parents].sort());
});

test('rules are stored as protobuf, deleted by an empty object, and checked', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const rules = {
    defaultRetentionDays: 21,
    branches: [
      { branch: 'dev', retentionDays: 9 },
      { branch: 'main', retentionDays: 28 },
    ],
  };
  await engine.gc.setRules({ repository, rules });
  expect(await engine.gc.getRules(repository)).toEqual(rules);
  const { storageNamespace } = await engine.repositories.get(repository);
  const location = `${storageNamespace}/_svc/retention/gc/rules/config.json`;
  expect((await readObject(world, location)).toString('hex')).toBe(
    '081512070a03646576100912080a046d61696e101c',
  );
  await engine.gc.deleteRules(repository);
  expect(await refusalKind(engine.gc.getRules(repository))).toBe('not_found');
  expect(await readObject(world, location)).toHaveLength(0);
  for (const days of [-1, 1.5, 2 ** 31]) {
    const bad = { defaultRetentionDays: days, branches: [] };
    expect(await refusalKind(engine.gc.setRules({ repository, rules: bad }))).toBe('invalid');
  }
});

test('with rules only recent heads and tagged commits are active', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const ids: string[] = [];
  for (let day = 0; day < 4; day += 1) {
    world.now += 10 * 86_400_000;
    await put(engine, repository, 'main', 'a', String(day));
    ids.push(await commit(engine, repository, 'main'));
  }
  await engine.gc.setRules({ repository, rules: { defaultRetentionDays: 5, branches: [] } });
  expect(await csvCommits(world, engine, repository)).toEqual([ids[2]!, ids[3]!].sort());
  await engine.tags.create({ repository, id: 'keep', ref: ids[0]!, actor });
  expect(await csvCommits(world, engine, repository)).toEqual([ids[0]!, ids[2]!, ids[3]!].sort());
});

test('uncommitted: every value of every token is listed, in pages that repeat nothing', async () => {
  const world = createWorld();
  const engine = world.engine({ settings: { ugcPrepareIntervalMs: -1 } });
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'same', 'content');
  await commit(engine, repository, 'main');
  // Identical re-upload: no change, but reads resolve to its address.
  await put(engine, repository, 'main', 'same', 'content');
  await put(engine, repository, 'main', 'a', '1');
  await engine.branches.create({ repository, name: 'zz', source: 'main', hidden: true, actor });
  await put(engine, repository, 'zz', 'b', '2');
  await engine.objects.delete({ repository, branch: 'zz', path: 'same' });

  const expected = new Set<string>();
  for (const [ref, path] of [
    ['main', 'same'],
    ['main', 'a'],
    ['zz', 'b'],
  ] as const) {
    expected.add((await engine.objects.stat({ repository, ref, path })).address);
  }
  const found: string[] = [];
  const runs = new Set<string>();
  let token: string | undefined;
  let pages = 0;
  do {
    const page = await engine.gc.prepareUncommitted({ repository, continuationToken: token });
    runs.add(page.runId);
    token = page.continuationToken;
    pages += 1;
    if (pages > 20) throw new Error('the pages never end');
    if (page.location === '') continue;
    for await (const objects of world.adapter.walk(`${page.location}/`)) {
      for (const object of objects) {
        const rows = await parquetReadObjects({
          file: Uint8Array.from(await readObject(world, object.uri)).buffer,
          compressors: { GZIP: (input: Uint8Array) => new Uint8Array(gunzipSync(input)) },
        });
        found.push(...rows.map((row) => String(row['physical_address'])));
      }
    }
  } while (token !== undefined);
  expect(runs.size).toBe(1);
  expect(pages).toBeGreaterThan(3);
  expect(new Set(found)).toEqual(expected);
});

test('a continuation token has the stored form, and a bad one is refused', async () => {
  const token =
    'eyJicmFuY2giOiJtYWluIiwicGF0aCI6ImEvYiIsInJ1bl9pZCI6ImdqdGg0MDVhbmY2MTRkMm1mMjgwIiwia2V5IjoiIn0=';
  expect(decodeToken(token)).toEqual({ branch: 'main', path: 'a/b', runId: 'gjth405anf614d2mf280' });
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const traversal = Buffer.from(JSON.stringify({ branch: 'main', path: '', run_id: '../../x', key: '' }));
  for (const bad of ['!!!', 'e30=', traversal.toString('base64'), randomBytes(9).toString('base64')]) {
    expect(await refusalKind(engine.gc.prepareUncommitted({ repository, continuationToken: bad }))).toBe(
      'invalid',
    );
  }
});

test('symlink files list the addresses of each directory, and an empty listing is no error', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  const location = await engine.gc.createSymlinks({ repository, branch: 'main' });
  expect(location).toBe(`${storageNamespace}/symlinks`);
  for (const path of ['t/a', 't/b/c', 't/d', 'other']) await put(engine, repository, 'main', path, path);
  await engine.gc.createSymlinks({ repository, branch: 'main', location: 't/' });
  const addressOf = async (path: string) =>
    (await engine.objects.stat({ repository, ref: 'main', path })).physicalAddress;
  const text = (directory: string) =>
    readObject(world, `${location}/${repository}/main/${directory}symlink.txt`).then(String);
  expect(await text('t/')).toBe(`${await addressOf('t/a')}\n${await addressOf('t/d')}`);
  expect(await text('t/b/')).toBe(await addressOf('t/b/c'));
  await expect(text('')).rejects.toThrow();
});

test('a key that would lead a symlink file elsewhere is refused, and nothing is written', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  await put(engine, repository, 'main', 'a/first', '1');
  for (const path of ['t/../../../x', 't/./x', '../x', 'z/..//x']) {
    await put(engine, repository, 'main', path, '1');
    const made = engine.gc.createSymlinks({ repository, branch: 'main' });
    expect([path, await refusalKind(made)]).toEqual([path, 'invalid']);
    await engine.objects.delete({ repository, branch: 'main', path });
  }
  await expect(
    readObject(world, `${storageNamespace}/symlinks/${repository}/main/a/symlink.txt`),
  ).rejects.toThrow();
  // An address is one line of such a file.
  const staged = engine.objects.stage({
    repository,
    branch: 'main',
    path: 'two',
    physicalAddress: 'mem://outside/a\nmem://outside/b',
    checksum: 'c',
    size: 1,
  });
  expect(await refusalKind(staged)).toBe('invalid');
});
