import { createHash, randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlockAdapter, ObjectBody, ObjectPointer, WalkedObject } from '../adapter.ts';
import { BlockError, type BlockErrorKind } from '../errors.ts';

export interface BlockFixture {
  readonly adapter: BlockAdapter;
  /** An empty namespace of this run's own, without a trailing slash. */
  readonly namespace: string;
  /** The least size of every part but the last; 1 where the store has no minimum. */
  readonly minPartSize: number;
  /** False where the server itself lets two conditional writes through at once. Default true. */
  readonly atomicIfAbsent?: boolean;
  /** False where the server itself takes parts for uploads it does not know. Default true. */
  readonly refusesUnknownUploads?: boolean;
  readonly close: () => Promise<void>;
}

/** Holds an adapter to the contract of `BlockAdapter`. `open` is called once. */
export function describeBlockAdapter(name: string, open: () => Promise<BlockFixture>): void {
  describe(`block adapter ${name}`, () => {
    let fixture: BlockFixture;
    let adapter: BlockAdapter;
    let folders = 0;

    beforeAll(async () => {
      fixture = await open();
      adapter = fixture.adapter;
    });
    afterAll(async () => {
      await fixture?.close();
    });

    /** A namespace no other test uses. */
    const freshNamespace = (): string => `${fixture.namespace}/t${folders++}`;
    const at = (identifier: string, storageNamespace = freshNamespace()): ObjectPointer => ({
      storageNamespace,
      identifier,
      identifierType: 'relative',
    });
    const full = (identifier: string): ObjectPointer => ({
      storageNamespace: fixture.namespace,
      identifier,
      identifierType: 'full',
    });
    const walkAll = async (uri: string, after?: string): Promise<WalkedObject[]> => {
      const found: WalkedObject[] = [];
      for await (const page of adapter.walk(uri, { after })) {
        expect(page.length).toBeGreaterThan(0);
        found.push(...page);
      }
      return found;
    };
    const keysUnder = async (namespace: string): Promise<string[]> =>
      (await walkAll(`${namespace}/`)).map((object) => object.relativeKey);

    describe('put and get', () => {
      it('returns what was put, as bytes and as a stream', async () => {
        const pointer = at('data/p/x');
        const body = randomBytes(5000);
        await adapter.put(pointer, body);
        const read = await adapter.get(pointer);
        expect(read.size).toBe(5000);
        expect(await contentOf(read)).toEqual(body);
        expect(await streamContent((await adapter.get(pointer)).stream())).toEqual(body);
        expect(await adapter.exists(pointer)).toBe(true);
      });

      it('keeps an object of no bytes', async () => {
        for (const body of [
          Buffer.alloc(0),
          { stream: Readable.from([]), size: 0 },
          { stream: Readable.from([]), size: -1 },
        ]) {
          const pointer = at('empty');
          await adapter.put(pointer, body);
          const read = await adapter.get(pointer);
          expect(read.size).toBe(0);
          expect(await streamContent(read.stream())).toEqual(Buffer.alloc(0));
          const { size, etag } = await adapter.properties(pointer);
          expect({ size, etag }).toEqual({ size: 0, etag: 'd41d8cd98f00b204e9800998ecf8427e' });
        }
      });

      it('overwrites', async () => {
        const pointer = at('x');
        await adapter.put(pointer, Buffer.from('a longer first version'));
        await adapter.put(pointer, Buffer.from('second'));
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('second');
      });

      it("does not keep the caller's buffer", async () => {
        const pointer = at('x');
        const body = Buffer.from('before');
        await adapter.put(pointer, body);
        body.fill('z');
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('before');
      });

      it('takes streams of known and unknown length', async () => {
        const body = randomBytes(3 * 1024 * 1024 + 17);
        for (const size of [body.length, -1]) {
          const pointer = at('big');
          await adapter.put(pointer, { stream: Readable.from(chunksOf(body, 100_000)), size });
          const read = await adapter.get(pointer);
          expect(read.size).toBe(body.length);
          expect(sha256(await contentOf(read))).toBe(sha256(body));
          expect((await adapter.properties(pointer)).size).toBe(body.length);
        }
      });

      it('takes an unknown length beyond one buffer', async () => {
        const pointer = at('bigger');
        const body = randomBytes(19 * 1024 * 1024 + 3);
        await adapter.put(pointer, { stream: Readable.from(chunksOf(body, 64 * 1024)), size: -1 });
        expect(sha256(await contentOf(await adapter.get(pointer)))).toBe(sha256(body));
      });

      it('writes fresh addresses', async () => {
        const pointer = at('data/partition/name');
        await adapter.put(
          pointer,
          { stream: Readable.from([Buffer.from('fresh')]), size: 5 },
          { fresh: true },
        );
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('fresh');
        const again = at('data/partition/name2', pointer.storageNamespace);
        await adapter.put(again, Buffer.from('fresh too'), { fresh: true });
        expect((await contentOf(await adapter.get(again))).toString()).toBe('fresh too');
      });

      it('lets a body be released unread', async () => {
        const pointer = at('x');
        await adapter.put(pointer, randomBytes(300_000));
        for (let i = 0; i < 20; i++) (await adapter.get(pointer)).dispose();
        const opened = await adapter.get(pointer);
        opened.stream().on('error', () => undefined);
        opened.dispose();
        expect((await contentOf(await adapter.get(pointer))).length).toBe(300_000);
      });

      it('keeps many objects written at once', async () => {
        const namespace = freshNamespace();
        const bodies = Array.from({ length: 100 }, (_, i) => Buffer.from(`object ${i}`));
        await Promise.all(
          bodies.map((body, i) =>
            adapter.put(at(`d/${i % 3}/${i}`, namespace), body, { fresh: i % 2 === 0 }),
          ),
        );
        const read = await Promise.all(
          bodies.map(async (_, i) => await contentOf(await adapter.get(at(`d/${i % 3}/${i}`, namespace)))),
        );
        expect(read).toEqual(bodies);
      });
    });

    describe('a failed put leaves nothing', () => {
      it('when the stream fails', async () => {
        for (const size of [200_000, -1]) {
          for (const fresh of [false, true]) {
            const pointer = at('x');
            const stream = new PassThrough();
            stream.write(randomBytes(100_000));
            const put = adapter.put(pointer, { stream, size }, { fresh });
            const refused = failsWith(put, 'client went away');
            stream.destroy(new Error('client went away'));
            await refused;
            expect(await adapter.exists(pointer)).toBe(false);
            expect(await keysUnder(pointer.storageNamespace)).toEqual([]);
          }
        }
      });

      it('when the stream is cut without an error', async () => {
        const pointer = at('x');
        const stream = new PassThrough();
        stream.write(randomBytes(100_000));
        const refused = failsWith(adapter.put(pointer, { stream, size: 200_000 }), '');
        stream.destroy();
        await refused;
        expect(await adapter.exists(pointer)).toBe(false);
      });

      it('when it is aborted', async () => {
        const abort = new AbortController();
        const pointer = at('x');
        const stream = new PassThrough();
        stream.write(randomBytes(100_000));
        const put = adapter.put(pointer, { stream, size: -1 }, { signal: abort.signal });
        const refused = failsWith(put, 'no longer wanted');
        abort.abort(new Error('no longer wanted'));
        await refused;
        expect(await adapter.exists(pointer)).toBe(false);
        expect(stream.destroyed).toBe(true);
      });

      it('when the length is not the announced one', async () => {
        for (const announced of [5, 2_000_000, 900_000]) {
          const pointer = at('x');
          const stream = Readable.from(chunksOf(randomBytes(1_000_000), 50_000));
          await rejectsWith('write_failed', adapter.put(pointer, { stream, size: announced }));
          expect(await adapter.exists(pointer)).toBe(false);
        }
      });

      it('and an overwrite that fails keeps the old object', async () => {
        const pointer = at('x');
        await adapter.put(pointer, Buffer.from('old'));
        const stream = new PassThrough();
        stream.write(randomBytes(100_000));
        const refused = failsWith(adapter.put(pointer, { stream, size: -1 }), 'broken');
        stream.destroy(new Error('broken'));
        await refused;
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('old');
      });
    });

    describe('put if absent', () => {
      it('refuses to overwrite', async () => {
        const pointer = at('x');
        await adapter.put(pointer, Buffer.from('first'), { ifAbsent: true });
        await rejectsWith('already_exists', adapter.put(pointer, Buffer.from('second'), { ifAbsent: true }));
        const stream = Readable.from([Buffer.from('third')]);
        await rejectsWith('already_exists', adapter.put(pointer, { stream, size: 5 }, { ifAbsent: true }));
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('first');
      });

      it('lets exactly one of many through', async () => {
        const pointer = at('x');
        const results = await Promise.allSettled(
          Array.from({ length: 12 }, (_, i) =>
            adapter.put(pointer, Buffer.from(`writer ${i}`), { ifAbsent: true }),
          ),
        );
        const winners = results.flatMap((result, i) => (result.status === 'fulfilled' ? [i] : []));
        for (const result of results) {
          if (result.status === 'rejected') expect((result.reason as BlockError).kind).toBe('already_exists');
        }
        const content = (await contentOf(await adapter.get(pointer))).toString();
        if (fixture.atomicIfAbsent ?? true) expect([content]).toEqual(winners.map((i) => `writer ${i}`));
        else expect(winners.length).toBeGreaterThan(0);
      });
    });

    describe('missing objects', () => {
      it('are not found', async () => {
        const pointer = at('no/such');
        expect(await adapter.exists(pointer)).toBe(false);
        await rejectsWith('not_found', adapter.get(pointer));
        await rejectsWith('not_found', adapter.getRange(pointer, 0, 1));
        await rejectsWith('not_found', adapter.properties(pointer));
        await rejectsWith('not_found', adapter.copy(pointer, at('target')));
      });

      it('may be deleted', async () => {
        const pointer = at('x');
        await adapter.delete(pointer);
        await adapter.put(pointer, Buffer.from('x'));
        await adapter.delete(pointer);
        await adapter.delete(pointer);
        await rejectsWith('not_found', adapter.get(pointer));
      });

      it('a folder is not an object', async () => {
        const namespace = freshNamespace();
        await adapter.put(at('folder/x', namespace), Buffer.from('x'));
        expect(await adapter.exists(at('folder', namespace))).toBe(false);
        await rejectsWith('not_found', adapter.get(at('folder', namespace)));
        await adapter.delete(at('folder', namespace));
        expect(await adapter.exists(at('folder/x', namespace))).toBe(true);
      });

      it('deletes many at once', async () => {
        const namespace = freshNamespace();
        const pointers = ['a', 'b/c', 'odd & <key>', 'missing'].map((key) => at(key, namespace));
        for (const pointer of pointers.slice(0, 3)) await adapter.put(pointer, Buffer.from('x'));
        await adapter.put(at('stays', namespace), Buffer.from('x'));
        expect(await adapter.deleteMany(pointers)).toEqual([]);
        expect(await keysUnder(namespace)).toEqual(['stays']);
        expect(await adapter.deleteMany([])).toEqual([]);
      });
    });

    describe('ranges', () => {
      it('are inclusive and cut at the end', async () => {
        const pointer = at('x');
        const body = Buffer.from('0123456789');
        await adapter.put(pointer, body);
        const range = async (start: number, end: number): Promise<string> => {
          const read = await adapter.getRange(pointer, start, end);
          const content = (await contentOf(read)).toString();
          expect(read.size).toBe(content.length);
          return content;
        };
        expect(await range(0, body.length + 10)).toBe('0123456789');
        expect(await range(5, 5)).toBe('5');
        expect(await range(0, 0)).toBe('0');
        expect(await range(9, 9)).toBe('9');
        expect(await range(3, Number.MAX_SAFE_INTEGER)).toBe('3456789');
      });

      it('refuse bad indexes', async () => {
        const pointer = at('x');
        await adapter.put(pointer, Buffer.from('0123456789'));
        const bad: [number, number][] = [
          [10, 1],
          [-1, 3],
          [-5, -1],
          [10, 10],
          [10, 20],
          [0.5, 3],
          [Number.NaN, 3],
        ];
        for (const [start, end] of bad) await rejectsWith('bad_index', adapter.getRange(pointer, start, end));
        const empty = at('empty');
        await adapter.put(empty, Buffer.alloc(0));
        await rejectsWith('bad_index', adapter.getRange(empty, 0, 0));
      });

      it('stream when large', async () => {
        const pointer = at('x');
        const body = randomBytes(2_000_000);
        await adapter.put(pointer, body);
        const read = await adapter.getRange(pointer, 1000, 1_900_000 - 1);
        expect(read.size).toBe(1_899_000);
        expect((await streamContent(read.stream())).equals(body.subarray(1000, 1_900_000))).toBe(true);
      });
    });

    describe('properties', () => {
      it('agree with the walk', async () => {
        const pointer = at('dir/x');
        const before = Date.now();
        const body = Buffer.from('hello world');
        const { etag: putEtag, lastModified } = await adapter.put(pointer, body);
        const properties = await adapter.properties(pointer);
        expect(properties.etag).toBe('5eb63bbbe01eeed093cb22bb8f5acdc3');
        expect(putEtag ?? properties.etag).toBe(properties.etag);
        expect(properties.size).toBe(11);
        expect(Math.abs(properties.lastModified.getTime() - before)).toBeLessThan(60_000);
        if (lastModified !== undefined)
          expect(Math.abs(lastModified.getTime() - before)).toBeLessThan(60_000);
        const [walked] = await walkAll(`${pointer.storageNamespace}/`);
        expect(walked?.etag).toBe(properties.etag);
        expect(walked?.size).toBe(11);
        expect(
          Math.abs((walked?.lastModified.getTime() ?? 0) - properties.lastModified.getTime()),
        ).toBeLessThan(1001);
        expect(walked?.uri).toBe(adapter.absoluteUri(pointer));
      });
    });

    describe('copy', () => {
      it('copies the content', async () => {
        const source = at('source');
        const destination = at('deep/er/copy');
        await adapter.put(source, Buffer.from('content'));
        await adapter.copy(source, destination);
        await adapter.delete(source);
        expect((await contentOf(await adapter.get(destination))).toString()).toBe('content');
      });

      it('overwrites, and takes odd keys and empty objects', async () => {
        const source = at("odd % + ä 'key'");
        const destination = at('copy of %41');
        await adapter.put(source, Buffer.from('new'));
        await adapter.put(destination, Buffer.from('old content'));
        await adapter.copy(source, destination);
        expect((await contentOf(await adapter.get(destination))).toString()).toBe('new');
        await adapter.put(source, Buffer.alloc(0));
        await adapter.copy(source, destination);
        expect((await adapter.get(destination)).size).toBe(0);
      });
    });

    describe('odd keys', () => {
      const keys = [
        'plain',
        'with space',
        ' leading and trailing ',
        'a+b',
        'percent%2Fescape',
        'percent%zz',
        '%41',
        'question?mark=1&and#hash',
        'quotes\'"`',
        'brackets<>{}[]()|^',
        'semi;colon:comma,equals=@$!*',
        'back\\slash',
        'tilde~dash-under_score.',
        'dots..and...more.',
        'ünïcödé/日本語/кириллица',
        'emoji 😀/🦆',
        'decomposed e\u0301',
        'data/gk3f7ctl8q3s73frlr8g/d2a4f1tl8q3s73frlr80,WRcpMCDkgsImgV1GxNDpRafYLweMZCu7b9naMLJgV5U',
        'x'.repeat(200),
        `${'long/'.repeat(40)}end`,
      ];

      it('are kept apart and listed as they are', async () => {
        const namespace = freshNamespace();
        for (const key of keys) await adapter.put(at(key, namespace), Buffer.from(`content of ${key}`));
        for (const key of keys) {
          expect((await contentOf(await adapter.get(at(key, namespace)))).toString()).toBe(
            `content of ${key}`,
          );
          expect((await adapter.properties(at(key, namespace))).size).toBe(
            Buffer.byteLength(`content of ${key}`),
          );
        }
        const walked = await walkAll(`${namespace}/`);
        expect(walked.map((object) => object.relativeKey)).toEqual(sorted(keys));
        for (const object of walked) {
          expect((await contentOf(await adapter.get(full(object.uri)))).toString()).toBe(
            `content of ${object.relativeKey}`,
          );
        }
      });
    });

    describe('addresses', () => {
      it('full and relative name the same object', async () => {
        const pointer = at('data/x%3Ay');
        await adapter.put(pointer, Buffer.from('same'));
        const uri = adapter.absoluteUri(pointer);
        expect(uri.endsWith('/data/x%3Ay')).toBe(true);
        expect((await contentOf(await adapter.get(full(uri)))).toString()).toBe('same');
        const unknown = { storageNamespace: pointer.storageNamespace, identifierType: 'unknown' } as const;
        expect((await contentOf(await adapter.get({ ...unknown, identifier: uri }))).toString()).toBe('same');
        expect(
          (await contentOf(await adapter.get({ ...unknown, identifier: 'data/x%3Ay' }))).toString(),
        ).toBe('same');
      });

      it('a trailing slash of the namespace changes nothing', async () => {
        const pointer = at('x');
        await adapter.put(pointer, Buffer.from('x'));
        expect(await adapter.exists({ ...pointer, storageNamespace: `${pointer.storageNamespace}/` })).toBe(
          true,
        );
        expect(await adapter.canonicalUri(`${pointer.storageNamespace}/`)).toBe(
          await adapter.canonicalUri(pointer.storageNamespace),
        );
      });

      it('of another scheme or none are invalid', async () => {
        const other = adapter.type === 's3' ? 'gs' : 's3';
        for (const identifier of [`${other}://bucket/key`, 'ftp://host/key', 'no-uri']) {
          await rejectsWith('invalid_address', adapter.get(full(identifier)));
          expect(() => adapter.validateAddress(full(identifier))).toThrow(BlockError);
        }
        for (const storageNamespace of [`${other}://bucket/key`, 'ftp://host', '', `${adapter.type}://`]) {
          await rejectsWith('invalid_namespace', adapter.get({ ...at('x'), storageNamespace }));
          expect(() => adapter.validateNamespace(storageNamespace)).toThrow(BlockError);
        }
        expect(() => adapter.validateNamespace(fixture.namespace)).not.toThrow();
        expect(() => adapter.validateAddress(at('x'))).not.toThrow();
      });
    });

    describe('multipart', () => {
      const startUpload = async (): Promise<{ pointer: ObjectPointer; uploadId: string }> => {
        const pointer = at('data/multi');
        return { pointer, uploadId: await adapter.createMultipart(pointer) };
      };
      const part = (fill: string): Buffer => Buffer.alloc(fixture.minPartSize, fill);

      it('joins parts uploaded in any order, of bytes and of streams', async () => {
        const upload = await startUpload();
        const last = Buffer.from('the end');
        const third = await adapter.uploadPart(upload, 3, last);
        const first = await adapter.uploadPart(upload, 1, part('a'));
        const second = await adapter.uploadPart(upload, 2, {
          stream: Readable.from(chunksOf(part('b'), 60_000)),
          size: fixture.minPartSize,
        });
        expect([first.etag, second.etag, third.etag]).toEqual([md5(part('a')), md5(part('b')), md5(last)]);
        expect([first.size, third.size]).toEqual([fixture.minPartSize, last.length]);
        expect(await adapter.exists(upload.pointer)).toBe(false);
        const completed = await adapter.completeMultipart(upload, [
          { partNumber: 1, etag: first.etag },
          { partNumber: 2, etag: second.etag },
          { partNumber: 3, etag: third.etag },
        ]);
        const whole = Buffer.concat([part('a'), part('b'), last]);
        expect(completed.size).toBe(whole.length);
        expect(completed.etag).toMatch(/^[0-9a-f]{32}(-3)?$/);
        expect((await contentOf(await adapter.get(upload.pointer))).equals(whole)).toBe(true);
        const [walked] = await walkAll(`${upload.pointer.storageNamespace}/`);
        expect(walked?.etag).toBe((await adapter.properties(upload.pointer)).etag);
      });

      it('uses exactly the listed parts', async () => {
        const upload = await startUpload();
        const etags = [];
        for (const [index, fill] of ['1', '2', '3'].entries()) {
          etags.push((await adapter.uploadPart(upload, index + 1, part(fill))).etag);
        }
        const { size } = await adapter.completeMultipart(upload, [
          { partNumber: 1, etag: etags[0] ?? '' },
          { partNumber: 3, etag: etags[2] ?? '' },
        ]);
        expect(size).toBe(2 * fixture.minPartSize);
        const content = await contentOf(await adapter.get(upload.pointer));
        expect(content.equals(Buffer.concat([part('1'), part('3')]))).toBe(true);
        expect(await keysUnder(upload.pointer.storageNamespace)).toEqual(['data/multi']);
      });

      it('replaces a repeated part', async () => {
        const upload = await startUpload();
        const old = await adapter.uploadPart(upload, 1, part('o'));
        const { etag } = await adapter.uploadPart(upload, 1, part('n'));
        await rejectsWith(
          'invalid_part',
          adapter.completeMultipart(upload, [{ partNumber: 1, etag: old.etag }]),
        );
        await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
        expect((await contentOf(await adapter.get(upload.pointer))).equals(part('n'))).toBe(true);
      });

      it('copies parts from objects, whole and by range', async () => {
        const source = at('source');
        const content = randomBytes(fixture.minPartSize + 100);
        await adapter.put(source, content);
        const upload = await startUpload();
        const first = await adapter.uploadPartCopy(upload, 1, source);
        const second = await adapter.uploadPartCopy(upload, 2, source, { start: 10, end: 59 });
        expect(first.etag).toBe(md5(content));
        expect(second).toEqual({ etag: md5(content.subarray(10, 60)), size: 50 });
        await adapter.completeMultipart(upload, [
          { partNumber: 1, etag: first.etag },
          { partNumber: 2, etag: second.etag },
        ]);
        const joined = await contentOf(await adapter.get(upload.pointer));
        expect(joined.equals(Buffer.concat([content, content.subarray(10, 60)]))).toBe(true);
        const another = await startUpload();
        await rejectsWith('not_found', adapter.uploadPartCopy(another, 1, at('missing')));
        await rejectsWith('bad_index', adapter.uploadPartCopy(another, 1, source, { start: 5, end: 1 }));
        await adapter.abortMultipart(another);
      });

      it('refuses missing parts, bad numbers and bad lists', async () => {
        const upload = await startUpload();
        const { etag } = await adapter.uploadPart(upload, 2, Buffer.from('x'));
        await rejectsWith('invalid_part', adapter.completeMultipart(upload, [{ partNumber: 1, etag }]));
        await rejectsWith('invalid_part', adapter.completeMultipart(upload, []));
        await rejectsWith(
          'invalid_part',
          adapter.completeMultipart(upload, [
            { partNumber: 2, etag },
            { partNumber: 2, etag },
          ]),
        );
        for (const partNumber of [0, -1, 10_001, 1.5]) {
          await rejectsWith('invalid_part', adapter.uploadPart(upload, partNumber, Buffer.from('x')));
        }
        expect(await adapter.exists(upload.pointer)).toBe(false);
        await adapter.completeMultipart(upload, [{ partNumber: 2, etag }]);
        expect((await contentOf(await adapter.get(upload.pointer))).toString()).toBe('x');
      });

      it('aborts without a trace', async () => {
        const upload = await startUpload();
        const { etag } = await adapter.uploadPart(upload, 1, part('x'));
        await adapter.abortMultipart(upload);
        await adapter.abortMultipart(upload);
        if (fixture.refusesUnknownUploads ?? true) {
          await rejectsWith('upload_not_found', adapter.uploadPart(upload, 2, Buffer.from('x')));
          await rejectsWith('upload_not_found', adapter.completeMultipart(upload, [{ partNumber: 1, etag }]));
        }
        expect(await keysUnder(upload.pointer.storageNamespace)).toEqual([]);
      });

      it('knows only its own uploads', async () => {
        if (fixture.refusesUnknownUploads === false) return;
        const upload = await startUpload();
        const elsewhere = { ...upload, pointer: at('other') };
        await rejectsWith('upload_not_found', adapter.uploadPart(elsewhere, 1, Buffer.from('x')));
        const unknown = { ...upload, uploadId: '0123456789abcdef0123456789abcdef' };
        await rejectsWith('upload_not_found', adapter.uploadPart(unknown, 1, Buffer.from('x')));
        await adapter.abortMultipart(upload);
      });

      it('keeps no part of a stream that failed', async () => {
        const upload = await startUpload();
        const stream = new PassThrough();
        stream.write(Buffer.from('some'));
        const refused = failsWith(adapter.uploadPart(upload, 1, { stream, size: 1000 }), 'cut');
        stream.destroy(new Error('cut'));
        await refused;
        await rejectsWith(
          'invalid_part',
          adapter.completeMultipart(upload, [{ partNumber: 1, etag: md5(Buffer.from('some')) }]),
        );
        await adapter.abortMultipart(upload);
      });
    });

    describe('walk', () => {
      it('goes in byte order across pages and can continue', async () => {
        const namespace = freshNamespace();
        const keys = ['a-b', 'a/b', 'a/b-c', 'a.b', 'a0', 'ab', 'a b/c', 'Z', 'z/', 'ｚ', '😀', 'é'].map(
          (key) => (key.endsWith('/') ? `${key}x` : key),
        );
        for (let i = 0; i < 1010; i++) keys.push(`many/${i % 7}/${i}`);
        await inParallel(16, keys, (key) => adapter.put(at(key, namespace), Buffer.from(key)));
        const walked = await walkAll(`${namespace}/`);
        expect(walked.map((object) => object.relativeKey)).toEqual(sorted(keys));
        for (const index of [0, 999, walked.length - 1]) {
          const rest = await walkAll(`${namespace}/`, walked[index]?.uri);
          expect(rest.map((object) => object.uri)).toEqual(
            walked.slice(index + 1).map((object) => object.uri),
          );
        }
      });

      it('takes a prefix within a name and keeps keys from its last slash', async () => {
        const namespace = freshNamespace();
        for (const key of ['pref/object', 'pref/obj/x', 'pref/other', 'pref', 'prefix/obj'].filter(
          (key) => key !== 'pref',
        )) {
          await adapter.put(at(key, namespace), Buffer.from('x'));
        }
        const keys = async (prefix: string): Promise<string[]> =>
          (await walkAll(`${namespace}/${prefix}`)).map((object) => object.relativeKey);
        expect(await keys('pref/obj')).toEqual(['obj/x', 'object']);
        expect(await keys('pref/')).toEqual(['obj/x', 'object', 'other']);
        expect(await keys('pref')).toEqual(['pref/obj/x', 'pref/object', 'pref/other', 'prefix/obj']);
        expect(await keys('nothing')).toEqual([]);
        expect(await keys('no/such/folder/')).toEqual([]);
      });

      it('may be left early', async () => {
        const namespace = freshNamespace();
        await adapter.put(at('a', namespace), Buffer.from('x'));
        await adapter.put(at('b', namespace), Buffer.from('x'));
        for await (const page of adapter.walk(`${namespace}/`)) {
          expect(page[0]?.relativeKey).toBe('a');
          break;
        }
      });
    });

    describe('pre-signed URLs', () => {
      it('work where the store has them', async () => {
        const pointer = at('dir/pre signed +.txt');
        if (!adapter.info.preSignSupport) {
          await rejectsWith('not_supported', adapter.presign(pointer, 'read'));
          await rejectsWith('not_supported', adapter.presign(pointer, 'write'));
          await rejectsWith('not_supported', adapter.presignPart({ pointer, uploadId: 'x' }, 1));
          return;
        }
        const write = await adapter.presign(pointer, 'write');
        expect(write.expiry.getTime()).toBeGreaterThan(Date.now());
        const put = await fetch(write.url, { method: 'PUT', body: 'by url' });
        expect(put.status).toBe(200);
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('by url');
        const read = await adapter.presign(pointer, 'read', { fileName: 'näme "1".txt' });
        const response = await fetch(read.url);
        expect(await response.text()).toBe('by url');
        expect(response.headers.get('content-disposition')).toContain('attachment');
      });

      it('upload parts where the store has them', async () => {
        if (!adapter.info.preSignMultipartUpload) return;
        const pointer = at('multi by url');
        const upload = { pointer, uploadId: await adapter.createMultipart(pointer) };
        const { url } = await adapter.presignPart(upload, 1);
        const put = await fetch(url, { method: 'PUT', body: 'one part' });
        expect(put.status).toBe(200);
        const etag = put.headers.get('etag')?.replaceAll('"', '') ?? '';
        await adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
        expect((await contentOf(await adapter.get(pointer))).toString()).toBe('one part');
      });
    });

    describe('streams', () => {
      it('have back-pressure: a slow reader or writer holds little in memory', async () => {
        const pointer = at('slow');
        const total = 24 * 1024 * 1024;
        let produced = 0;
        const source = new Readable({
          highWaterMark: 64 * 1024,
          read() {
            produced += 64 * 1024;
            this.push(produced > total ? null : Buffer.alloc(64 * 1024, 'x'));
          },
        });
        await adapter.put(pointer, { stream: source, size: total });
        const body = await adapter.get(pointer);
        const stream = body.stream();
        let received = 0;
        for await (const chunk of stream) {
          received += (chunk as Buffer).length;
          if (received < 1024 * 1024) await delay(1);
          expect(stream.readableLength).toBeLessThanOrEqual(4 * 1024 * 1024);
        }
        expect(received).toBe(total);
      });
    });

    it('tells what it is', () => {
      expect(adapter.info.namespaceValidityRegex).toBe(`^${adapter.type}://`);
      expect(fixture.namespace).toMatch(new RegExp(adapter.info.namespaceValidityRegex));
    });
  });
}

async function rejectsWith(kind: BlockErrorKind, promise: Promise<unknown>): Promise<void> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, `expected a BlockError of kind ${kind}`).toBeInstanceOf(BlockError);
  const { kind: actual, message } = error as BlockError;
  expect({ kind: actual, message }).toEqual({ kind, message });
}

/** Like `rejects.toThrow`, but to be awaited after what makes it fail. */
async function failsWith(promise: Promise<unknown>, message: string): Promise<void> {
  await expect(promise).rejects.toThrow(message);
}

async function contentOf(body: ObjectBody): Promise<Buffer> {
  return body.bytes ?? (await streamContent(body.stream()));
}

async function streamContent(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
  return chunks;
}

function sorted(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
