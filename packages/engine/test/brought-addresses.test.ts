import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBlockStore } from '@svc/block';
import { tempDir, waitUntil } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, createWorld, paths, put, refusalKind } from './fixture.ts';
import { NaiveTrees } from './naive-trees.ts';

type Rights = { mayReadRepository?: (name: string) => boolean };

function importing(engine: Engine, type: 'common_prefix' | 'object', path: string, rights: Rights = {}) {
  const paths = [{ type, path, destination: 'stolen' }];
  return engine.imports.start({ repository: 'thief', branch: 'main', paths, actor, ...rights });
}

/** How an import ends: what it is refused with, or what its status says. */
async function outcome(engine: Engine, started: Promise<string>): Promise<string> {
  try {
    const id = await started;
    const status = await waitUntil(async () => {
      const now = await engine.imports.status({ repository: 'thief', id });
      return (now.completed || now.error !== undefined) && now;
    });
    return status.error ?? 'imported';
  } catch (error) {
    return (error as { kind?: string }).kind ?? String(error);
  }
}

async function withRepositories(engine: Engine, namespace: (name: string) => string): Promise<string> {
  for (const name of ['thief', 'victim', 'other']) {
    await engine.repositories.create({ name, storageNamespace: namespace(name), actor });
  }
  await put(engine, 'victim', 'main', 'secret', 'secret');
  return (await engine.objects.stat({ repository: 'victim', ref: 'main', path: 'secret' })).physicalAddress;
}

describe('on a bucket store', () => {
  async function bucketWorld() {
    const world = createWorld();
    const engine = world.engine();
    const secret = await withRepositories(engine, (name) => `mem://bucket/repos/${name}`);
    await world.adapter.put(
      { storageNamespace: 'mem://bucket', identifier: 'repos/free/x', identifierType: 'relative' },
      Buffer.from('free'),
    );
    return { engine, secret };
  }

  test('an import needs the right to read every repository it touches, above or below its source', async () => {
    const { engine } = await bucketWorld();
    for (const source of [
      'mem://bucket/repos/vic',
      'mem://bucket/repos/victim',
      'mem://bucket/repos/victim/',
      'mem://bucket/repos/victim/da',
      'mem://bucket/repos/victim/data/',
      'memory://bucket/repos/vic',
      'mem://Bucket/repos/vic',
      'mem://bucket//repos//vic',
      'mem://bucket/./repos/vic',
      'mem://bucket/x/../repos/victim/data/',
    ]) {
      expect([source, await outcome(engine, importing(engine, 'common_prefix', source))]).toEqual([
        source,
        'forbidden',
      ]);
    }
    // What contains the own namespace is never a source.
    for (const source of [
      'mem://bucket',
      'mem://bucket/',
      'mem://bucket/re',
      'mem://bucket/repos/',
      'mem://bucket/x/..',
    ]) {
      expect([source, await outcome(engine, importing(engine, 'common_prefix', source))]).toEqual([
        source,
        'invalid',
      ]);
    }
    expect(await paths(engine, 'thief', 'main')).toEqual([]);
    const reads = (...names: string[]) => ({ mayReadRepository: (name: string) => names.includes(name) });
    expect(
      await outcome(engine, importing(engine, 'common_prefix', 'mem://bucket/repos/v', reads('other'))),
    ).toBe('forbidden');
    expect(await outcome(engine, importing(engine, 'common_prefix', 'mem://bucket/repos/free'))).toBe(
      'imported',
    );
    expect(await paths(engine, 'thief', 'main')).toEqual(['stolen/free/x']);
    expect(
      await outcome(engine, importing(engine, 'common_prefix', 'mem://bucket/repos/v', reads('victim'))),
    ).toBe('imported');
  });

  test('policies see an import in every spelling, and what lies below it', async () => {
    const { engine } = await bucketWorld();
    const seen: string[] = [];
    await engine.imports.start({
      repository: 'thief',
      branch: 'main',
      paths: [
        { type: 'object', path: 'memory://Bucket//repos/free/x', destination: 'x' },
        { type: 'common_prefix', path: 'mem://bucket//repos/free/', destination: 'y' },
      ],
      actor,
      checkImport: (address) => void seen.push(`one ${address}`),
      checkImportBelow: (start) => void seen.push(`below ${start}`),
    });
    expect(seen).toEqual([
      'one memory://Bucket//repos/free/x',
      'one mem://bucket/repos/free/x',
      'below mem://bucket//repos/free/',
      'below mem://bucket/repos/free/',
    ]);
    await engine.close();
  });

  test('an address of another repository is one however it is spelled', async () => {
    const { engine, secret } = await bucketWorld();
    const own = secret.replace('victim', 'thief');
    for (const address of [
      secret,
      secret.replace('mem:', 'memory:'),
      secret.replace('bucket', 'BUCKET'),
      secret.replace('repos/', 'repos//'),
      secret.replace('repos/', './repos/'),
      secret.replace('repos/', 'x/../repos/'),
      secret.replace('repos/', 'repos/thief/../'),
      secret.replace('/data/', '//data/'),
      own,
      own.replace('/data/', '//data/'),
      own.replace('/data/', '/x/../data/'),
      own.replace(/data.*/, 'symlinks/x'),
    ]) {
      const given = {
        repository: 'thief',
        branch: 'main',
        path: 'p',
        physicalAddress: address,
        checksum: 'c',
        size: 6,
      };
      for (const way of ['stage', 'link'] as const) {
        expect([address, await refusalKind(engine.objects[way](given))]).toEqual([
          address,
          expect.stringMatching(/forbidden|invalid/),
        ]);
      }
      const imported = await outcome(engine, importing(engine, 'object', address));
      expect([address, imported]).toEqual([address, expect.stringMatching(/forbidden|invalid/)]);
    }
    expect(await paths(engine, 'thief', 'main')).toEqual([]);
  });
});

