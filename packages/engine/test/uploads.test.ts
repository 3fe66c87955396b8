import { hash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlockAdapter } from '@svc/block';
import { expect, test } from 'vitest';
import { watched } from './failing-store.ts';
import {
  actor,
  commit,
  createWorld,
  newRepository,
  paths,
  put,
  read,
  refusal,
  refusalKind,
} from './fixture.ts';
import { createMemStore } from '@svc/kv';

test('a multipart upload: parts, listing, completion with its etag, repeated completion', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const upload = await engine.uploads.create({
    repository,
    branch: 'main',
    path: 'big',
    owner: 'me',
    metadata: { k: 'v' },
    systemHeaders: { 'h:cache': 'no' },
    contentType: 'text/x',
  });
  expect(upload.uploadId).toMatch(/^[A-Za-z0-9_-]{20,128}$/);
  const target = { repository, branch: 'main', path: 'big', uploadId: upload.uploadId };
  const one = await engine.uploads.putPart({
    ...target,
    partNumber: 1,
    body: Buffer.alloc(5_242_880, 'a'),
    verify: () => ({ 'x-amz-checksum-crc32': 'AAAA' }),
  });
  const two = await engine.uploads.putPart({
    ...target,
    partNumber: 2,
    body: { stream: Readable.from([Buffer.from('b'.repeat(10))]), size: 10 },
  });
  expect([one.etag, two.etag]).toEqual([
    '79b281060d337b9b2b84ccf390adcf74',
    '82136b4240d6ce4ea7d03e51469a393b',
  ]);
  const listed = await engine.uploads.listParts({ ...target, amount: 1 });
  expect(listed).toMatchObject({
    hasMore: true,
    parts: [{ partNumber: 1, checksums: { 'x-amz-checksum-crc32': 'AAAA' } }],
  });
  const complete = (parts: { partNumber: number; etag: string }[], more: object = {}) =>
    engine.uploads.complete({ ...target, parts, ...more });
  expect(await refusal(complete([{ partNumber: 3, etag: one.etag }]))).toMatchObject({
    kind: 'invalid',
    subject: 'part',
  });
  expect(await refusal(complete([{ partNumber: 1, etag: two.etag }]))).toMatchObject({
    kind: 'invalid',
    subject: 'part',
  });
  expect(await refusal(complete([one, two], { expectedSize: 1 }))).toMatchObject({
    kind: 'invalid',
    subject: 'upload',
  });
  await put(engine, repository, 'main', 'big', 'old');
  expect(await refusalKind(complete([one, two], { ifNoneMatch: '*' }))).toBe('precondition_failed');
  const entry = await complete([one, two]);
  expect(entry).toMatchObject({
    etag: '8b0be7847da5564ae08e97af63b60885-2',
    size: 5_242_890,
    contentType: 'text/x',
    metadata: { k: 'v', 'h:cache': 'no' },
  });
  expect(await complete([one, two])).toEqual(entry);
  expect((await engine.uploads.list({ repository })).uploads).toEqual([]);
  expect(await refusalKind(engine.uploads.get(target))).toBe('not_found');
  await put(engine, repository, 'main', 'big', 'newer');
  expect(await refusalKind(complete([one, two]))).toBe('not_found');
});

test('uploads belong to one repository, branch and path, and go with their branch', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const { uploadId } = await engine.uploads.create({ repository, branch: 'dev', path: 'p', owner: 'me' });
  for (const other of [{ branch: 'main' }, { path: 'q' }, { uploadId: 'unknown-id-unknown-id' }]) {
    expect(
      await refusal(engine.uploads.get({ repository, branch: 'dev', path: 'p', uploadId, ...other })),
    ).toMatchObject({ kind: 'not_found', subject: 'upload' });
  }
  await engine.uploads.putPart({
    repository,
    branch: 'dev',
    path: 'p',
    uploadId,
    partNumber: 1,
    body: randomBytes(10),
  });
  await engine.branches.delete({ repository, branch: 'dev', actor });
  const left: string[] = [];
  for await (const partition of createMemStore(world.state).partitions()) left.push(partition.toString());
  expect(left.filter((name) => name.startsWith('multipart'))).toEqual([]);
});

