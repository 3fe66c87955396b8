import { expect, test } from 'vitest';
import { ownBytes } from './own-bytes.ts';

test('a copy keeps no other memory alive', () => {
  const bytes = Buffer.from('a few bytes of a shared piece');
  expect(bytes.buffer.byteLength).toBeGreaterThan(bytes.length);
  const own = ownBytes(bytes);
  expect(own.equals(bytes)).toBe(true);
  expect(own.buffer.byteLength).toBe(bytes.length);
  expect(own.buffer).not.toBe(bytes.buffer);
});
