import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBlockStore } from '@svc/block';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { createWorld, newRepository, put, read, refusal, refusalKind } from './fixture.ts';
import { NaiveTrees } from './naive-trees.ts';

async function localWorld() {
  const folder = tempDir('local-addresses');
  const outside = join(folder, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'f'), 'outside');
  const path = join(folder, 'objects');
  const adapter = await openBlockStore({ type: 'local', path, allowedExternalPrefixes: [outside] });
  const engine = createWorld(new NaiveTrees(), adapter).engine();
  const repository = await newRepository(engine, { folder: 'local://data' });
  return { engine, repository, outside, folder };
}

test('an address of the local store is recognised as our own by its real path', async () => {
  const { engine, repository } = await localWorld();
  const claim = { repository, branch: 'main', path: 'p' };
  const { physicalAddress } = await engine.objects.getPhysicalAddress(claim);
  expect(physicalAddress).toMatch(/^local:\/\/\//);
  const link = (address: string) =>
    engine.objects.link({
      ...claim,
      physicalAddress: address,
      checksum: 'c',
      size: 1,
      mayReadRepository: () => true,
    });
  const entry = await link(physicalAddress);
  expect([entry.addressType, entry.physicalAddress]).toEqual(['relative', physicalAddress]);
  const unsigned = physicalAddress.slice(0, physicalAddress.lastIndexOf(','));
  expect((await refusal(link(unsigned))).message).toBe('address is not signed: link address invalid');
});

test('external files are shown by their absolute path, forbidden ones refused', async () => {
  const { engine, repository, outside } = await localWorld();
  const stage = (physicalAddress: string) =>
    engine.objects.stage({ repository, branch: 'main', path: 'x', physicalAddress, checksum: 'c', size: 7 });
  const entry = await stage(`local://${outside}/f`);
  expect([entry.addressType, entry.physicalAddress]).toEqual(['full', `local://${outside}/f`]);
  expect(await read(engine, repository, 'main', 'x')).toBe('outside');
  expect((await stage(`local://${outside}/f`)).physicalAddress).toBe(`local://${outside}/f`);
  expect(await refusalKind(stage('local:///etc/passwd'))).toBe('forbidden');
  // Empty and unparsable addresses are bad requests.
  for (const bad of ['', 'nonsense', 's3://bucket/key']) {
    expect((await refusal(stage(bad))).message).toBe(
      'physical address is not valid for block adapter: local',
    );
  }
});

test('a link in the file system does not lead around the permission', async () => {
  const { engine, repository, outside } = await localWorld();
  const other = await newRepository(engine, { folder: 'local://data' });
  await put(engine, other, 'main', 'hidden', 'secret');
  const { physicalAddress } = await engine.objects.stat({ repository: other, ref: 'main', path: 'hidden' });
  symlinkSync(physicalAddress.slice('local://'.length), join(outside, 'sneaky'));
  const staged = engine.objects.stage({
    repository,
    branch: 'main',
    path: 'x',
    physicalAddress: `local://${outside}/sneaky`,
    checksum: 'c',
    size: 6,
  });
  expect(await refusalKind(staged)).toBe('forbidden');
});

test('a store that cannot presign says so', async () => {
  const { engine, repository } = await localWorld();
  await put(engine, repository, 'main', 'a', '1');
  const asked = engine.objects.getPhysicalAddress({ repository, branch: 'main', path: 'p', presign: true });
  expect(await refusal(asked)).toMatchObject({ kind: 'not_supported' });
  expect(await refusalKind(engine.objects.stat({ repository, ref: 'main', path: 'a', presign: true }))).toBe(
    'not_supported',
  );
  expect(await refusalKind(engine.objects.list({ repository, ref: 'main', presign: true }))).toBe(
    'not_supported',
  );
  expect(
    await refusal(engine.objects.createPresignedMultipart({ repository, branch: 'main', path: 'p' })),
  ).toMatchObject({
    kind: 'not_implemented',
    message: 'presign multipart upload API is not supported',
  });
});

test('namespaces with dot segments are refused', async () => {
  const { engine } = await localWorld();
  for (const storageNamespace of ['local://a/../b', 'local://../b', 'local://a/./b']) {
    const created = engine.repositories.create({ name: 'dots', storageNamespace, actor: { committer: 'x' } });
    expect([storageNamespace, await refusalKind(created)]).toEqual([storageNamespace, 'invalid']);
  }
});
