import { expect, test } from 'vitest';
import { conflictIdOf } from './conflict-id.ts';

test('a conflict is named by its path and its three versions', () => {
  const [b, s, d] = ['base', 'source', 'destination'].map((text) => Buffer.from(text));
  const key = Buffer.from('tables/a');
  expect(conflictIdOf(key, b, s, d).toString('hex')).toBe('e9e8ef9222a0e88614112d3092ae98ce');
  const others = [
    conflictIdOf(Buffer.from('tables/b'), b, s, d),
    conflictIdOf(key, undefined, s, d),
    conflictIdOf(key, b, undefined, d),
    conflictIdOf(key, b, s, undefined),
    conflictIdOf(key, b, d, s),
  ];
  expect(new Set(others.map((id) => id.toString('hex'))).size).toBe(5);
});
