import { expect, test } from 'vitest';
import { BodyMemory } from './body-memory.ts';

test('gives what it has and no more', () => {
  const memory = new BodyMemory(10);
  expect(memory.take(6)).toBe(true);
  expect(memory.take(5)).toBe(false);
  expect(memory.take(4)).toBe(true);
  expect(memory.take(1)).toBe(false);
  memory.release(6);
  expect(memory.take(5)).toBe(true);
  expect(memory.taken).toBe(9);
});
