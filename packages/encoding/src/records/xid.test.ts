import { expect, test } from 'vitest';
import {
  encodeXid,
  formatXid,
  isTaskId,
  nanoId,
  parseXid,
  partitionTimeBase,
  runTimeBase,
  XidGenerator,
  xidSeconds,
} from './index.ts';

test('golden id', () => {
  expect(encodeXid(Buffer.from('4d88e15b60f486e428412dc9', 'hex'))).toBe('9m4e2mr0ui3e8a215n4g');
  expect(parseXid('9m4e2mr0ui3e8a215n4g')?.toString('hex')).toBe('4d88e15b60f486e428412dc9');
});

test('worked ids of the format', () => {
  const parts = { machine: 0xaabbcc, pid: 0x1234, counter: 0x567890 };
  const now = 1_700_000_000;
  expect(formatXid({ ...parts, seconds: now })).toBe('cl9v205anf614d2mf280');
  expect(formatXid({ ...parts, seconds: partitionTimeBase - now })).toBe('gjth405anf614d2mf280');
  expect(formatXid({ ...parts, seconds: runTimeBase - now })).toBe('5fgam05anf614d2mf280');
  expect(xidSeconds('cl9v205anf614d2mf280')).toBe(now);
});

test('other lengths, characters and last characters are refused', () => {
  for (const bad of [
    '',
    '9m4e2mr0ui3e8a215n4',
    '9m4e2mr0ui3e8a215n4g0',
    '9m4e2mr0ui3e8a215n4h',
    '9m4e2mr0ui3e8a215n4w',
  ]) {
    expect(parseXid(bad)).toBeUndefined();
  }
  expect(parseXid('9M4e2mr0ui3e8a215n4g')).toBeUndefined();
});

test('ids are unique and partitions made later sort first', () => {
  let now = 1_700_000_000_000;
  const generator = new XidGenerator({ clock: () => now });
  const ids = new Set(Array.from({ length: 10_000 }, () => generator.next()));
  expect(ids.size).toBe(10_000);
  const older = generator.nextDescending(partitionTimeBase);
  now += 1000;
  expect(generator.nextDescending(partitionTimeBase) < older).toBe(true);
});

test('task ids', () => {
  const id = `DR${nanoId()}`;
  expect(isTaskId(id, 'DR')).toBe(true);
  expect(isTaskId(id, 'RR')).toBe(false);
  expect(isTaskId(`${id}x`, 'DR')).toBe(false);
});
