import { createMemStore, MemState } from '@svc/kv';
import { expect, test, vi } from 'vitest';
import { Keeper } from '../src/index.ts';
import { partitionOf, readLog, replay, silent, sourceOf, Writer } from './moves.ts';

const repositories = ['one', 'two'];

test('while nobody reads along the log waits for company, and whoever begins to read waits for what happened', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  let now = Date.now();
  let isFollowed = false;
  let told = Promise.withResolvers<void>();
  let segments = 0;
  const keeper = new Keeper({
    kv,
    source: sourceOf(repositories),
    logger: silent,
    isShared: true,
    isFollowed: () => isFollowed,
    clock: () => now,
    onAppended: () => {
      segments += 1;
      told.resolve();
    },
  });
  const happens = async (): Promise<void> => {
    told = Promise.withResolvers<void>();
    await writer.move('one', 'main');
    keeper.hint([partitionOf('one')]);
  };
  /** More turns of the event loop than a round takes. */
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await writer.move('one', 'main');
  keeper.start();
  await told.promise;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    await keeper.follow();
    await happens();
    await told.promise;
    now += 11_000;
    await turns();
    expect(segments).toBe(2);

    for (let moves = 0; moves < 3; moves += 1) await happens();
    await turns();
    expect(segments).toBe(2);
    vi.advanceTimersByTime(100);
    await told.promise;
    expect(segments).toBe(3);

    await happens();
    await turns();
    expect(segments).toBe(3);
    await keeper.follow();
    expect(replay(await readLog(kv))).toEqual(writer.history);
    expect(segments).toBe(4);

    now += 11_000;
    isFollowed = true;
    await happens();
    await told.promise;
  } finally {
    vi.useRealTimers();
  }
  await keeper.close();
  expect(replay(await readLog(kv))).toEqual(writer.history);
});
