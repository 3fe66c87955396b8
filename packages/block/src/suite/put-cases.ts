import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { BlockError } from '../errors.ts';
import type { BlockSuite } from './block-suite.ts';
import { rejectsWith, failsWith, contentOf, streamContent, chunksOf, sha256 } from './bodies.ts';

export function putCases(suite: BlockSuite): void {
  const { freshNamespace, at, keysUnder } = suite;

  describe('put and get', () => {
    it('returns what was put, as bytes and as a stream', async () => {
      const pointer = at('data/p/x');
      const body = randomBytes(5000);
      await suite.adapter.put(pointer, body);
      const read = await suite.adapter.get(pointer);
      expect(read.size).toBe(5000);
      expect(await contentOf(read)).toEqual(body);
      expect(await streamContent((await suite.adapter.get(pointer)).stream())).toEqual(body);
      expect(await suite.adapter.exists(pointer)).toBe(true);
    });

    it('keeps an object of no bytes', async () => {
      for (const body of [
        Buffer.alloc(0),
        { stream: Readable.from([]), size: 0 },
        { stream: Readable.from([]), size: -1 },
      ]) {
        const pointer = at('empty');
        await suite.adapter.put(pointer, body);
        const read = await suite.adapter.get(pointer);
        expect(read.size).toBe(0);
        expect(await streamContent(read.stream())).toEqual(Buffer.alloc(0));
        const { size, etag } = await suite.adapter.properties(pointer);
        expect({ size, etag }).toEqual({ size: 0, etag: 'd41d8cd98f00b204e9800998ecf8427e' });
      }
    });

    it('overwrites', async () => {
      const pointer = at('x');
      await suite.adapter.put(pointer, Buffer.from('a longer first version'));
      await suite.adapter.put(pointer, Buffer.from('second'));
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('second');
    });

    it("does not keep the caller's buffer", async () => {
      const pointer = at('x');
      const body = Buffer.from('before');
      await suite.adapter.put(pointer, body);
      body.fill('z');
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('before');
    });

    it('takes streams of known and unknown length', async () => {
      const body = randomBytes(3 * 1024 * 1024 + 17);
      for (const size of [body.length, -1]) {
        const pointer = at('big');
        await suite.adapter.put(pointer, { stream: Readable.from(chunksOf(body, 100_000)), size });
        const read = await suite.adapter.get(pointer);
        expect(read.size).toBe(body.length);
        expect(sha256(await contentOf(read))).toBe(sha256(body));
        expect((await suite.adapter.properties(pointer)).size).toBe(body.length);
      }
    });

    it('takes an unknown length beyond one buffer', async () => {
      const pointer = at('bigger');
      const body = randomBytes(19 * 1024 * 1024 + 3);
      await suite.adapter.put(pointer, { stream: Readable.from(chunksOf(body, 64 * 1024)), size: -1 });
      expect(sha256(await contentOf(await suite.adapter.get(pointer)))).toBe(sha256(body));
    });

    it('writes fresh addresses', async () => {
      const pointer = at('data/partition/name');
      await suite.adapter.put(
        pointer,
        { stream: Readable.from([Buffer.from('fresh')]), size: 5 },
        { fresh: true },
      );
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('fresh');
      const again = at('data/partition/name2', pointer.storageNamespace);
      await suite.adapter.put(again, Buffer.from('fresh too'), { fresh: true });
      expect((await contentOf(await suite.adapter.get(again))).toString()).toBe('fresh too');
    });

    it('takes the same bytes for one address from many at once, and again', async () => {
      const pointer = at('tables/id');
      const body = randomBytes(100_000);
      const put = (stream: boolean): Promise<unknown> =>
        suite.adapter.put(
          pointer,
          stream ? { stream: Readable.from(chunksOf(body, 10_000)), size: body.length } : body,
          { immutable: true },
        );
      await Promise.all(Array.from({ length: 10 }, (_, i) => put(i % 2 === 0)));
      await put(false);
      await put(true);
      expect(sha256(await contentOf(await suite.adapter.get(pointer)))).toBe(sha256(body));
      expect(await keysUnder(pointer.storageNamespace)).toEqual(['tables/id']);
    });

    it('lets a body be released unread', async () => {
      const pointer = at('x');
      await suite.adapter.put(pointer, randomBytes(300_000));
      for (let i = 0; i < 20; i++) (await suite.adapter.get(pointer)).dispose();
      const opened = await suite.adapter.get(pointer);
      opened.stream().on('error', () => undefined);
      opened.dispose();
      expect((await contentOf(await suite.adapter.get(pointer))).length).toBe(300_000);
    });

    it('keeps many objects written at once', async () => {
      const namespace = freshNamespace();
      const bodies = Array.from({ length: 100 }, (_, i) => Buffer.from(`object ${i}`));
      await Promise.all(
        bodies.map((body, i) =>
          suite.adapter.put(at(`d/${i % 3}/${i}`, namespace), body, { fresh: i % 2 === 0 }),
        ),
      );
      const read = await Promise.all(
        bodies.map(
          async (_, i) => await contentOf(await suite.adapter.get(at(`d/${i % 3}/${i}`, namespace))),
        ),
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
          const put = suite.adapter.put(pointer, { stream, size }, { fresh });
          const refused = failsWith(put, 'client went away');
          stream.destroy(new Error('client went away'));
          await refused;
          expect(await suite.adapter.exists(pointer)).toBe(false);
          expect(await keysUnder(pointer.storageNamespace)).toEqual([]);
        }
      }
    });

    it('when the stream is cut without an error', async () => {
      const pointer = at('x');
      const stream = new PassThrough();
      stream.write(randomBytes(100_000));
      const refused = failsWith(suite.adapter.put(pointer, { stream, size: 200_000 }), '');
      stream.destroy();
      await refused;
      expect(await suite.adapter.exists(pointer)).toBe(false);
    });

    it('when it is aborted', async () => {
      const abort = new AbortController();
      const pointer = at('x');
      const stream = new PassThrough();
      stream.write(randomBytes(100_000));
      const put = suite.adapter.put(pointer, { stream, size: -1 }, { signal: abort.signal });
      const refused = failsWith(put, 'no longer wanted');
      abort.abort(new Error('no longer wanted'));
      await refused;
      expect(await suite.adapter.exists(pointer)).toBe(false);
      expect(stream.destroyed).toBe(true);
    });

    it('when the length is not the announced one', async () => {
      for (const announced of [5, 2_000_000, 900_000]) {
        const pointer = at('x');
        const stream = Readable.from(chunksOf(randomBytes(1_000_000), 50_000));
        await rejectsWith('write_failed', suite.adapter.put(pointer, { stream, size: announced }));
        expect(await suite.adapter.exists(pointer)).toBe(false);
      }
    });

    it('and an overwrite that fails keeps the old object', async () => {
      const pointer = at('x');
      await suite.adapter.put(pointer, Buffer.from('old'));
      const stream = new PassThrough();
      stream.write(randomBytes(100_000));
      const refused = failsWith(suite.adapter.put(pointer, { stream, size: -1 }), 'broken');
      stream.destroy(new Error('broken'));
      await refused;
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('old');
    });
  });

  describe('put if absent', () => {
    it('refuses to overwrite', async () => {
      const pointer = at('x');
      await suite.adapter.put(pointer, Buffer.from('first'), { ifAbsent: true });
      await rejectsWith(
        'already_exists',
        suite.adapter.put(pointer, Buffer.from('second'), { ifAbsent: true }),
      );
      const stream = Readable.from([Buffer.from('third')]);
      await rejectsWith(
        'already_exists',
        suite.adapter.put(pointer, { stream, size: 5 }, { ifAbsent: true }),
      );
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('first');
    });

    it('lets exactly one of many through', async () => {
      const pointer = at('x');
      const results = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          suite.adapter.put(pointer, Buffer.from(`writer ${i}`), { ifAbsent: true }),
        ),
      );
      const winners = results.flatMap((result, i) => (result.status === 'fulfilled' ? [i] : []));
      for (const result of results) {
        if (result.status === 'rejected') expect((result.reason as BlockError).kind).toBe('already_exists');
      }
      const content = (await contentOf(await suite.adapter.get(pointer))).toString();
      if (suite.fixture.atomicIfAbsent ?? true) expect([content]).toEqual(winners.map((i) => `writer ${i}`));
      else expect(winners.length).toBeGreaterThan(0);
    });
  });
}