test('what a deleted repository leaves is not free for all', async () => {
  const world = createWorld();
  const engine = world.engine();
  const secret = await withRepositories(engine, (name) => `mem://bucket/repos/${name}`);
  await engine.repositories.delete({ repository: 'victim', actor });
  const reads = { mayReadRepository: (name: string) => name === 'victim' };
  const stage = (rights: Rights) =>
    engine.objects.stage({
      repository: 'thief',
      branch: 'main',
      path: 'p',
      physicalAddress: secret,
      checksum: 'c',
      size: 6,
      ...rights,
    });
  const create = (storageNamespace: string, rights: Rights) =>
    engine.repositories.create({ name: 'heir', storageNamespace, bare: true, actor, ...rights });
  expect(await refusalKind(stage({}))).toBe('forbidden');
  expect(await outcome(engine, importing(engine, 'object', secret))).toBe('forbidden');
  expect(await outcome(engine, importing(engine, 'common_prefix', 'mem://bucket/repos/vic'))).toBe(
    'forbidden',
  );
  for (const namespace of ['mem://bucket/repos/victim', 'mem://bucket/repos/victim/data']) {
    expect([namespace, await refusalKind(create(namespace, {}))]).toEqual([namespace, 'forbidden']);
  }
  await stage(reads);
  await create('mem://bucket/repos/victim', reads);
  // It belongs to its heir now.
  expect(await refusalKind(stage(reads))).toBe('forbidden');
  await stage({ mayReadRepository: (name) => name === 'heir' });
});

describe('on the local store', () => {
  async function localWorld() {
    const folder = tempDir('brought-addresses');
    const [root, outside] = [join(folder, 'objects'), join(folder, 'outside')];
    for (const path of [root, outside, `${outside}-too`, join(root, 'data')]) mkdirSync(path);
    writeFileSync(join(`${outside}-too`, 'f'), 'near');
    writeFileSync(join(root, 'data', 'x'), 'free');
    const adapter = await openBlockStore({
      type: 'local',
      path: root,
      importEnabled: true,
      allowedExternalPrefixes: [outside],
    });
    const engine = createWorld(new NaiveTrees(), adapter).engine();
    await engine.repositories.create({ name: 'database', storageNamespace: 'local://database', actor });
    const secret = await withRepositories(engine, (name) => `local://${name}`);
    symlinkSync(join(root, 'victim'), join(outside, 'link'));
    symlinkSync(secret.slice('local://'.length), join(outside, 'file'));
    return { engine, root, outside, folder };
  }

  test('an import needs the right to read every repository it touches, above or below its source', async () => {
    const { engine, root, outside, folder } = await localWorld();
    const prefix = (path: string) => outcome(engine, importing(engine, 'common_prefix', path));
    for (const source of [
      'local://vic',
      'local://victim',
      'local://victim/',
      'local://victim/data/',
      `local://${root}/vic`,
      `local://${root}/victim/`,
      `local://${outside}/link`,
      `local://${outside}/link/`,
    ]) {
      expect([source, await prefix(source)]).toEqual([source, 'forbidden']);
    }
    for (const source of ['local://t', `local://${root}/`, `local://${root}`, `local://${folder}/`]) {
      expect([source, await prefix(source)]).toEqual([
        source,
        expect.stringMatching(/^invalid$|^error on ingest: /),
      ]);
    }
    for (const source of [
      `local://${outside}-too/`,
      `local://${outside}-too/f`,
      'local://../outside-too/',
      '/etc/',
      's3://b/',
      `local://${root}/data/../vic`,
    ]) {
      expect([source, await prefix(source)]).toEqual([source, expect.stringMatching(/^error on ingest: /)]);
    }
    for (const source of [`local://${outside}/file`, `local://${outside}/link/data/x`]) {
      expect([source, await outcome(engine, importing(engine, 'object', source))]).toEqual([
        source,
        'forbidden',
      ]);
    }
    expect(await paths(engine, 'thief', 'main')).toEqual([]);
    // A folder is a folder, not the beginning of its neighbour's name.
    expect(await prefix('local://data')).toBe('imported');
    expect(await paths(engine, 'thief', 'main')).toEqual(['stolen/x']);
  });

  test('policies see an import by path and by name', async () => {
    const { engine, root } = await localWorld();
    const seen: string[] = [];
    await engine.imports.start({
      repository: 'thief',
      branch: 'main',
      paths: [{ type: 'common_prefix', path: `local://${root}/data/`, destination: 'y' }],
      actor,
      checkImportBelow: (start) => void seen.push(start),
    });
    expect(seen).toEqual([`local://${root}/data/`, 'local://data/']);
    await engine.close();
  });
});
