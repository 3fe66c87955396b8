import { describe, expect, it } from 'vitest';
import { parseCopyRange, parseRange } from './range.ts';

describe('parseRange', () => {
  it.each([
    ['bytes=0-3', 10, { start: 0, end: 3 }],
    ['bytes=-4', 10, { start: 6, end: 9 }],
    ['bytes=-400', 10, { start: 0, end: 9 }],
    ['bytes=5-', 10, { start: 5, end: 9 }],
    ['bytes=9-100', 10, { start: 9, end: 9 }],
    ['bytes=0-99999999999999999999999', 10, { start: 0, end: 9 }],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=9223372036854775808-', 10, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=3-1', 10, undefined],
    ['bytes=0-1,3-4', 10, undefined],
    ['items=0-1', 10, undefined],
    ['bytes=-', 10, undefined],
    ['bytes= -1', 10, undefined],
    ['bytes=0 - 3', 10, undefined],
    ['bytes=a-b', 10, undefined],
    [undefined, 10, undefined],
  ])('%s of %i bytes', (header, size, expected) => {
    expect(parseRange(header, size)).toEqual(expected);
  });

  it('wants copy ranges whole and inside the source', () => {
    expect(parseCopyRange('bytes=0-9', 10)).toEqual({ start: 0, end: 9 });
    for (const bad of ['bytes=0-10', 'bytes=5-', 'bytes=-5', 'bytes=3-1', '0-9'])
      expect(() => parseCopyRange(bad, 10), bad).toThrow(
        expect.objectContaining({ code: 'InvalidArgument' }),
      );
  });
});
