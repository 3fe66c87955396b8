import { expect, test } from 'vitest';
import { compileGlob, PatternError } from './glob.ts';

test.each([
  ['main', 'main', true],
  ['main', 'main2', false],
  ['stable_*', 'stable_1', true],
  ['*', '', true],
  ['rel-?', 'rel-1', true],
  ['rel-?', 'rel-10', false],
  ['[abc]x', 'bx', true],
  ['[a-c]x', 'dx', false],
  ['[!a-c]x', 'dx', true],
  ['{dev,prod}-*', 'prod-1', true],
  ['{dev,prod}-*', 'test-1', false],
  ['a,b', 'a,b', true],
  ['x\\*', 'x*', true],
  ['x\\*', 'xy', false],
  ['a.b', 'axb', false],
  ['[]]', ']', true],
  ['[a-]', '-', true],
  ['[!]a]', 'b', true],
  ['[\\]a]x', ']x', true],
  ['{a,b{c,d}*}x', 'bdzx', true],
  ['{a,b{c,d}*}x', 'bx', false],
  ['{a,}x', 'x', true],
  ['a}b', 'a}b', true],
  ['?', '😀', true],
  ['*a*b', 'xaxbab', true],
  ['*a*b', 'xaxba', false],
])('%s against %s is %s', (pattern, name, matches) => {
  expect(compileGlob(pattern).test(name)).toBe(matches);
});

test('agrees with a regular expression on random patterns', () => {
  const random = mulberry(7);
  const pick = (from: string, length: number): string =>
    Array.from({ length }, () => from.charAt(Math.floor(random() * from.length))).join('');
  const differences: string[] = [];
  for (let round = 0; round < 5000; round += 1) {
    const pattern = pick('ab*?', Math.floor(random() * 7));
    const name = pick('ab', Math.floor(random() * 9));
    const expected = new RegExp(`^${pattern.replaceAll('?', '.').replaceAll('*', '.*')}$`).test(name);
    if (compileGlob(pattern).test(name) !== expected) differences.push(`${pattern} against ${name}`);
  }
  expect(differences).toEqual([]);
});

test('many stars cost no more than the lengths multiplied', () => {
  const steps = compileGlob(`${'*a'.repeat(100)}*b`);
  expect(steps.test('a'.repeat(1000))).toBe(false);
  expect(steps.test(`${'a'.repeat(1000)}b`)).toBe(true);
  expect(compileGlob('{,a}'.repeat(20_000)).test('a')).toBe(true);
  expect(compileGlob(`${'{a,a*}'.repeat(50)}b`).test('a'.repeat(1000))).toBe(false);
});

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

test.each(['{'.repeat(100_000), '[', '[]', '{a', 'x\\', '[z-a]', '[!]'])('%s is refused', (pattern) => {
  expect(() => compileGlob(pattern)).toThrow(PatternError);
});
