import { expect, test } from 'vitest';
import { HeldMemory } from './held-memory.ts';

test('one request gives back what it held, once, and nothing that it was refused', () => {
  let left = 10;
  const shared = {
    take: (bytes: number): boolean => {
      if (bytes > left) return false;
      left -= bytes;
      return true;
    },
    release: (bytes: number): void => {
      left += bytes;
    },
  };
  const memory = new HeldMemory(shared);
  expect([memory.hold(6), memory.hold(6), memory.hold(4)]).toEqual([true, false, true]);
  expect(left).toBe(0);
  memory.release();
  memory.release();
  expect(left).toBe(10);
});

test('without shared memory there is no limit', () => {
  expect(new HeldMemory(undefined).hold(Number.MAX_SAFE_INTEGER)).toBe(true);
});
