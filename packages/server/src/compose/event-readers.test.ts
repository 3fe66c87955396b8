import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventReaders } from './events.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('a keeper that has heard of readers is told again after a while, and one that has not with the next of them', async () => {
  let isThere = false;
  let told = 0;
  const readers = new EventReaders(async () => {
    told += 1;
    return isThere;
  });
  await readers.follow();
  await Promise.all([readers.follow(), readers.follow()]);
  expect(told).toBe(2);
  isThere = true;
  await readers.follow();
  await readers.follow();
  expect(told).toBe(3);
  vi.advanceTimersByTime(3000);
  await readers.follow();
  expect(told).toBe(4);
});

test('a reader does not wait for a keeper that is busy', async () => {
  const readers = new EventReaders(() => new Promise(() => undefined));
  await readers.follow();
});
