import { CreateBucketCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';
import { openBlockStore, type BlockAdapter, type ObjectPointer } from '@svc/block';
import {
  createAzureContainer,
  createGcsBucket,
  tempDir,
  testServerOrSkip,
  type AzureServer,
  type GcsServer,
  type S3Server,
} from '@svc/testing';
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import type { GcReport } from '../src/face/gc-runs.ts';
import { actor, commit, newRepository, put, read, refusal } from './fixture.ts';
import { day, GcWorld, hour } from './gc-world.ts';

/** More than a page of a listing, and more than one delete request takes. */
const many = 1100;
const timeout = 300_000;

interface Store {
  readonly adapter: BlockAdapter;
  readonly folder: string;
}

async function s3Store(server: S3Server, isVersioned: boolean): Promise<Store> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  const credentials = { accessKeyId, secretAccessKey };
  const bucket = `gc-${randomBytes(6).toString('hex')}`;
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  if (isVersioned) {
    const VersioningConfiguration = { Status: 'Enabled' } as const;
    await client.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration }));
  }
  client.destroy();
  const adapter = await openBlockStore({ type: 's3', endpoint, region, credentials, forcePathStyle: true });
  return { adapter, folder: `s3://${bucket}` };
}

async function gsStore(server: GcsServer): Promise<Store> {
  const bucket = `gc-${randomBytes(6).toString('hex')}`;
  await createGcsBucket(server, bucket);
  const adapter = await openBlockStore({ type: 'gs', endpoint: server.endpoint });
  return { adapter, folder: `gs://${bucket}` };
}

async function azureStore(server: AzureServer): Promise<Store> {
  const container = `gc-${randomBytes(6).toString('hex')}`;
  await createAzureContainer(server, container);
  const { account, accountKey, endpoint } = server;
  const adapter = await openBlockStore({
    type: 'azure',
    storageAccount: account,
    storageAccessKey: accountKey,
    testEndpointUrl: endpoint,
  });
  return { adapter, folder: `https://${account}.blob.core.windows.net/${container}` };
}

async function localStore(): Promise<Store> {
  const adapter = await openBlockStore({ type: 'local', path: tempDir('store') });
  return { adapter, folder: 'local://gc' };
}

async function collect(world: GcWorld, engine: Engine, repository: string): Promise<GcReport> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', maxPercent: 100 });
  await world.collect(engine);
  const { report, error } = await engine.gcRuns.get({ repository, run });
  if (report === undefined) throw new Error(error);
  return report;
}

function countOf(report: GcReport, name: string, what: 'garbage' | 'condemned' | 'deleted'): number {
  return report.classes.find((row) => row.class === name)?.[what].objects ?? -1;
}

const [versitygw, moto] = [await testServerOrSkip('versitygw'), await testServerOrSkip('moto')];
const [gcs, azurite] = [await testServerOrSkip('fake-gcs'), await testServerOrSkip('azurite')];
const stores = [
  { name: 'local', open: localStore, isThere: true, objects: many, deletion: 'final' },
  {
    name: 'versitygw',
    open: () => s3Store(versitygw!, false),
    isThere: versitygw !== undefined,
    objects: many,
    deletion: 'final',
  },
  {
    name: 'moto',
    open: () => s3Store(moto!, true),
    isThere: moto !== undefined,
    objects: 50,
    deletion: 'versioned',
  },
  {
    name: 'fake-gcs-server',
    open: () => gsStore(gcs!),
    isThere: gcs !== undefined,
    objects: 150,
    deletion: 'final',
  },
  {
    name: 'Azurite',
    open: () => azureStore(azurite!),
    isThere: azurite !== undefined,
    objects: 300,
    deletion: 'unknown',
  },
];

describe.each(stores.filter(({ isThere }) => isThere))('garbage on $name', ({ open, objects, deletion }) => {
  it('goes after its window; what is in use, strange or imported stays', { timeout }, async () => {
    const { adapter, folder } = await open();
    const world = new GcWorld(adapter);
    const engine = await world.engine();
    const repository = await newRepository(engine, { folder });
    const { storageNamespace } = await engine.repositories.get(repository);
    const at = (identifier: string): ObjectPointer => ({
      storageNamespace,
      identifier,
      identifierType: 'relative',
    });
    const outside = {
      storageNamespace: `${folder}/outside`,
      identifier: 'x',
      identifierType: 'relative',
    } as const;
    await adapter.put(outside, Buffer.from('imported'));
    if (adapter.type !== 'local') {
      const target = { type: 'object', path: `${folder}/outside/x`, destination: 'imported' } as const;
      const id = await engine.imports.start({ repository, branch: 'main', paths: [target], actor });
      await expect.poll(async () => (await engine.imports.status({ repository, id })).completed).toBe(true);
      await engine.objects.delete({ repository, branch: 'main', path: 'imported' });
    }
    for (let start = 0; start < objects; start += 50) {
      const paths = Array.from({ length: 50 }, (_, index) => `file-${start + index}`);
      await Promise.all(paths.map((path) => put(engine, repository, 'main', path, 'old')));
      await Promise.all(paths.map((path) => put(engine, repository, 'main', path, 'new')));
    }
    await commit(engine, repository, 'main');
    // Tables of a commit that was refused.
    const refusing = await world.engine({
      hooks: {
        before: ({ type }) => {
          if (type !== 'pre-commit') return Promise.resolve(undefined);
          throw new EngineError('hook_aborted', 'refused');
        },
        after: () => undefined,
      },
    });
    await put(engine, repository, 'main', 'file-0', 'newer');
    expect(
      (await refusal(refusing.commits.create({ repository, branch: 'main', message: 'm', actor }))).kind,
    ).toBe('hook_aborted');
    const strange = ['data/notes.txt', 'data/x/y', 'notes.txt', '_svc/readme', '_svc/actions/log/run/file'];
    for (const key of strange) await adapter.put(at(key), Buffer.from('x'));
    const { physicalAddress } = await engine.objects.getPhysicalAddress({
      repository,
      branch: 'main',
      path: 'u',
    });
    await adapter.createMultipart(at(physicalAddress.slice(physicalAddress.indexOf('/data/') + 1)));

    world.now += 28 * hour;
    const first = await collect(world, engine, repository);
    expect(first.unknown.objects).toBeGreaterThanOrEqual(strange.length);
    expect([countOf(first, 'uncommitted', 'condemned'), countOf(first, 'uncommitted', 'deleted')]).toEqual([
      objects,
      0,
    ]);
    expect(countOf(first, 'tables', 'condemned')).toBeGreaterThanOrEqual(2);
    world.now += 9 * day;
    const second = await collect(world, engine, repository);
    expect(countOf(second, 'uncommitted', 'deleted')).toBe(objects);
    expect(countOf(second, 'tables', 'deleted')).toBe(countOf(first, 'tables', 'condemned'));
    expect(countOf(second, 'uploads', 'deleted')).toBe(1);
    world.now += 9 * day;
    const third = await collect(world, engine, repository);
    expect(third.classes.map(({ garbage }) => garbage.objects)).toEqual([0, 0, 0, 0, 0]);
    expect(third.storeDeletion).toBe(deletion);
    for (const key of strange) expect(await adapter.exists(at(key))).toBe(true);
    expect(await adapter.exists(outside)).toBe(true);
    const fresh = await world.engine();
    for (const path of ['file-0', 'file-1', `file-${objects - 1}`]) {
      expect(await read(fresh, repository, 'main', path)).toBe(path === 'file-0' ? 'newer' : 'new');
    }
    await world.close();
    await adapter.close();
  });
});
