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

test('case 26: keys of 1024 bytes pass, longer and empty ones and lone surrogates do not, and nothing is stored', async () => {
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
  // [fix] keys that are not UTF-8 are refused, not altered.
  expect(await refusalKind(put(engine, repository, 'main', 'a\ud800', 'x'))).toBe('invalid');
  expect((await paths(engine, repository, 'main')).length).toBe(1);
});

test('while a commit runs, what it takes and what is written meanwhile are found, tombstones too', async () => {
  const world = createWorld();
  const during = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  let pausing = false;
  const engine = world.engine({
    hooks: {
      after: () => undefined,
      before: async ({ type }) => {
        if (!pausing || type !== 'pre-commit') return undefined;
        during.resolve();
        await goOn.promise;
        return undefined;
      },
    },
  });
  const repository = await newRepository(engine);
  for (const path of ['gone', 'old', 'twice']) await put(engine, repository, 'main', path, 'committed');
  await commit(engine, repository, 'main');
  for (const path of ['new', 'twice']) await put(engine, repository, 'main', path, 'staged');
  await engine.objects.delete({ repository, branch: 'main', path: 'gone' });
  pausing = true;
  const committing = commit(engine, repository, 'main');
  await during.promise;
  await put(engine, repository, 'main', 'twice', 'meanwhile');
  // The second time the branch is known.
  for (let time = 0; time < 2; time++) {
    expect(await read(engine, repository, 'main', 'new')).toBe('staged');
    expect(await read(engine, repository, 'main', 'old')).toBe('committed');
    expect(await read(engine, repository, 'main', 'twice')).toBe('meanwhile');
    expect(await refusalKind(read(engine, repository, 'main', 'gone'))).toBe('not_found');
  }
  goOn.resolve();
  await committing;
  expect(await read(engine, repository, 'main', 'twice')).toBe('meanwhile');
  expect(await read(engine, repository, 'main@', 'twice')).toBe('staged');
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
  // [fix] the branch is checked before the body.
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

test('case 27: If-None-Match over staged, committed, deleted; If-Match on etags', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const create = (path: string) =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from('n'), ifNoneMatch: '*' });
  await create('a');
  expect(await refusal(create('a'))).toMatchObject({
    kind: 'precondition_failed',
    message: 'path already exists',
  });
  await commit(engine, repository, 'main');
  expect(await refusalKind(create('a'))).toBe('precondition_failed');
  await engine.objects.delete({ repository, branch: 'main', path: 'a' });
  const { etag } = await create('a');
  const replace = (ifMatch: string, path = 'a', content = 'm') =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from(content), ifMatch });
  expect(await refusalKind(replace('other'))).toBe('precondition_failed');
  expect(await refusal(replace(etag, 'missing'))).toMatchObject({ kind: 'not_found', subject: 'object' });
  await replace(etag);
  expect(await read(engine, repository, 'main', 'a')).toBe('m');
  await replace('*', 'a', 'star');
  expect(await read(engine, repository, 'main', 'a')).toBe('star');
});

test('[fix] a conditional write retried after a seal finds its own value and succeeds', async () => {
  const world = createWorld();
  const rival = world.engine();
  const repository = await newRepository(rival);
  let sealed = false;
  const engine = world.engine({
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) => {
          if (name !== 'setIf') return (Reflect.get(target, name) as () => unknown).bind(target);
          return async (...args: Parameters<typeof kv.setIf>) => {
            const stored = await target.setIf(...args);
            if (stored && !sealed && args[0].toString().includes(':')) {
              sealed = true;
              await put(rival, repository, 'main', 'other', '1');
              await commit(rival, repository, 'main');
            }
            return stored;
          };
        },
      }),
  });
  await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'a',
    body: Buffer.from('mine'),
    ifNoneMatch: '*',
  });
  expect(await read(engine, repository, 'main', 'a')).toBe('mine');
});

test('of writers that replace one object, one succeeds, also while the branch is committed', async () => {
  const world = createWorld();
  const engines = [world.engine(), world.engine()];
  const [first] = engines;
  if (first === undefined) throw new Error('no engine');
  const repository = await newRepository(first);
  await put(first, repository, 'main', 'raced', 'start');
  let { etag } = await first.objects.stat({ repository, ref: 'main', path: 'raced' });
  for (let round = 0; round < 10; round += 1) {
    const replace = engines.flatMap((engine, index) =>
      [0, 1, 2, 3].map((writer) =>
        engine.objects.upload({
          repository,
          branch: 'main',
          path: 'raced',
          body: Buffer.from(`round ${round} writer ${index}-${writer}`),
          ifMatch: etag,
        }),
      ),
    );
    await put(first, repository, 'main', `other-${round}`, 'x');
    const [outcomes] = await Promise.all([
      Promise.allSettled(replace),
      commit(first, repository, 'main').catch(() => undefined),
    ]);
    const written = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(written).toHaveLength(1);
    const kinds = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { kind: string }).kind : 'written',
    );
    expect(new Set([...kinds, 'precondition_failed', 'conflict', 'written']).size).toBe(3);
    etag = written[0]?.value.etag ?? '';
    expect((await first.objects.stat({ repository, ref: 'main', path: 'raced' })).etag).toBe(etag);
  }
});

