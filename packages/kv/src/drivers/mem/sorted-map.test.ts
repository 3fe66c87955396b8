import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SortedMap } from './sorted-map.ts';

test('any sequence of changes leaves the entries in order, from any key', () => {
  const keys = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 3000 })), { maxLength: 4000 });
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 3000 }), (changes, from) => {
      const map = new SortedMap<number>();
      const model = new Map<string, number>();
      for (const [remove, number] of changes) {
        const key = String(number).padStart(4, '0');
        if (remove) {
          map.delete(key);
          model.delete(key);
        } else {
          map.set(key, number);
          model.set(key, number);
        }
      }
      const start = String(from).padStart(4, '0');
      const expected = [...model].filter(([key]) => key >= start).toSorted(([a], [b]) => (a < b ? -1 : 1));
      expect([...map.entriesFrom(start)]).toEqual(expected);
      expect(map.size).toBe(model.size);
    }),
    { numRuns: 20 },
  );
});

test('ten thousand keys in any order of arrival', () => {
  const map = new SortedMap<number>();
  for (let index = 0; index < 10_000; index++) {
    const number = (index * 7919) % 10_000;
    map.set(String(number).padStart(5, '0'), number);
  }
  expect([...map.entriesFrom('')].map(([, number]) => number)).toEqual(
    Array.from({ length: 10_000 }, (_, index) => index),
  );
});
