import { describe, expect, test } from 'vitest';
import { parseRef } from './parse-ref.ts';
import type { RefTime } from './parse-time.ts';

const at = (text: string): RefTime => ({ kind: 'instant', micros: Date.parse(text) * 1000 });
const ago = (seconds: number): RefTime => ({ kind: 'ago', micros: seconds * 1e6 });
const byCommit = (text: string): RefTime => ({ kind: 'commit', micros: Date.parse(text) * 1000 });

describe('times in refs', () => {
  const ten = at('2026-11-01T10:00:00Z');
  test.each<[string, RefTime]>([
    ['main@{2026-11-01T10:00:00Z}', ten],
    ['main@{2026-11-01t10:00:00z}', ten],
    ['main@{2026-11-01T10:00:00}', ten],
    ['main@{2026-11-01T12:30:00+02:30}', ten],
    ['main@{2026-11-01T08:00:00-02:00}', ten],
    ['main@2026-11-01T10:00:00Z', ten],
    ['main@20261101T100000Z', ten],
    ['main@{20261101T1000Z}', ten],
    ['main@{2026-11-01T10:00:00.5Z}', at('2026-11-01T10:00:00.500Z')],
    [
      'main@{2026-11-01T10:00:00.000249Z}',
      { kind: 'instant', micros: Date.parse('2026-11-01T10:00:00Z') * 1000 + 249 },
    ],
    ['main@{2026-11-01}', at('2026-11-01')],
    ['main@20261101', at('2026-11-01')],
    ['main@{20261101}', at('2026-11-01')],
    ['main@{2 hours ago}', ago(7200)],
    ['main@{1 Hour Ago}', ago(3600)],
    ['main@{90 seconds ago}', ago(90)],
    ['main@{3 weeks ago}', ago(3 * 604_800)],
    ['main@2h', ago(7200)],
    ['main@5m', ago(300)],
    ['main@1w', ago(604_800)],
    ['main@{now}', ago(0)],
    ['main@now', ago(0)],
    ['main@{yesterday}', ago(86_400)],
    ['main@YESTERDAY', ago(86_400)],
    ['main@{3}', { kind: 'moves', count: 3 }],
    ['main@-3', { kind: 'moves', count: 3 }],
    ['main@{0}', { kind: 'moves', count: 0 }],
    ['main@{commit 2026-11-01}', byCommit('2026-11-01')],
    ['main@c20261101T100000Z', byCommit('2026-11-01T10:00:00Z')],
  ])('%s', (ref, time) => {
    expect(parseRef(ref)).toEqual({ base: 'main', time, modifiers: [] });
    expect(parseRef(`${ref}~2^`)).toMatchObject({
      time,
      modifiers: [
        { kind: 'ancestor', count: 2 },
        { kind: 'parent', number: 1 },
      ],
    });
    for (const sign of ['$', '@', '@{1}']) expect(() => parseRef(ref + sign)).toThrow('validation error');
  });

  test.each([
    'main@1',
    'main@{}',
    'main@{1',
    'main@1}',
    'main@{-1}',
    'main@{1 fortnight ago}',
    'main@{1 hour}',
    'main@20261301',
    'main@20260230',
    'main@{2026-11-01T24:00:00Z}',
    'main@{2026-11-01T10:60:00Z}',
    'main@{2026-11-01T10:00:00+24:00}',
    'main@{2026-11-01 }',
    'main@{2026-11-1}',
    'main@2 h',
    'main @{1}',
    'main@{1} ',
    'main@h',
    'main@2y',
    'main@{commit}',
    'main@{commit yesterday}',
    'main@c',
    '@{1}',
    'main~1@{1}',
  ])('%s is refused, naming the forms', (ref) => {
    expect(() => parseRef(ref)).toThrow(/@\{2026-11-01T10:00:00Z\} or @20261101T100000Z/);
  });

  test('what was a ref before is the same ref', () => {
    expect(parseRef('main')).toEqual({ base: 'main', modifiers: [] });
    expect(parseRef('main@')).toEqual({ base: 'main', modifiers: [{ kind: 'committed' }] });
    expect(parseRef('main$')).toEqual({ base: 'main', modifiers: [{ kind: 'staged' }] });
    expect(parseRef('a.b{c}~0')).toEqual({ base: 'a.b{c}', modifiers: [{ kind: 'ancestor', count: 0 }] });
  });
});
