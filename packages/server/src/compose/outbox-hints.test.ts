import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OutboxHints } from './events.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const partition = Buffer.from('repository-1');
const writes = [{ type: 'put', key: Buffer.from('outbox/x'), value: Buffer.alloc(0) }] as const;

test('a burst of changes is one hint, and what changes after it is told of once more, in a while', () => {
  const told: (readonly string[])[] = [];
  const hints = new OutboxHints(false, (partitions) => told.push(partitions));
  for (let change = 0; change < 100; change += 1) hints.changed(partition, writes);
  vi.advanceTimersByTime(10);
  expect(told).toEqual([['repository-1']]);
  // Whoever was told may not have been there to hear it.
  hints.changed(partition, writes);
  hints.changed(partition, writes);
  vi.advanceTimersByTime(400);
  expect(told).toHaveLength(1);
  vi.advanceTimersByTime(200);
  expect(told).toEqual([['repository-1'], ['repository-1']]);
  vi.advanceTimersByTime(5000);
  expect(told).toHaveLength(2);
  hints.changed(partition, writes);
  vi.advanceTimersByTime(10);
  expect(told).toHaveLength(3);
});

test('with other servers on the store every burst is told of', () => {
  const told: (readonly string[])[] = [];
  const hints = new OutboxHints(true, (partitions) => told.push(partitions));
  for (let burst = 0; burst < 3; burst += 1) {
    hints.changed(partition, writes);
    vi.advanceTimersByTime(20);
  }
  expect(told).toHaveLength(3);
});

test('what fills no outbox is not told of', () => {
  const told: (readonly string[])[] = [];
  const hints = new OutboxHints(false, (partitions) => told.push(partitions));
  hints.changed(partition, [{ type: 'delete', key: Buffer.from('outbox/x') }]);
  hints.changed(partition, [{ type: 'put', key: Buffer.from('branches/x'), value: Buffer.alloc(0) }]);
  vi.advanceTimersByTime(5000);
  expect(told).toEqual([]);
});
