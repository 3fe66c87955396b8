import { describe, expect, test } from 'vitest';
import { compileGlob, compilePathGlob, PatternError } from './glob.ts';

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

describe('patterns of paths', () => {
  test.each([
    ['a/*', ['a/b', 'a/'], ['a/b/c', 'a', 'b/a/c']],
    ['a/?', ['a/b', 'a/é'], ['a/', 'a//', 'a/bc']],
    ['a/**', ['a/', 'a/b', 'a/b/c'], ['a', 'ab/c']],
    ['**', ['', 'a', 'a/b'], []],
    ['**/*.csv', ['x.csv', 'a/x.csv', 'a/b/.csv'], ['x.csv/y', 'csv']],
    ['**/x', ['x', 'a/x', 'a/b/x'], ['ax', 'a/xx', 'x/a']],
    ['a/**/x', ['a/x', 'a/b/x', 'a/b/c/x'], ['ax', 'a/bx', 'b/a/x']],
    ['a**/x', ['a/x', 'ab/c/x'], ['x', 'ax']],
    ['{a/,}**/x', ['a/x', 'x', 'a/b/x', 'b/x'], ['bx']],
    ['{**/x,y}', ['x', 'a/x', 'y'], ['a/y', 'ax']],
    ['a/{b,c/d}/*.lock', ['a/b/1.lock', 'a/c/d/1.lock'], ['a/b/c/1.lock']],
    ['t/[0-9]*', ['t/1', 't/12'], ['t/x', 't/1/2']],
    ['a/\\*', ['a/*'], ['a/b']],
    ['plain', ['plain'], ['plain/', 'plai']],
    ['𝒜/?', ['𝒜/𝒷'], ['𝒜/']],
  ])('%s', (pattern, matching, others) => {
    const glob = compilePathGlob(pattern);
    expect(matching.filter((path) => !glob.test(path))).toEqual([]);
    expect(others.filter((path) => glob.test(path))).toEqual([]);
  });

  test('say where they cannot be read', () => {
    const position = (pattern: string): number | undefined => {
      try {
        compilePathGlob(pattern);
        return undefined;
      } catch (error) {
        return (error as PatternError).position;
      }
    };
    expect(['a[', '{a', 'ab\\', `x${'{'.repeat(101)}`, 'a**b'].map(position)).toEqual([
      2,
      2,
      3,
      102,
      undefined,
    ]);
  });
});
