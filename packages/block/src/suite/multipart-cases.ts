import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ObjectPointer } from '../adapter.ts';
import type { BlockSuite } from './block-suite.ts';
import { rejectsWith, failsWith, contentOf, chunksOf, md5 } from './bodies.ts';

export function multipartCases(suite: BlockSuite): void {
  const { at, walkAll, keysUnder } = suite;

  describe('multipart', () => {
    const startUpload = async (): Promise<{ pointer: ObjectPointer; uploadId: string }> => {
      const pointer = at('data/multi');
      return { pointer, uploadId: await suite.adapter.createMultipart(pointer) };
    };
    const part = (fill: string): Buffer => Buffer.alloc(suite.fixture.minPartSize, fill);

    it('joins parts uploaded in any order, of bytes and of streams', async () => {
      const upload = await startUpload();
      const last = Buffer.from('the end');
      const third = await suite.adapter.uploadPart(upload, 3, last);
      const first = await suite.adapter.uploadPart(upload, 1, part('a'));
      const second = await suite.adapter.uploadPart(upload, 2, {
        stream: Readable.from(chunksOf(part('b'), 60_000)),
        size: suite.fixture.minPartSize,
      });
      expect([first.etag, second.etag, third.etag]).toEqual([md5(part('a')), md5(part('b')), md5(last)]);
      expect([first.size, third.size]).toEqual([suite.fixture.minPartSize, last.length]);
      expect(await suite.adapter.exists(upload.pointer)).toBe(false);
      const completed = await suite.adapter.completeMultipart(upload, [
        { partNumber: 1, etag: first.etag },
        { partNumber: 2, etag: second.etag },
        { partNumber: 3, etag: third.etag },
      ]);
      const whole = Buffer.concat([part('a'), part('b'), last]);
      expect(completed.size).toBe(whole.length);
      expect(completed.etag).toMatch(/^[0-9a-f]{32}(-3)?$/);
      expect((await contentOf(await suite.adapter.get(upload.pointer))).equals(whole)).toBe(true);
      const [walked] = await walkAll(`${upload.pointer.storageNamespace}/`);
      expect(walked?.etag).toBe((await suite.adapter.properties(upload.pointer)).etag);
    });

    it('uses exactly the listed parts', async () => {
      const upload = await startUpload();
      const etags = [];
      for (const [index, fill] of ['1', '2', '3'].entries()) {
        etags.push((await suite.adapter.uploadPart(upload, index + 1, part(fill))).etag);
      }
      const { size } = await suite.adapter.completeMultipart(upload, [
        { partNumber: 1, etag: etags[0] ?? '' },
        { partNumber: 3, etag: etags[2] ?? '' },
      ]);
      expect(size).toBe(2 * suite.fixture.minPartSize);
      const content = await contentOf(await suite.adapter.get(upload.pointer));
      expect(content.equals(Buffer.concat([part('1'), part('3')]))).toBe(true);
      expect(await keysUnder(upload.pointer.storageNamespace)).toEqual(['data/multi']);
    });

    it('replaces a repeated part', async () => {
      const upload = await startUpload();
      const old = await suite.adapter.uploadPart(upload, 1, part('o'));
      const { etag } = await suite.adapter.uploadPart(upload, 1, part('n'));
      await rejectsWith(
        'invalid_part',
        suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag: old.etag }]),
      );
      await suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
      expect((await contentOf(await suite.adapter.get(upload.pointer))).equals(part('n'))).toBe(true);
    });

    it('copies parts from objects, whole and by range', async () => {
      const source = at('source');
      const content = randomBytes(suite.fixture.minPartSize + 100);
      await suite.adapter.put(source, content);
      const upload = await startUpload();
      const first = await suite.adapter.uploadPartCopy(upload, 1, source);
      const second = await suite.adapter.uploadPartCopy(upload, 2, source, { start: 10, end: 59 });
      expect(first.etag).toBe(md5(content));
      expect(second).toEqual({ etag: md5(content.subarray(10, 60)), size: 50 });
      await suite.adapter.completeMultipart(upload, [
        { partNumber: 1, etag: first.etag },
        { partNumber: 2, etag: second.etag },
      ]);
      const joined = await contentOf(await suite.adapter.get(upload.pointer));
      expect(joined.equals(Buffer.concat([content, content.subarray(10, 60)]))).toBe(true);
      const another = await startUpload();
      await rejectsWith('not_found', suite.adapter.uploadPartCopy(another, 1, at('missing')));
      await rejectsWith('bad_index', suite.adapter.uploadPartCopy(another, 1, source, { start: 5, end: 1 }));
      await suite.adapter.abortMultipart(another);
    });

    it('refuses missing parts, bad numbers and bad lists', async () => {
      const upload = await startUpload();
      const { etag } = await suite.adapter.uploadPart(upload, 2, Buffer.from('x'));
      await rejectsWith('invalid_part', suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag }]));
      await rejectsWith('invalid_part', suite.adapter.completeMultipart(upload, []));
      await rejectsWith(
        'invalid_part',
        suite.adapter.completeMultipart(upload, [
          { partNumber: 2, etag },
          { partNumber: 2, etag },
        ]),
      );
      for (const partNumber of [0, -1, 10_001, 1.5]) {
        await rejectsWith('invalid_part', suite.adapter.uploadPart(upload, partNumber, Buffer.from('x')));
      }
      expect(await suite.adapter.exists(upload.pointer)).toBe(false);
      await suite.adapter.completeMultipart(upload, [{ partNumber: 2, etag }]);
      expect((await contentOf(await suite.adapter.get(upload.pointer))).toString()).toBe('x');
    });

    it('asks whether a part is accepted and fails when it is not', async () => {
      const source = at('source');
      await suite.adapter.put(source, part('s'));
      const upload = await startUpload();
      const asked: unknown[] = [];
      const accept = async (answer: unknown): Promise<void> => {
        asked.push(answer);
      };
      const stored = await suite.adapter.uploadPart(upload, 1, part('a'), accept);
      const copied = await suite.adapter.uploadPartCopy(upload, 2, source, undefined, accept);
      expect(asked).toEqual([stored, copied]);
      const refuse = (): Promise<void> => Promise.reject(new Error('not accepted'));
      await failsWith(suite.adapter.uploadPart(upload, 3, part('b'), refuse), 'not accepted');
      await failsWith(suite.adapter.uploadPartCopy(upload, 3, source, undefined, refuse), 'not accepted');
      if (suite.fixture.holdsPartsBack ?? true) {
        await failsWith(suite.adapter.uploadPart(upload, 1, part('c'), refuse), 'not accepted');
        await rejectsWith(
          'invalid_part',
          suite.adapter.completeMultipart(upload, [{ partNumber: 3, etag: md5(part('b')) }]),
        );
      }
      await suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag: stored.etag }]);
      expect((await contentOf(await suite.adapter.get(upload.pointer))).equals(part('a'))).toBe(true);
    });

    it('finds uploads that were begun and not ended, below their namespace', async () => {
      const upload = await startUpload();
      const { storageNamespace } = upload.pointer;
      const [done, ended] = [at('data/done', storageNamespace), at('data/ended', storageNamespace)];
      const completed = { pointer: done, uploadId: await suite.adapter.createMultipart(done) };
      const { etag } = await suite.adapter.uploadPart(completed, 1, Buffer.from('x'));
      await suite.adapter.completeMultipart(completed, [{ partNumber: 1, etag }]);
      await suite.adapter.abortMultipart({
        pointer: ended,
        uploadId: await suite.adapter.createMultipart(ended),
      });
      const beside = at('data/multi', `${storageNamespace}-beside`);
      const other = { pointer: beside, uploadId: await suite.adapter.createMultipart(beside) };
      const staleBefore = async (time: number): Promise<unknown[]> => {
        const found: unknown[] = [];
        for await (const stale of suite.adapter.staleUploads(storageNamespace, new Date(time)))
          found.push(stale);
        return found;
      };
      const hour = 3_600_000;
      expect(await staleBefore(Date.now() + hour)).toEqual([upload]);
      if (suite.fixture.datesUploads ?? true) expect(await staleBefore(Date.now() - hour)).toEqual([]);
      await suite.adapter.abortMultipart(upload);
      await suite.adapter.abortMultipart(other);
      expect(await staleBefore(Date.now() + hour)).toEqual([]);
    });

    it('aborts without a trace', async () => {
      const upload = await startUpload();
      const { etag } = await suite.adapter.uploadPart(upload, 1, part('x'));
      await suite.adapter.abortMultipart(upload);
      await suite.adapter.abortMultipart(upload);
      if (suite.fixture.refusesUnknownUploads ?? true) {
        await rejectsWith('upload_not_found', suite.adapter.uploadPart(upload, 2, Buffer.from('x')));
        await rejectsWith(
          'upload_not_found',
          suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag }]),
        );
      }
      expect(await keysUnder(upload.pointer.storageNamespace)).toEqual([]);
    });

    it('knows only its own uploads', async () => {
      if (suite.fixture.refusesUnknownUploads === false) return;
      const upload = await startUpload();
      const elsewhere = { ...upload, pointer: at('other') };
      await rejectsWith('upload_not_found', suite.adapter.uploadPart(elsewhere, 1, Buffer.from('x')));
      const unknown = { ...upload, uploadId: '0123456789abcdef0123456789abcdef' };
      await rejectsWith('upload_not_found', suite.adapter.uploadPart(unknown, 1, Buffer.from('x')));
      await suite.adapter.abortMultipart(upload);
    });

    it('keeps no part of a stream that failed', async () => {
      const upload = await startUpload();
      const stream = new PassThrough();
      stream.write(Buffer.from('some'));
      const refused = failsWith(suite.adapter.uploadPart(upload, 1, { stream, size: 1000 }), 'cut');
      stream.destroy(new Error('cut'));
      await refused;
      await rejectsWith(
        'invalid_part',
        suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag: md5(Buffer.from('some')) }]),
      );
      await suite.adapter.abortMultipart(upload);
    });
  });
}
