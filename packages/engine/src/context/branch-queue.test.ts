import { expect, test } from 'vitest';
import { BranchQueue } from './branch-queue.ts';

test('turns of one branch follow each other, turns of others do not wait', async () => {
  const queue = new BranchQueue();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run('a', async () => {
    await gate.promise;
    order.push('first');
  });
  const second = queue.run('a', async () => void order.push('second'));
  await queue.run('b', async () => void order.push('other'));
  gate.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('a failed turn passes on; long work outside lets the next one in', async () => {
  const queue = new BranchQueue();
  await expect(queue.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const inner = Promise.withResolvers<void>();
  const outer = queue.run('a', (turn) =>
    turn.outside(async () => {
      // What a hook does that writes to its own branch.
      await queue.run('a', async () => inner.resolve());
    }),
  );
  await inner.promise;
  await outer;
});
