import { expect, test } from 'vitest';
import { compactRef, instantOf, localOf, parseTimeRef, refAt } from './time-refs.ts';

test.each([
  ['main@{2026-11-01T10:00:00Z}', { base: 'main', steps: '', moving: false }],
  ['main@{2026-11-01}~2', { base: 'main', steps: '~2', moving: false }],
  ['v1.0@20261101', { base: 'v1.0', steps: '', moving: false }],
  ['main@{commit 2026-11-01}', { base: 'main', steps: '', moving: false }],
  ['main@c20261101', { base: 'main', steps: '', moving: false }],
  ['main@{2 hours ago}', { base: 'main', steps: '', moving: true }],
  ['main@2h', { base: 'main', steps: '', moving: true }],
  ['main@{yesterday}^1', { base: 'main', steps: '^1', moving: true }],
  ['main@{3}', { base: 'main', steps: '', moving: true }],
  ['main@-3', { base: 'main', steps: '', moving: true }],
  ['main', undefined],
  ['main@', undefined],
  ['main~1', undefined],
  ['main@{}', undefined],
])('the time in %s', (ref, expected) => {
  expect(parseTimeRef(ref)).toEqual(expected);
});

test('refs at an instant, and fields of local time', () => {
  expect(refAt('main', '2026-11-01T10:00:00Z', '~1')).toBe('main@{2026-11-01T10:00:00Z}~1');
  expect(compactRef('main@{2026-11-01T10:00:00Z}~1')).toBe('main@20261101T100000Z~1');
  expect(compactRef('main@{2026-11-01T10:00:00.123456Z}')).toBe('main@2026-11-01T10:00:00.123456Z');
  expect(compactRef('main@{2 hours ago}')).toBe('main@{2 hours ago}');
  expect(compactRef('main')).toBe('main');
  const noon = new Date('2026-11-01T12:00:00Z');
  expect(instantOf(localOf(noon))).toBe('2026-11-01T12:00:00Z');
  expect(instantOf('')).toBeUndefined();
});
