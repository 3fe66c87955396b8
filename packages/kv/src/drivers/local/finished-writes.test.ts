import { tempDir } from '@svc/testing';
import { open } from 'lmdb';
import { expect, test } from 'vitest';
import { forgetFinishedWrites, type RememberedWrite } from './finished-writes.ts';

test('writes that were answered are cut off the chain of those that wait', async () => {
  const db = open({
    path: tempDir(),
    separateFlushed: true,
    overlappingSync: false,
    eventTurnBatching: false,
  });
  const began: RememberedWrite[] = [];
  const events = db as unknown as Parameters<typeof forgetFinishedWrites>[0];
  events.on('aftercommit', ({ next }) => began.push(next));
  forgetFinishedWrites(events);
  for (let commit = 0; commit < 5; commit += 1) {
    const writes = ['a', 'b', 'c'].map((key) => db.put(key, commit));
    const condition = db.ifNoExists('d', () => void db.put('e', commit));
    expect(await Promise.all([...writes, condition])).toEqual([true, true, true, true]);
    expect(db.get('e')).toBe(commit);
  }
  expect(began.length).toBeGreaterThanOrEqual(5);
  // All but the last commit are finished for certain.
  for (const write of began.slice(0, -1)) expect(write.next).toBeNull();
  expect(began.at(-1)?.next).not.toBeNull();
  await db.close();
});
