import { Readable } from 'node:stream';
import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  actor,
  changes,
  commit,
  contents,
  createWorld,
  newRepository,
  paths,
  put,
  read,
  refusal,
  refusalKind,
} from './fixture.ts';

test('keys of 1024 bytes pass, longer and empty ones and lone surrogates do not, and nothing is stored', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'ä'.repeat(512), 'x');
  const long = await refusal(put(engine, repository, 'main', 'x'.repeat(1025), 'x'));
  expect(long.message).toBe(
    'argument path: invalid value: validation error: 1025 is above maximum length (1024)',
  );
  expect((await refusal(put(engine, repository, 'main', '', 'x'))).message).toBe(
    'argument path: missing path: required value: validation error',
  );
  // Keys that are not UTF-8 are refused, not altered.
  expect(await refusalKind(put(engine, repository, 'main', 'a\ud800', 'x'))).toBe('invalid');
  expect((await paths(engine, repository, 'main')).length).toBe(1);
});

test('upload stores MD5, type, metadata; bad branches are refused before a byte is stored', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const entry = await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'a/b',
    body: Buffer.from('hello'),
    contentType: 'text/plain',
    metadata: { k: 'v' },
  });
  expect(entry).toMatchObject({
    path: 'a/b',
    size: 5,
    etag: '5d41402abc4b2a76b9719d911017c592',
    contentType: 'text/plain',
    metadata: { k: 'v' },
    addressType: 'relative',
  });
  expect(entry.physicalAddress).toMatch(
    new RegExp(`^mem://bucket/${repository}/data/[0-9a-v]{20}/[0-9a-v]{20}$`),
  );
  expect(await engine.objects.stat({ repository, ref: 'main', path: 'a/b' })).toEqual(entry);
  let touched = false;
  const stream = new Readable({
    read() {
      touched = true;
      this.push(null);
    },
  });
  // The branch is checked before the body.
  const nowhere = engine.objects.upload({
    repository,
    branch: 'gone',
    path: 'x',
    body: { stream, size: -1 },
  });
  expect((await refusal(nowhere)).message).toBe("branch 'gone' not found");
  expect(touched).toBe(false);
  expect(
    await refusalKind(
      engine.objects.upload({
        repository,
        branch: 'main',
        path: 'm',
        body: Buffer.alloc(0),
        metadata: { k: 'x'.repeat(70_000) },
      }),
    ),
  ).toBe('invalid');
});

test('large bodies are hashed on the way by other threads, with every extra digest', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const content = randomBytes(3 * 1024 * 1024 + 17);
  const chunks: Buffer[] = [];
  for (let at = 0; at < content.length; at += 70_001) chunks.push(content.subarray(at, at + 70_001));
  let seen: Record<string, string> = {};
  const entry = await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'big',
    body: { stream: Readable.from(chunks), size: content.length },
    digests: ['sha1', 'sha256', 'sha512', 'crc32', 'crc32c', 'crc64nvme'],
    verify: ({ extra, size }) => {
      expect(size).toBe(content.length);
      seen = Object.fromEntries(
        Object.entries(extra).map(([name, digest]) => [name, digest.toString('base64')]),
      );
    },
  });
  expect(entry.etag).toBe(createHash('md5').update(content).digest('hex'));
  expect(seen['sha256']).toBe(createHash('sha256').update(content).digest('base64'));
  expect(Object.keys(seen).length).toBe(6);
  const { body } = await engine.objects.open({
    repository,
    ref: 'main',
    path: 'big',
    range: () => ({ start: 5, end: 9 }),
  });
  expect(body.bytes ?? Buffer.concat(await body.stream().toArray())).toEqual(content.subarray(5, 10));
  await engine.close();
});

test('digests of small bodies have their wire form', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'x',
    body: Buffer.from('hello world'),
    digests: ['crc32', 'crc32c', 'crc64nvme'],
    verify: ({ extra }) => {
      expect(extra.crc32!.toString('base64')).toBe('DUoRhQ==');
      expect(extra.crc32c!.toString('base64')).toBe('yZRlqg==');
      expect(extra.crc64nvme!.toString('base64')).toBe('jSnVw/bqjr4=');
    },
  });
});

test('a body that fails verification or ends early leaves neither entry nor data', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const upload = (body: Parameters<typeof engine.objects.upload>[0]['body']) =>
    engine.objects.upload({
      repository,
      branch: 'main',
      path: 'x',
      body,
      verify: () => {
        throw new Error('bad digest');
      },
    });
  await expect(upload(Buffer.from('1'))).rejects.toThrow('bad digest');
  await expect(upload({ stream: Readable.from([randomBytes(2_000_000)]), size: 2_000_000 })).rejects.toThrow(
    'bad digest',
  );
  await expect(upload({ stream: Readable.from([Buffer.from('123')]), size: 10 })).rejects.toThrow();
  expect(await paths(engine, repository, 'main')).toEqual([]);
  const stored: string[] = [];
  for await (const page of world.adapter.walk(`mem://bucket/${repository}/data/`))
    stored.push(...page.map((item) => item.uri));
  expect(stored).toEqual([]);
  await engine.close();
});

test('reserved metadata: users cannot set it, updates keep it, copies drop what is made up', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const kept = { '::svc::Cache-Control': 'no-cache' };
  const upload = (path: string, metadata: Record<string, string>) =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from('x'), metadata });
  for (const metadata of [
    { '::svc::Set-Cookie': 'a' },
    { '::svc::cache-control': 'a' },
    { '::svc::Cache-Control': 'a\r\nb' },
    { '::svc::Expires': '\0' },
  ])
    expect(await refusalKind(upload('no', metadata))).toBe('invalid');
  await upload('yes', { ...kept, a: '1' });
  const update = (metadata: Record<string, string>) =>
    engine.objects.updateMetadata({ repository, branch: 'main', path: 'yes', metadata });
  expect(await refusalKind(update({ '::svc::Expires': '0' }))).toBe('invalid');
  await update({ b: '2' });
  const { metadata } = await engine.objects.stat({ repository, ref: 'main', path: 'yes' });
  expect({ ...metadata }).toEqual({ ...kept, b: '2' });
});