test('If-None-Match finds an entry of the same address that another call has staged', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const place = { repository, branch: 'main', path: 'linked' };
  const { physicalAddress } = await engine.objects.getPhysicalAddress(place);
  const link = () =>
    engine.objects.link({ ...place, physicalAddress, checksum: 'c', size: 1, mtime: 7, ifNoneMatch: '*' });
  await link();
  expect(await refusalKind(link())).toBe('precondition_failed');
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

test('case 28: deleting', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['a', 'b', 'c']) await put(engine, repository, 'main', path, '1');
  await commit(engine, repository, 'main');
  await put(engine, repository, 'main', 'd', '1');
  await engine.objects.delete({ repository, branch: 'main', path: 'missing' });
  const many = (paths: string[], branch = 'main') => engine.objects.deleteMany({ repository, branch, paths });
  expect(await refusalKind(many(Array.from({ length: 1001 }, (_, index) => `k${index}`)))).toBe('invalid');
  // [fix] a missing branch is not found, an empty path is skipped, an overlong one is its own failure.
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

test('case 29: uploading equal content again is no change', async () => {
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

test('case 30: linking needs a signed, recent address; [fix] and the same checks as staging', async () => {
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

test('case 21 of the format: the signature of a known address', async () => {
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

test('P13: an address inside a namespace needs a link token or read permission on that repository', async () => {
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

test('copies: new address, same etag; across branches; [fix] gone data is gone', async () => {
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
  // [fix] a missing repository is not found.
  expect(
    await refusalKind(
      engine.objects.updateMetadata({ repository: 'nowhere', branch: 'main', path: 'a', metadata: {} }),
    ),
  ).toBe('not_found');
});

test('case 31: listing with a delimiter in pages; folded prefixes without visible keys do not appear', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  for (const path of ['file1', 'file2', 'file3', 'h/x', 'h/y', 'z/gone'])
    await put(engine, repository, 'main', path, path);
  await commit(engine, repository, 'main');
  await engine.objects.delete({ repository, branch: 'main', path: 'z/gone' });
  expect(await paths(engine, repository, 'main', { delimiter: '/', amount: 1 })).toEqual([
    'file1',
    'file2',
    'file3',
    'h/',
  ]);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/' })).toEqual([]);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/x' })).toEqual(['h/']);
  expect(await paths(engine, repository, 'main', { delimiter: '/', after: 'h/y' })).toEqual(['h/']);
  expect(await paths(engine, repository, 'main', { prefix: 'h/', delimiter: '/' })).toEqual(['h/x', 'h/y']);
  expect(await paths(engine, repository, 'main@', { delimiter: '/' })).toEqual([
    'file1',
    'file2',
    'file3',
    'h/',
    'z/',
  ]);
  const page = await engine.objects.list({ repository, ref: 'main', prefix: 'file', amount: 2 });
  expect(page.toArray()).toMatchObject([{ kind: 'object', path: 'file1', size: 5 }, { path: 'file2' }]);
  expect([page.hasMore, page.nextOffset]).toEqual([true, 'file2']);
  expect(page.toArray()[0]).toEqual({
    kind: 'object',
    presigned: undefined,
    ...(await engine.objects.stat({ repository, ref: 'main', path: 'file1' })),
  });
});

test('a reader that remembers a branch sees what others did to it since', async () => {
  const world = createWorld();
  const engine = world.engine();
  const other = world.engine();
  const repository = await newRepository(engine);
  const etagOf = async (path: string) => (await engine.objects.stat({ repository, ref: 'side', path })).etag;
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await put(engine, repository, 'side', 'a', 'one');
  const first = await etagOf('a');
  await put(other, repository, 'side', 'a', 'two');
  const second = await etagOf('a');
  expect(second).not.toBe(first);
  // The new entry lies in a token that the remembered branch does not know.
  await commit(other, repository, 'side', 'by another');
  await put(other, repository, 'side', 'b', 'three');
  expect(await etagOf('b')).toBeDefined();
  expect(await etagOf('a')).toBe(second);
  await commit(other, repository, 'side', 'by another again');
  expect(await etagOf('b')).toBeDefined();
  await other.objects.delete({ repository, branch: 'side', path: 'a' });
  expect(await refusalKind(etagOf('a'))).toBe('not_found');
  await other.branches.delete({ repository, branch: 'side', actor });
  expect((await refusal(etagOf('b'))).subject).toBe('ref');
  await other.tags.create({ repository, id: 'side', ref: 'main', actor });
  expect((await refusal(etagOf('b'))).subject).toBe('object');
});

test('a small object read again comes from memory; one read once, or overwritten, from the store', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  const lose = async (path: string): Promise<void> => {
    const { address } = await engine.objects.stat({ repository, ref: 'main', path });
    await world.adapter.delete({ storageNamespace, identifier: address, identifierType: 'relative' });
  };
  for (const path of ['again', 'once']) await put(engine, repository, 'main', path, `content of ${path}`);
  for (const path of ['again', 'once', 'again']) await read(engine, repository, 'main', path);
  await lose('again');
  await lose('once');
  expect(await read(engine, repository, 'main', 'again')).toBe('content of again');
  expect(await refusalKind(read(engine, repository, 'main', 'once'))).toBe('data_gone');
  await put(engine, repository, 'main', 'again', 'other content');
  expect(await read(engine, repository, 'main', 'again')).toBe('other content');
});
