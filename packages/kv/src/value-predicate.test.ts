import { expect, test } from 'vitest';
import { predicateValue, valuePredicate } from './value-predicate.ts';

test('a predicate keeps its value as it was, and no other memory', () => {
  const value = Buffer.from('value');
  const kept = predicateValue(valuePredicate(value));
  value.fill(0);
  expect(kept?.toString()).toBe('value');
  expect(kept?.buffer.byteLength).toBe(5);
});
