import { describe, expect, it } from 'vitest';
import { BlockError } from '../errors.ts';
import type { BlockSuite } from './block-suite.ts';
import { rejectsWith, contentOf, sorted } from './bodies.ts';

export function addressCases(suite: BlockSuite): void {
  const { freshNamespace, at, full, walkAll } = suite;

  describe('odd keys', () => {
    const allKeys = [
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
      const keepsBackslashes = suite.fixture.keepsBackslashes ?? true;
      const keys = allKeys.filter((key) => keepsBackslashes || !key.includes('\\'));
      if (!keepsBackslashes)
        await rejectsWith('invalid_address', suite.adapter.put(at('back\\slash'), Buffer.from('x')));
      for (const key of keys) await suite.adapter.put(at(key, namespace), Buffer.from(`content of ${key}`));
      for (const key of keys) {
        expect((await contentOf(await suite.adapter.get(at(key, namespace)))).toString()).toBe(
          `content of ${key}`,
        );
        expect((await suite.adapter.properties(at(key, namespace))).size).toBe(
          Buffer.byteLength(`content of ${key}`),
        );
      }
      const walked = await walkAll(`${namespace}/`);
      expect(walked.map((object) => object.relativeKey)).toEqual(sorted(keys));
      for (const object of walked) {
        expect((await contentOf(await suite.adapter.get(full(object.uri)))).toString()).toBe(
          `content of ${object.relativeKey}`,
        );
      }
    });
  });

  describe('addresses', () => {
    it('full and relative name the same object', async () => {
      const pointer = at('data/x%3Ay');
      await suite.adapter.put(pointer, Buffer.from('same'));
      const uri = suite.adapter.absoluteUri(pointer);
      expect(uri.endsWith('/data/x%3Ay')).toBe(true);
      expect((await contentOf(await suite.adapter.get(full(uri)))).toString()).toBe('same');
      const unknown = { storageNamespace: pointer.storageNamespace, identifierType: 'unknown' } as const;
      expect((await contentOf(await suite.adapter.get({ ...unknown, identifier: uri }))).toString()).toBe(
        'same',
      );
      expect(
        (await contentOf(await suite.adapter.get({ ...unknown, identifier: 'data/x%3Ay' }))).toString(),
      ).toBe('same');
    });

    it('a trailing slash of the namespace changes nothing', async () => {
      const pointer = at('x');
      await suite.adapter.put(pointer, Buffer.from('x'));
      expect(
        await suite.adapter.exists({ ...pointer, storageNamespace: `${pointer.storageNamespace}/` }),
      ).toBe(true);
      expect(await suite.adapter.canonicalUri(`${pointer.storageNamespace}/`)).toBe(
        await suite.adapter.canonicalUri(pointer.storageNamespace),
      );
    });

    it('of another scheme or none are invalid', async () => {
      const other = suite.adapter.type === 's3' ? 'gs' : 's3';
      for (const identifier of [`${other}://bucket/key`, 'ftp://host/key', 'no-uri']) {
        await rejectsWith('invalid_address', suite.adapter.get(full(identifier)));
        expect(() => suite.adapter.validateAddress(full(identifier))).toThrow(BlockError);
      }
      for (const storageNamespace of [
        `${other}://bucket/key`,
        'ftp://host',
        '',
        `${suite.adapter.type}://`,
      ]) {
        await rejectsWith('invalid_namespace', suite.adapter.get({ ...at('x'), storageNamespace }));
        expect(() => suite.adapter.validateNamespace(storageNamespace)).toThrow(BlockError);
      }
      expect(() => suite.adapter.validateNamespace(suite.fixture.namespace)).not.toThrow();
      expect(() => suite.adapter.validateAddress(at('x'))).not.toThrow();
    });
  });
}
