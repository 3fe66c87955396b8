import { expect, test } from 'vitest';
import { queryOf } from './query.ts';

test('values are decoded, the first of a name counts', () => {
  const query = queryOf('a=1%2F2&b&c=&a=3&%C3%A4=x+y&&=z');
  expect([...query]).toEqual([
    ['a', '1/2'],
    ['b', ''],
    ['c', ''],
    ['a', '3'],
    ['ä', 'x y'],
    ['', 'z'],
  ]);
  expect([query.get('a'), query.get('b'), query.get('A')]).toEqual(['1/2', '', undefined]);
  expect([query.text('a'), query.text('b'), query.text('A')]).toEqual(['1/2', undefined, undefined]);
  expect([query.has('b'), query.has('d')]).toEqual([true, false]);
  expect(query.firstOf(new Set(['x', 'c', 'b']))).toBe('b');
  expect(query.firstOf(new Set(['x']))).toBeUndefined();
});

test('a query of nothing but names is read in one go, however long it is', () => {
  // Looking for the next value once for each name would take minutes.
  expect([...queryOf('a&'.repeat(3_000_000))]).toHaveLength(3_000_000);
});

/** Asked for once before, as whoever sends it again and again. */
function askedAgain(raw: string) {
  queryOf(raw);
  return queryOf(raw);
}

test('a query that comes again is the same object, unless it is very long', () => {
  const once = queryOf('prefix=a&max-keys=5');
  expect(once.isKept).toBe(false);
  const again = queryOf('prefix=a&max-keys=5');
  expect(again.isKept).toBe(true);
  expect(queryOf(['prefix=a', 'max-keys=5'].join('&'))).toBe(again);
  expect([...again]).toEqual([...once]);
  expect(askedAgain('prefix=a')).not.toBe(askedAgain('prefix=b'));
  const long = `prefix=${'x'.repeat(2000)}`;
  expect(askedAgain(long).isKept).toBe(false);
  expect(queryOf(long).get('prefix')).toBe('x'.repeat(2000));
});

test('queries that come once push out none of those that come again', () => {
  const again = askedAgain('prefix=kept');
  for (let index = 0; index < 10_000; index++) queryOf(`signature=${index}`);
  expect(queryOf('prefix=kept')).toBe(again);
});

test('only so many are remembered, and those asked for lately stay', () => {
  const often = askedAgain('prefix=often');
  const all = Array.from({ length: 7000 }, (_, index) => `partNumber=${index}`);
  const kept = all.map((raw) => {
    expect(queryOf('prefix=often')).toBe(often);
    return askedAgain(raw);
  });
  // The youngest first: whoever asks for one that is gone pushes out another.
  const same = all.toReversed().filter((raw, index) => queryOf(raw) === kept.at(-1 - index));
  expect(same.length).toBeLessThanOrEqual(3000);
  expect(same.length).toBeGreaterThanOrEqual(1499);
});
