import { expect, test } from 'vitest';
import { compilePattern } from './glob.ts';

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
])('%s against %s is %s', (pattern, name, matches) => {
  expect(compilePattern(pattern).test(name)).toBe(matches);
});

test.each(['[', '[]', '{a', 'x\\', '[z-a]', '[!]'])('%s is refused', (pattern) => {
  expect(() => compilePattern(pattern)).toThrow('invalid branch pattern');
});