test('a delete hides an object, is no error for a missing one and can be done for many at once', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['a', 'b', 'c']) await put(engine, repository, 'main', path, '1');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'd', '1');
  await engine.objects.delete({ repository, branch: 'main', path: 'missing' });
  const many = (paths: string[], branch = 'main') => engine.objects.deleteMany({ repository, branch, paths });
  expect(await refusalKind(many(Array.from({ length: 1001 }, (_, index) => `k${index}`)))).toBe('invalid');
  // A missing branch is not found, an empty path is skipped, an overlong one is its own failure.
  expect(await refusalKind(many(['a'], 'gone'))).toBe('not_found');
  expect(await refusalKind(many(['a'], 'a b'))).toBe('invalid');
  const failures = await many(['', 'a', 'd', 'x'.repeat(1025), 'nope']);
  expect(failures.map((failure) => failure.path)).toEqual(['x'.repeat(1025)]);
  expect(await paths(engine, repository, 'main')).toEqual(['b', 'c']);
  expect(await changes(engine, repository, 'main')).toEqual(['removed a']);
  await engine.protection.set({ repository, patterns: ['main'] });
  expect((await many(['b', 'c'])).map((failure) => (failure.error as { kind?: string }).kind)).toEqual([
    'protected',
    'protected',
  ]);
});

test('no_tombstone drops what was only staged; If-Match guards a delete', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'kept', '1');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'only-staged', '1');
  await engine.objects.delete({ repository, branch: 'main', path: 'only-staged', noTombstone: true });
  await engine.objects.delete({ repository, branch: 'main', path: 'only-staged', ifMatch: 'x' });
  const guarded = engine.objects.delete({ repository, branch: 'main', path: 'kept', ifMatch: 'other' });
  expect(await refusalKind(guarded)).toBe('precondition_failed');
  await engine.objects.delete({ repository, branch: 'main', path: 'kept', noTombstone: true });
  expect(await changes(engine, repository, 'main')).toEqual(['removed kept']);
});

test('uploading equal content again is no change', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const before = await engine.objects.stat({ repository, ref: 'main', path: 'a' });
  await put(engine, repository, 'main', 'a', '1');
  expect(await changes(engine, repository, 'main')).toEqual([]);
  expect((await refusal(commit(engine, repository, 'main'))).message).toBe('commit: no changes');
  expect((await engine.objects.stat({ repository, ref: 'main', path: 'a' })).address).toBe(before.address);
  await put(engine, repository, 'main', 'a', '1');
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'b', '1');
  await commit(engine, repository, 'dev');
  await engine.merges.merge({ repository, source: 'dev', destination: 'main', actor });
  expect(await contents(engine, repository, 'main')).toEqual({ a: '1', b: '1' });
});

test('copies: new address, same etag; across branches; gone data is gone', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  const original = await engine.objects.stat({ repository, ref: 'main', path: 'a' });
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const copy = (path: string) =>
    engine.objects.copy({
      source: { repository, ref: 'main', path },
      destination: { repository, branch: 'dev', path: 'b' },
    });
  const copied = await copy('a');
  expect(copied.etag).toBe(original.etag);
  expect(copied.address).not.toBe(original.address);
  expect(await read(engine, repository, 'dev', 'b')).toBe('1');
  expect(await refusalKind(copy('missing'))).toBe('not_found');
  const elsewhere = engine.objects.copy({
    source: { repository, ref: 'main', path: 'a' },
    destination: { repository, branch: 'gone', path: 'b' },
  });
  expect((await refusal(elsewhere)).message).toBe("branch 'gone' not found");
  await world.adapter.delete({
    storageNamespace: `mem://bucket/${repository}`,
    identifier: original.address,
    identifierType: 'relative',
  });
  expect(await refusal(copy('a'))).toMatchObject({ kind: 'data_gone', message: 'No data' });
  expect(await refusalKind(engine.objects.open({ repository, ref: 'main', path: 'a' }))).toBe('data_gone');
  expect(await refusalKind(engine.objects.underlyingProperties({ repository, ref: 'main', path: 'a' }))).toBe(
    'data_gone',
  );
});

test('user metadata is replaced as a whole, keeping address and time', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'a', '1');
  await commit(engine, repository, 'main');
  const before = await engine.objects.stat({ repository, ref: 'main', path: 'a' });
  await engine.objects.updateMetadata({ repository, branch: 'main', path: 'a', metadata: { x: '1' } });
  await engine.objects.updateMetadata({ repository, branch: 'main', path: 'a', metadata: { y: '2' } });
  expect(await engine.objects.stat({ repository, ref: 'main', path: 'a' })).toEqual({
    ...before,
    metadata: { y: '2' },
  });
  expect(await changes(engine, repository, 'main')).toEqual(['changed a']);
  const missing = engine.objects.updateMetadata({ repository, branch: 'main', path: 'zz', metadata: {} });
  expect((await refusal(missing)).message).toBe(`update user metadata on ${repository}/main/zz: not found`);
  // A missing repository is not found.
  expect(
    await refusalKind(
      engine.objects.updateMetadata({ repository: 'nowhere', branch: 'main', path: 'a', metadata: {} }),
    ),
  ).toBe('not_found');
});
