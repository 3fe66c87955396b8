import { expect, test } from 'vitest';
import type { Conflict } from './api.ts';
import { isStale, matcherOf, resolutionsOf, takeOf, type Decisions } from './resolutions.ts';

const conflict = (path: string, id = 'a'): Conflict => ({ path, kind: 'both_changed', conflict_id: id });

const decisions: Decisions = {
  choices: new Map([
    ['t/a', { conflictId: 'a', take: 'base' }],
    ['t/moved', { conflictId: 'old', take: 'source' }],
    ['gone', { conflictId: 'a', take: 'source' }],
  ]),
  rules: [
    { pattern: 't/*', take: 'destination' },
    { pattern: 'lock', take: 'delete' },
  ],
};

test('a choice counts before rules, the first that matches, and only for the conflict it was made for', () => {
  expect(['t/a', 't/b', 'x/locks', 'x'].map((path) => takeOf(decisions, conflict(path)))).toEqual([
    'base',
    'destination',
    'delete',
    undefined,
  ]);
  const moved = conflict('t/moved', 'new');
  expect([isStale(decisions, moved), takeOf(decisions, moved)]).toEqual([true, undefined]);
  expect(isStale(decisions, conflict('t/a'))).toBe(false);
});

test('what is sent names conflicts that are there, then the rules as globs', () => {
  expect(resolutionsOf(decisions, [conflict('t/a'), conflict('t/moved', 'new')])).toEqual([
    { path: 't/a', take: 'base', conflict_id: 'a' },
    { glob: 't/*', take: 'destination' },
    { glob: '**lock**', take: 'delete' },
  ]);
  expect(resolutionsOf({ choices: new Map(), rules: [{ pattern: '', take: 'source' }] }, [])).toEqual([
    { prefix: '', take: 'source' },
  ]);
});

test('a filter is a glob or a text; a malformed one matches nothing', () => {
  expect(matcherOf('**/*.csv')?.('a/b.csv')).toBe(true);
  expect(matcherOf('b.c')?.('a/b.csv')).toBe(true);
  expect(matcherOf('a[')).toBeUndefined();
});
