import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlockAdapter, BodySource, ObjectPointer, PutOptions } from '@svc/block';
import { createTestAdapter } from '@svc/block/named-store';
import { afterEach, expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { createWorld, newRepository } from './fixture.ts';

const content = Buffer.alloc(2 * 1024 * 1024 + 1, 'content');
const md5 = createHash('md5').update(content).digest('hex');
const madeUp = '0123456789abcdef0123456789abcdef';

let engine: Engine;
afterEach(() => engine.close());

/** An engine on a store that tells what it is told to tell. */
async function open(): Promise<{
  repository: string;
  tell: (told: string | undefined) => void;
  /** The MD5s in hex that objects were put with. */
  given: (string | undefined)[];
}> {
  const adapter = createTestAdapter();
  let told: string | undefined;
  const given: (string | undefined)[] = [];
  const telling: BlockAdapter = new Proxy(adapter, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (name === 'uploadPart')
        return async (...[upload, number, body, accept]: Parameters<BlockAdapter['uploadPart']>) =>
          target.uploadPart(upload, number, body, async (part) => accept?.({ ...part, md5: told }));
      if (name === 'put')
        return async (pointer: ObjectPointer, body: BodySource, options?: PutOptions) => {
          if (options?.fresh === true) {
            given.push(options.md5 === undefined ? undefined : Buffer.from(options.md5).toString('hex'));
          }
          return { ...(await target.put(pointer, body, options)), md5: told };
        };
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    },
  });
  engine = createWorld(undefined, telling).engine();
  const repository = await newRepository(engine);
  return { repository, tell: (next) => (told = next), given };
}

async function etagOf(repository: string, size = content.length): Promise<string> {
  // Pieces, as they come from a client.
  const stream = Readable.from([content.subarray(0, 100_000), content.subarray(100_000)], {
    objectMode: false,
  });
  const body = { stream, size };
  return (await engine.objects.upload({ repository, branch: 'main', path: 'large', body })).etag;
}

test('a store that told the right MD5 once is believed from then on', async () => {
  const { repository, tell } = await open();
  tell(md5);
  expect(await etagOf(repository)).toBe(md5);
  tell(madeUp);
  expect(await etagOf(repository)).toBe(madeUp);
  const seen: string[] = [];
  const body = { stream: Readable.from([content], { objectMode: false }), size: content.length };
  const verify = (digests: { md5: Buffer; size: number; extra: { sha256?: Buffer } }): undefined => {
    seen.push(digests.md5.toString('hex'), String(digests.size), digests.extra.sha256?.toString('hex') ?? '');
  };
  await engine.objects.upload({ repository, branch: 'main', path: 'x', body, digests: ['sha256'], verify });
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(seen).toEqual([madeUp, String(content.length), sha256]);
});

test('a store that told a wrong one is never believed', async () => {
  const { repository, tell } = await open();
  tell(madeUp);
  expect(await etagOf(repository)).toBe(md5);
  tell(md5);
  expect(await etagOf(repository)).toBe(md5);
  tell(madeUp);
  expect(await etagOf(repository)).toBe(md5);
});

test('what a small write taught holds for large ones, and a store that tells nothing any more is read', async () => {
  const { repository, tell } = await open();
  const small = Buffer.from('small');
  tell(createHash('md5').update(small).digest('hex'));
  await engine.objects.upload({ repository, branch: 'main', path: 'small', body: small });
  tell(madeUp);
  expect(await etagOf(repository)).toBe(madeUp);
  tell(undefined);
  expect(await etagOf(repository)).toBe(md5);
  tell(madeUp);
  expect(await etagOf(repository)).toBe(md5);
});

test('bodies of unknown length are hashed here', async () => {
  const { repository, tell } = await open();
  tell(md5);
  await etagOf(repository);
  tell(madeUp);
  expect(await etagOf(repository, -1)).toBe(md5);
});

test('a part of which the store tells nothing is sent again, and hashed here then', async () => {
  const { repository, tell } = await open();
  const target = { repository, branch: 'main', path: 'parts', owner: 'me' };
  const { uploadId } = await engine.uploads.create(target);
  const seen: string[] = [];
  const send = (): Promise<unknown> =>
    engine.uploads.putPart({
      ...target,
      uploadId,
      partNumber: 1,
      body: { stream: Readable.from([content], { objectMode: false }), size: content.length },
      verify: (digests) => void seen.push(digests.md5.toString('hex')),
    });
  tell(md5);
  await send();
  tell(madeUp);
  await send();
  tell(undefined);
  await expect(send()).rejects.toMatchObject({ kind: 'busy' });
  await send();
  expect(seen).toEqual([md5, madeUp, md5]);
});

test('a store is told the MD5 of what is in memory before it takes it', async () => {
  const { repository, given } = await open();
  const small = content.subarray(0, 4096);
  const stream = Readable.from([small], { objectMode: false });
  await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'small',
    body: { stream, size: small.length },
  });
  await etagOf(repository);
  expect(given).toEqual([createHash('md5').update(small).digest('hex'), undefined]);
});
