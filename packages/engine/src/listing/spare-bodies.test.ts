import { expect, test } from 'vitest';
import { SpareBodies } from './spare-bodies.ts';

test('memory given back serves the next body of its kind, and only one', () => {
  const bodies = new SpareBodies(100_000);
  const first = bodies.take(10_000);
  expect(first.length).toBe(16_384);
  bodies.give(first.subarray(0, 10_000));
  const small = bodies.take(5000);
  expect(small.buffer).not.toBe(first.buffer);
  expect(small.length).toBe(8192);
  const [again, other] = [bodies.take(16_384), bodies.take(16_384)];
  expect(again.buffer).toBe(first.buffer);
  expect(again.length).toBe(16_384);
  expect(other.buffer).not.toBe(first.buffer);
  expect(bodies.take(16_385).length).toBe(32_768);
  expect(bodies.take(0).length).toBe(4096);
});

test('no more is kept than it may', () => {
  const bodies = new SpareBodies(40_000);
  const three = [bodies.take(16_384), bodies.take(16_384), bodies.take(16_384)];
  for (const body of three) bodies.give(body);
  const next = [bodies.take(16_384), bodies.take(16_384), bodies.take(16_384)].map(({ buffer }) => buffer);
  expect(three.filter(({ buffer }) => next.includes(buffer))).toHaveLength(2);
  // What was taken out may come back.
  bodies.give(three[0] as Buffer);
  expect(bodies.take(16_384).buffer).toBe(three[0]?.buffer);
});