test('listing uploads by key with prefix, delimiter and markers; abort', async () => {
  const world = createWorld();
  const engine = world.engine();
  const repository = await newRepository(engine);
  const ids: Record<string, string> = {};
  for (const path of ['d/1', 'd/2', 'b', 'a']) {
    world.now += 1000;
    ids[path] = (await engine.uploads.create({ repository, branch: 'main', path, owner: 'me' })).uploadId;
  }
  const page = async (options: object) => {
    const found = await engine.uploads.list({ repository, ...options });
    return [
      found.uploads.map((upload) => upload.path),
      found.commonPrefixes,
      found.hasMore,
      found.nextKeyMarker,
    ];
  };
  expect(await page({})).toEqual([['a', 'b', 'd/1', 'd/2'], [], false, '']);
  expect(await page({ prefix: 'main/', delimiter: '/' })).toEqual([['a', 'b'], ['main/d/'], false, '']);
  expect(await page({ amount: 2 })).toEqual([['a', 'b'], [], true, 'main/b']);
  expect(await page({ keyMarker: 'main/b', uploadIdMarker: ids['b'] })).toEqual([
    ['d/1', 'd/2'],
    [],
    false,
    '',
  ]);
  await engine.uploads.abort({ repository, branch: 'main', path: 'a', uploadId: ids['a']! });
  expect(await page({ prefix: 'main/a' })).toEqual([[], [], false, '']);
});

test('copying an object into a part, whole or a range', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await put(engine, repository, 'main', 'source', '0123456789');
  const { uploadId } = await engine.uploads.create({ repository, branch: 'main', path: 'copy', owner: 'me' });
  const target = { repository, branch: 'main', path: 'copy', uploadId };
  const source = { repository, ref: 'main', path: 'source' };
  const part = await engine.uploads.copyPart({
    ...target,
    partNumber: 1,
    source,
    range: { start: 2, end: 4 },
  });
  expect(
    await refusalKind(
      engine.uploads.copyPart({ ...target, partNumber: 2, source, range: { start: 2, end: 10 } }),
    ),
  ).toBe('invalid');
  await engine.uploads.complete({ ...target, parts: [part] });
  expect(await read(engine, repository, 'main', 'copy')).toBe('234');
  expect(await paths(engine, repository, 'main')).toEqual(['copy', 'source']);
});

test('the store is told the hash of a large part, and does not compute it again', async () => {
  const inner = createWorld();
  const told: (string | undefined)[] = [];
  const adapter = new Proxy(inner.adapter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'uploadPart') return member.bind(target) as unknown;
      return async (...args: Parameters<BlockAdapter['uploadPart']>) => {
        const part = await target.uploadPart(...args);
        told.push(args[2] instanceof Uint8Array ? undefined : await args[2].md5?.());
        return part;
      };
    },
  });
  const engine = createWorld(undefined, adapter).engine();
  const repository = await newRepository(engine);
  const target = { repository, branch: 'main', path: 'big', owner: 'me' };
  const { uploadId } = await engine.uploads.create(target);
  const content = randomBytes(1_100_000);
  const body = { stream: Readable.from([content]), size: content.length };
  const { etag } = await engine.uploads.putPart({ ...target, uploadId, partNumber: 1, body });
  expect(told).toEqual([hash('md5', content)]);
  expect(etag).toBe(told[0]);
});

