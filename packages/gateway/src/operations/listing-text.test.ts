import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeToken, encodeListed, encodeToken } from './listing-text.ts';

describe('listing text', () => {
  it('encodes keys as clients decode them', () => {
    expect(encodeListed(true)('main/c d+e%.txt')).toBe('main/c%20d%2Be%25.txt');
    expect(encodeListed(true)('a*~-_./b\u0001é')).toBe('a*~-_./b%01%C3%A9');
    expect(encodeListed(false)('a b+')).toBe('a b+');
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        (key) => decodeURIComponent(encodeListed(true)(key)) === key,
      ),
    );
  });

  it('makes tokens of plain characters that lead back to the key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (key) => {
        const token = encodeToken(key);
        expect(token).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeToken(token)).toBe(key);
      }),
    );
    for (const bad of ['main/a', '%%', 'eA', Buffer.from('2:x').toString('base64url')])
      expect(() => decodeToken(bad)).toThrow('continuation token');
  });
});
