import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAction } from '../file/index.ts';
import { matchActions } from './match-actions.ts';
import { GlobError, matchPath } from './match-path.ts';

test.each([
  ['main', 'main', true],
  ['main', 'main2', false],
  ['*', '', true],
  ['*', 'a/b', false],
  ['*/b', 'a/b', true],
  ['a*/b', 'aXbxxx/b', true],
  ['a?b', 'a/b', false],
  ['dev-?', 'dev-1', true],
  ['[a-c]x', 'bx', true],
  ['[^a-c]x', 'bx', false],
  ['[^a]b', '/b', true],
  ['[!a]', '!', true],
  ['{a,b}', 'a', false],
  ['{a,b}', '{a,b}', true],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['[\\]]', ']', true],
  ['[x\\-]', '-', true],
  ['**', 'a/b', false],
  ['?', '😀', true],
  ['a*b*c', 'aXbYbZc', true],
])('%s against %s is %s', (pattern, name, matches) => {
  expect(matchPath(pattern, name)).toBe(matches);
});

test.each(['a\\', '[', '[a', '[]a]', '[a-', '[-a]', 'x[^]', '[a-]'])(
  '%s is malformed, whatever it is matched against',
  (pattern) => {
    for (const name of ['', 'a', 'zzz']) expect(() => matchPath(pattern, name)).toThrow(GlobError);
  },
);

const piece = fc.oneof(fc.constantFrom('*', '?', 'a', 'b', '/', '.', '[ab]', '[^a/]', '\\*'));
const expressions: Record<string, string> = { '*': '[^/]*', '?': '[^/]', '.': '\\.', '/': '/', '\\*': '\\*' };

test('agrees with a regular expression', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[ab/.*]{0,10}$/), (pieces, name) => {
      const expected = new RegExp(`^${pieces.map((part) => expressions[part] ?? part).join('')}$`).test(name);
      expect(matchPath(pieces.join(''), name)).toBe(expected);
    }),
    { numRuns: 3000 },
  );
});

test('a name matches itself, escaped, and nothing longer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 12 }), (name) => {
      const pattern = Array.from(name, (character) => `\\${character}`).join('');
      expect(matchPath(pattern, name)).toBe(true);
      expect(matchPath(pattern, `${name}x`)).toBe(false);
    }),
  );
});

test('many stars cost no more than the lengths multiplied', () => {
  expect(matchPath(`${'*a'.repeat(200)}*b`, 'a'.repeat(5000))).toBe(false);
});

const action = (name: string, on: string) =>
  parseAction(`name: ${name}\non: ${on}\nhooks: [{id: h1, type: lua, properties: {script: x}}]`);

test('an action matches its events on its branches', () => {
  const actions = [
    action('any one', '{pre-commit: }'),
    action('main only', '{pre-commit: {branches: [main]}}'),
    action('either', '{pre-commit: {branches: [x, "rel-*"]}, post-create-tag: }'),
    parseAction('name: without hooks\non: {pre-commit: }'),
  ];
  const names = (type: 'pre-commit' | 'post-create-tag', branch?: string) =>
    matchActions(actions, { type, branch }).map(({ name }) => name);
  expect(names('pre-commit', 'main')).toEqual(['any one', 'main only']);
  expect(names('pre-commit', 'rel-1')).toEqual(['any one', 'either']);
  expect(names('post-create-tag')).toEqual(['either']);
  expect(() =>
    matchActions([action('bad', '{pre-commit: {branches: ["["]}}')], { type: 'pre-commit', branch: 'm' }),
  ).toThrow('syntax error in pattern');
});