test('a completion is answered before it is on record, and the upload is gone for everybody', async () => {
  const world = createWorld();
  const recording = Promise.withResolvers<void>();
  let marks = 0;
  const engine = world.engine({
    wrapKv: (kv) =>
      watched(kv, async ({ method, partition }) => {
        if (method !== 'setIf' || partition !== 'multiparts') return;
        marks += 1;
        // The first says that a completion has begun.
        if (marks > 1) await recording.promise;
      }),
  });
  const repository = await newRepository(engine);
  const place = { repository, branch: 'main', path: 'p' };
  const { uploadId } = await engine.uploads.create({ ...place, owner: 'me' });
  const target = { ...place, uploadId };
  const part = await engine.uploads.putPart({ ...target, partNumber: 1, body: Buffer.from('content') });
  const entry = await engine.uploads.complete({ ...target, parts: [part] });
  expect(await read(engine, repository, 'main', 'p')).toBe('content');
  expect((await engine.uploads.list({ repository })).uploads).toEqual([]);
  const others = [
    engine.uploads.get(target),
    engine.uploads.listParts(target),
    engine.uploads.putPart({ ...target, partNumber: 1, body: Buffer.from('other') }),
    engine.uploads.abort(target),
  ].map(refusalKind);
  const again = engine.uploads.complete({ ...target, parts: [part] });
  recording.resolve();
  expect(await Promise.all(others)).toEqual(['not_found', 'not_found', 'not_found', 'not_found']);
  expect(await again).toEqual(entry);
  await engine.close();
  expect(marks).toBe(2);
});

test.each(['abort', 'complete again', 'delete the branch'] as const)(
  'an upload whose completion was answered and never got on record leaves its object alone: %s',
  async (then) => {
    const world = createWorld();
    let marks = 0;
    const killed = world.engine({
      wrapKv: (kv) =>
        watched(kv, ({ method, partition }) => {
          if (method !== 'setIf' || partition !== 'multiparts') return;
          marks += 1;
          // The first says that a completion has begun.
          if (marks > 1) throw new Error('killed');
        }),
    });
    const repository = await newRepository(killed);
    await killed.branches.create({ repository, name: 'dev', source: 'main', actor });
    const place = { repository, branch: 'dev', path: 'p' };
    const { uploadId } = await killed.uploads.create({ ...place, owner: 'me' });
    const target = { ...place, uploadId };
    const part = await killed.uploads.putPart({ ...target, partNumber: 1, body: Buffer.from('content') });
    const { physicalAddress, etag } = await killed.uploads.complete({ ...target, parts: [part] });
    await killed.close();
    expect(marks).toBe(2);

    const engine = world.engine();
    await commit(engine, repository, 'dev');
    await engine.tags.create({ repository, id: 'with-it', ref: 'dev', actor });
    // By then the completion counts as dead.
    world.now += 31_000;
    expect((await engine.uploads.list({ repository })).uploads).toMatchObject([{ uploadId }]);
    if (then === 'abort') await engine.uploads.abort(target);
    else if (then === 'delete the branch') await engine.branches.delete({ repository, branch: 'dev', actor });
    else
      expect(await engine.uploads.complete({ ...target, parts: [part] })).toMatchObject({
        physicalAddress,
        etag,
      });
    expect((await engine.uploads.list({ repository })).uploads).toEqual([]);
    expect(await read(engine, repository, 'with-it', 'p')).toBe('content');
    await engine.close();
  },
);

test.each(['the record', 'the store'])('of an upload that %s refuses nothing stays', async (refuses) => {
  const inner = createWorld();
  const stored = new Set<string>();
  const adapter = new Proxy(inner.adapter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name === 'abortMultipart')
        return async ({ uploadId }: { uploadId: string }) => void stored.delete(uploadId);
      if (name !== 'createMultipart') return member.bind(target) as unknown;
      return async (...args: Parameters<BlockAdapter['createMultipart']>) => {
        const uploadId = await target.createMultipart(args[0], args[1]);
        stored.add(uploadId);
        if (refuses === 'the record') return uploadId;
        await args[2]?.(uploadId);
        stored.delete(uploadId);
        throw new Error('refused');
      };
    },
  });
  const world = createWorld(undefined, adapter);
  const engine = world.engine({
    wrapKv: (kv) =>
      watched(kv, ({ method, partition }) => {
        if (refuses === 'the record' && method === 'set' && partition === 'multiparts')
          throw new Error('refused');
      }),
  });
  const repository = await newRepository(engine);
  const creating = engine.uploads.create({ repository, branch: 'main', path: 'p', owner: 'me' });
  await expect(creating).rejects.toThrow('refused');
  expect([...stored]).toEqual([]);
  expect((await engine.uploads.list({ repository })).uploads).toEqual([]);
});
