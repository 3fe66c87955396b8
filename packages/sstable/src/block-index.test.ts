import { compareSlices } from '@svc/encoding';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { BlockIndex } from './block-index.ts';
import { internalTrailerLength } from './table-format.ts';

/** Few letters, among them the least and the greatest byte, so that separators share, tie and end early. */
const key = fc.array(fc.constantFrom(0, 0x61, 0xff), { maxLength: 12 }).map((bytes) => Buffer.from(bytes));

const compare = (a: Buffer, b: Buffer): number => compareSlices(a, 0, a.length, b, 0, b.length);

function indexOf(separators: readonly Buffer[]): BlockIndex {
  const trailer = Buffer.alloc(internalTrailerLength, 0x77);
  let end = 0;
  const ends = separators.map((separator) => (end += separator.length + trailer.length));
  const keys = Buffer.concat(separators.flatMap((separator) => [separator, trailer]));
  const places = separators.map((_, i) => i);
  return new BlockIndex(keys, Uint32Array.from(ends), Float64Array.from(places), Uint32Array.from(places));
}

test('finds the first block whose separator is not below the key, as walking them would', () => {
  fc.assert(
    fc.property(
      key,
      fc.uniqueArray(key, { selector: (bytes) => bytes.toString('hex'), maxLength: 40 }),
      fc.array(key, { minLength: 1, maxLength: 10 }),
      (common, ends, others) => {
        const separators = ends.map((end) => Buffer.concat([common, end])).toSorted(compare);
        const index = indexOf(separators);
        const asked = [...separators, ...others, ...others.map((other) => Buffer.concat([common, other]))];
        for (const wanted of asked) {
          const walked = separators.findIndex((separator) => compare(separator, wanted) >= 0);
          const expected = walked === -1 ? separators.length : walked;
          expect(index.find(wanted)).toBe(expected);
          const inside = Buffer.concat([
            Buffer.from('xyz'),
            wanted,
            Buffer.from('\xff\xff\xff\xff\xff\xff\xff'),
          ]);
          expect(index.find(inside, 3, 3 + wanted.length)).toBe(expected);
        }
      },
    ),
    { numRuns: 500 },
  );
});
