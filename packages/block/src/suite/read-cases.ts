import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { BlockSuite } from './block-suite.ts';
import { rejectsWith, contentOf, streamContent } from './bodies.ts';

export function readCases(suite: BlockSuite): void {
  const { freshNamespace, at, walkAll, keysUnder } = suite;

  describe('missing objects', () => {
    it('are not found', async () => {
      const pointer = at('no/such');
      expect(await suite.adapter.exists(pointer)).toBe(false);
      await rejectsWith('not_found', suite.adapter.get(pointer));
      await rejectsWith('not_found', suite.adapter.getRange(pointer, 0, 1));
      await rejectsWith('not_found', suite.adapter.properties(pointer));
      await rejectsWith('not_found', suite.adapter.copy(pointer, at('target')));
    });

    it('may be deleted', async () => {
      const pointer = at('x');
      await suite.adapter.delete(pointer);
      await suite.adapter.put(pointer, Buffer.from('x'));
      await suite.adapter.delete(pointer);
      await suite.adapter.delete(pointer);
      await rejectsWith('not_found', suite.adapter.get(pointer));
    });

    it('are not found at once', async () => {
      const namespace = freshNamespace();
      await suite.adapter.put(at('folder/x', namespace), Buffer.from('x'));
      if (suite.adapter.getAtOnce === undefined) return;
      for (const key of ['no/such', 'folder'])
        expect(() => suite.adapter.getAtOnce?.(at(key, namespace))).toThrow(
          expect.objectContaining({ kind: 'not_found' }) as Error,
        );
    });

    it('a folder is not an object', async () => {
      const namespace = freshNamespace();
      await suite.adapter.put(at('folder/x', namespace), Buffer.from('x'));
      expect(await suite.adapter.exists(at('folder', namespace))).toBe(false);
      await rejectsWith('not_found', suite.adapter.get(at('folder', namespace)));
      await suite.adapter.delete(at('folder', namespace));
      expect(await suite.adapter.exists(at('folder/x', namespace))).toBe(true);
    });

    it('deletes many at once', async () => {
      const namespace = freshNamespace();
      const pointers = ['a', 'b/c', 'odd & <key>', 'missing'].map((key) => at(key, namespace));
      for (const pointer of pointers.slice(0, 3)) await suite.adapter.put(pointer, Buffer.from('x'));
      await suite.adapter.put(at('stays', namespace), Buffer.from('x'));
      expect(await suite.adapter.deleteMany(pointers)).toEqual([]);
      expect(await keysUnder(namespace)).toEqual(['stays']);
      expect(await suite.adapter.deleteMany([])).toEqual([]);
    });

    it('deletes nothing more once it may not go on', async () => {
      const namespace = freshNamespace();
      const pointers = ['a', 'b'].map((key) => at(key, namespace));
      for (const pointer of pointers) await suite.adapter.put(pointer, Buffer.from('x'));
      const deleting = suite.adapter.deleteMany(pointers, { mayGoOn: () => false });
      await deleting.then(
        (failures) => expect(failures.map(({ pointer }) => pointer)).toEqual(pointers),
        (error: unknown) => expect(error).toMatchObject({ kind: 'unavailable' }),
      );
      expect(await keysUnder(namespace)).toEqual(['a', 'b']);
    });
  });

  describe('objects read at once', () => {
    it.each([0, 1, 65_536, 65_537])('have their bytes when they are small: %d', async (size) => {
      const pointer = at(`size-${size}`);
      const content = randomBytes(size);
      await suite.adapter.put(pointer, content);
      const body = suite.adapter.getAtOnce?.(pointer);
      if (suite.adapter.type === 'local') expect(body === undefined).toBe(size > 65_536);
      if (body === undefined) return;
      expect(body.size).toBe(size);
      expect(body.bytes?.equals(content)).toBe(true);
    });
  });

  describe('ranges', () => {
    it('are inclusive and cut at the end', async () => {
      const pointer = at('x');
      const body = Buffer.from('0123456789');
      await suite.adapter.put(pointer, body);
      const range = async (start: number, end: number): Promise<string> => {
        const read = await suite.adapter.getRange(pointer, start, end);
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
      await suite.adapter.put(pointer, Buffer.from('0123456789'));
      const bad: [number, number][] = [
        [10, 1],
        [-1, 3],
        [-5, -1],
        [10, 10],
        [10, 20],
        [0.5, 3],
        [Number.NaN, 3],
      ];
      for (const [start, end] of bad)
        await rejectsWith('bad_index', suite.adapter.getRange(pointer, start, end));
      const empty = at('empty');
      await suite.adapter.put(empty, Buffer.alloc(0));
      await rejectsWith('bad_index', suite.adapter.getRange(empty, 0, 0));
    });

    it('stream when large', async () => {
      const pointer = at('x');
      const body = randomBytes(2_000_000);
      await suite.adapter.put(pointer, body);
      const read = await suite.adapter.getRange(pointer, 1000, 1_900_000 - 1);
      expect(read.size).toBe(1_899_000);
      expect((await streamContent(read.stream())).equals(body.subarray(1000, 1_900_000))).toBe(true);
    });
  });

  describe('properties', () => {
    it('agree with the walk', async () => {
      const pointer = at('dir/x');
      const before = Date.now();
      const body = Buffer.from('hello world');
      const { etag: putEtag, lastModified } = await suite.adapter.put(pointer, body);
      const properties = await suite.adapter.properties(pointer);
      expect(properties.etag).toBe('5eb63bbbe01eeed093cb22bb8f5acdc3');
      expect(putEtag ?? properties.etag).toBe(properties.etag);
      expect(properties.size).toBe(11);
      expect(Math.abs(properties.lastModified.getTime() - before)).toBeLessThan(60_000);
      if (lastModified !== undefined) expect(Math.abs(lastModified.getTime() - before)).toBeLessThan(60_000);
      const [walked] = await walkAll(`${pointer.storageNamespace}/`);
      expect(walked?.etag).toBe(properties.etag);
      expect(walked?.size).toBe(11);
      expect(
        Math.abs((walked?.lastModified.getTime() ?? 0) - properties.lastModified.getTime()),
      ).toBeLessThan(1001);
      expect(walked?.uri).toBe(suite.adapter.absoluteUri(pointer));
    });
  });

  describe('copy', () => {
    it('copies the content', async () => {
      const source = at('source');
      const destination = at('deep/er/copy');
      await suite.adapter.put(source, Buffer.from('content'));
      await suite.adapter.copy(source, destination);
      await suite.adapter.delete(source);
      expect((await contentOf(await suite.adapter.get(destination))).toString()).toBe('content');
    });

    it('overwrites, and takes odd keys and empty objects', async () => {
      const source = at("odd % + ä 'key'");
      const destination = at('copy of %41');
      await suite.adapter.put(source, Buffer.from('new'));
      await suite.adapter.put(destination, Buffer.from('old content'));
      await suite.adapter.copy(source, destination);
      expect((await contentOf(await suite.adapter.get(destination))).toString()).toBe('new');
      await suite.adapter.put(source, Buffer.alloc(0));
      await suite.adapter.copy(source, destination);
      expect((await suite.adapter.get(destination)).size).toBe(0);
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
      await suite.adapter.put(pointer, { stream: source, size: total });
      const body = await suite.adapter.get(pointer);
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
}
