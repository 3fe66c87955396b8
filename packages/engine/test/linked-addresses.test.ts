import { expect, test } from 'vitest';
import { createWorld, newRepository, put, read, refusal, refusalKind } from './fixture.ts';

test('linking needs a signed, recent address; and the same checks as staging', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { physicalAddress } = await engine.objects.getPhysicalAddress({
    repository,
    branch: 'main',
    path: 'p',
  });
  const link = (address: string, more: object = {}) =>
    engine.objects.link({
      repository,
      branch: 'main',
      path: 'p',
      physicalAddress: address,
      checksum: '"abc"',
      size: 3,
      mayReadRepository: () => true,
      ...more,
    });
  const entry = await link(physicalAddress);
  expect(entry.etag).toBe('abc');
  expect(entry.address).toMatch(/^data\/.*,/);
  await link(physicalAddress);
  const unsigned = physicalAddress.slice(0, physicalAddress.lastIndexOf(','));
  expect((await refusal(link(unsigned))).message).toBe('address is not signed: link address invalid');
  expect((await refusal(link(`${unsigned},!!`))).message).toContain('malformed address signature');
  expect((await refusal(link(`${unsigned},${'A'.repeat(43)}`))).message).toBe(
    'invalid address signature: invalid address',
  );
  expect(await refusalKind(link(physicalAddress, { path: 'q' }))).toBe('invalid');
  expect(await refusalKind(link(''))).toBe('invalid');
  expect(await refusalKind(link('s3://other/x'))).toBe('invalid');
  expect(await refusalKind(link('mem://elsewhere/x', { size: -1 }))).toBe('invalid');
  expect(await refusalKind(link('mem://elsewhere/x', { checksum: '' }))).toBe('invalid');
  expect(await refusalKind(link(`mem://bucket/${repository}/_svc/dummy`))).toBe('invalid');
  expect((await link('mem://elsewhere/x')).addressType).toBe('full');
  world.now += 24 * 3_600_000;
  await link(physicalAddress);
  world.now += 1000;
  expect(await refusal(link(physicalAddress))).toMatchObject({
    kind: 'invalid',
    message: 'link address expired',
  });
});

test('the signature of a known address', async () => {
  const { signAddress } = await import('../src/objects/addresses.ts');
  const { createSecretKey } = await import('node:crypto');
  const relative = 'data/gk3f7ctl8q3s73frlr8g/d2a4f1tl8q3s73frlr80';
  const signed = signAddress(
    createSecretKey('secret-key', 'utf8'),
    { repository: 'repo', branch: 'main', path: 'a/one.txt' },
    relative,
  );
  expect(signed).toBe(`${relative},WRcpMCDkgsImgV1GxNDpRafYLweMZCu7b9naMLJgV5U`);
});

test('an address inside a namespace needs a link token or read permission on that repository', async () => {
  const engine = createWorld().engine();
  const secret = await newRepository(engine);
  const repository = await newRepository(engine);
  await put(engine, secret, 'main', 'hidden', 'secret');
  const { physicalAddress } = await engine.objects.stat({ repository: secret, ref: 'main', path: 'hidden' });
  const stage = (mayReadRepository?: (name: string) => boolean) =>
    engine.objects.stage({
      repository,
      branch: 'main',
      path: 'x',
      physicalAddress,
      checksum: 'c',
      size: 6,
      mayReadRepository,
    });
  expect((await refusal(stage())).message).toContain(secret);
  expect(await refusalKind(stage((name) => name === repository))).toBe('forbidden');
  await stage((name) => name === secret);
  expect(await read(engine, repository, 'main', 'x')).toBe('secret');
});
