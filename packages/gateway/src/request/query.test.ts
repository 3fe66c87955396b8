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

test('the same query is the same object, unless it is very long', () => {
  expect(queryOf('prefix=a&max-keys=5')).toBe(queryOf(['prefix=a', 'max-keys=5'].join('&')));
  expect(queryOf('prefix=a')).not.toBe(queryOf('prefix=b'));
  const long = `prefix=${'x'.repeat(2000)}`;
  expect(queryOf(long)).not.toBe(queryOf(long));
  expect(queryOf(long).get('prefix')).toBe('x'.repeat(2000));
});

test('only so many are remembered', () => {
  const all = Array.from({ length: 2500 }, (_, index) => `partNumber=${index}`);
  const before = all.map(queryOf);
  const same = all.filter((raw, index) => queryOf(raw) === before[index]);
  expect(same.length).toBeLessThanOrEqual(1000);
});
