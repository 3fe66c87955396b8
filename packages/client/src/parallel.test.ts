import { expect, it } from 'vitest';
import { forEachParallel } from './parallel.ts';

it('works on everything, no more at once than allowed', async () => {
  let running = 0;
  let most = 0;
  const done: number[] = [];
  await forEachParallel([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    done.push(item);
  });
  expect(done.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(most).toBe(3);
});

it('ends at once with nothing to do', async () => {
  await forEachParallel([], 3, () => Promise.reject(new Error('no')));
});

it('stops the others after the first failure and throws it', async () => {
  const started: number[] = [];
  const work = forEachParallel([1, 2, 3, 4, 5, 6], 2, async (item, stop) => {
    started.push(item);
    await new Promise(setImmediate);
    if (item === 1) throw new Error('first');
    stop.throwIfAborted();
  });
  await expect(work).rejects.toThrow('first');
  expect(started.length).toBeLessThan(6);
});

it('stops when it is told to', async () => {
  const controller = new AbortController();
  controller.abort(new Error('enough'));
  await expect(forEachParallel([1], 1, () => Promise.resolve(), controller.signal)).rejects.toThrow('enough');
});
