import { timestampFromMillis, type EventData } from '@svc/encoding';
import { createMemStore, type KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { EventLog } from './event-log.ts';
import { eventsPartition, segmentKey } from './keys.ts';
import { encodeSegment } from './segment.ts';

const event = (name: string): EventData => ({
  id: Buffer.from(name),
  type: 'svc.branch.created',
  partition: 'example',
  subject: name,
  time: timestampFromMillis(0),
  user: 'tester',
  data: Buffer.from('{}'),
  move: undefined,
});

async function logOf(
  segments: number,
  eventsEach: number,
): Promise<{ log: EventLog; kv: KvStore; calls: () => number }> {
  const kv = createMemStore();
  for (let index = 0; index < segments; index += 1) {
    const first = 1 + index * eventsEach;
    const events = Array.from({ length: eventsEach }, (_, at) => event(`e${first + at}`));
    const { value } = encodeSegment(events, { first, offset: 0, appendedAt: 0 });
    await kv.set(eventsPartition, segmentKey(first), value);
  }
  let calls = 0;
  const counting = new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (name === 'get' || name === 'scan') calls += 1;
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return { log: new EventLog(counting), kv, calls: () => calls };
}

test('many small segments in a row are read together', async () => {
  const { log, calls } = await logOf(100, 1);
  for (let sequence = 1; sequence <= 100; sequence += 1)
    expect((await log.segmentWith(sequence))?.first).toBe(sequence);
  expect(calls()).toBeLessThanOrEqual(6);
});

test('large ones are read one by one, each once', async () => {
  const { log, calls } = await logOf(5, 100);
  for (let sequence = 1; sequence <= 500; sequence += 100)
    expect((await log.segmentWith(sequence))?.first).toBe(sequence);
  expect(calls()).toBe(5);
});

test('a damaged segment fails whoever comes to it, not who reads before it', async () => {
  const { log, kv } = await logOf(20, 1);
  await kv.set(eventsPartition, segmentKey(10), Buffer.from('damaged'));
  for (let sequence = 1; sequence < 10; sequence += 1)
    expect((await log.segmentWith(sequence))?.first).toBe(sequence);
  await expect(log.segmentWith(10)).rejects.toThrow();
  expect((await log.segmentWith(11))?.first).toBe(11);
});
