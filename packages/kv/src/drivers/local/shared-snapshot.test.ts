import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SharedSnapshot } from './shared-snapshot.ts';

function counted(): { snapshot: SharedSnapshot; resets: () => number } {
  let resets = 0;
  const resetReadTxn = (): void => {
    resets += 1;
  };
  return { snapshot: new SharedSnapshot({ resetReadTxn }), resets: () => resets };
}

test('what follows from one event shares a snapshot', async () => {
  const { snapshot, resets } = counted();
  await nextTurn();
  await Promise.resolve();
  snapshot.renew();
  for (let step = 0; step < 100; step += 1) {
    await Promise.resolve();
    snapshot.renew();
  }
  expect(resets()).toBe(1);
});

test('each event begins another one', async () => {
  const { snapshot, resets } = counted();
  const events = Array.from(
    { length: 3 },
    () =>
      new Promise<void>((resolve) =>
        setImmediate(() => {
          snapshot.renew();
          resolve();
        }),
      ),
  );
  await Promise.all(events);
  expect(resets()).toBe(3);
});
