import { describe, expect, it } from 'vitest';
import type { BlockSuite } from './block-suite.ts';
import { sorted, inParallel } from './bodies.ts';

export function walkCases(suite: BlockSuite): void {
  const { freshNamespace, at, walkAll } = suite;

  describe('walk', () => {
    it('goes in byte order across pages and can continue', { timeout: 120_000 }, async () => {
      const namespace = freshNamespace();
      const keys = ['a-b', 'a/b', 'a/b-c', 'a.b', 'a0', 'ab', 'a b/c', 'Z', 'z/', 'ｚ', '😀', 'é'].map(
        (key) => (key.endsWith('/') ? `${key}x` : key),
      );
      for (let i = 0; i < 1010; i++) keys.push(`many/${i % 7}/${i}`);
      await inParallel(16, keys, (key) => suite.adapter.put(at(key, namespace), Buffer.from(key)));
      const walked = await walkAll(`${namespace}/`);
      expect(walked.map((object) => object.relativeKey)).toEqual(sorted(keys));
      const soon: unknown[] = [];
      for await (const page of suite.adapter.walk(`${namespace}/`, { parallel: true })) soon.push(...page);
      expect(soon).toEqual(walked);
      for (const index of [0, 999, walked.length - 1]) {
        const rest = await walkAll(`${namespace}/`, walked[index]?.uri);
        expect(rest.map((object) => object.uri)).toEqual(walked.slice(index + 1).map((object) => object.uri));
      }
    });

    it('takes a prefix within a name and keeps keys from its last slash', async () => {
      const namespace = freshNamespace();
      for (const key of ['pref/object', 'pref/obj/x', 'pref/other', 'pref', 'prefix/obj'].filter(
        (key) => key !== 'pref',
      )) {
        await suite.adapter.put(at(key, namespace), Buffer.from('x'));
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
      await suite.adapter.put(at('a', namespace), Buffer.from('x'));
      await suite.adapter.put(at('b', namespace), Buffer.from('x'));
      for await (const page of suite.adapter.walk(`${namespace}/`)) {
        expect(page[0]?.relativeKey).toBe('a');
        break;
      }
    });
  });
}
