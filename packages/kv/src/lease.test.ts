import { expect, test } from 'vitest';
import { createMemStore, MemState } from './drivers/mem.ts';
import { Lease, leasesPartition } from './lease.ts';

/** Two servers on one store, with a clock that only the test moves. */
function twoServers() {
  const state = new MemState();
  const time = { now: 1_700_000_000_000 };
  const lease = (owner: string) =>
    new Lease(createMemStore(state), { name: 'job', owner, termMs: 1000, clock: () => time.now });
  return { time, kv: createMemStore(state), first: lease('first'), second: lease('second') };
}

test('only one of many that ask at the same time gets the lease', async () => {
  const { first, second } = twoServers();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? first : second).acquire()),
  );
  expect(answers.filter((held) => held !== undefined)).toHaveLength(1);
});

test('a renewed lease stays, a silent holder is replaced when its term ends', async () => {
  const { time, first, second } = twoServers();
  const held = await first.acquire();
  time.now += 900;
  expect(await held?.renew()).toBe(true);
  time.now += 900;
  expect(await second.acquire()).toBeUndefined();
  time.now += 101;
  const next = await second.acquire();
  expect(await next?.isHeld()).toBe(true);
  expect(await held?.isHeld()).toBe(false);
  expect(await held?.renew()).toBe(false);
  expect(await next?.isHeld()).toBe(true);
});

test('a holder that lost its lease does not take a later one of its own for it', async () => {
  const { time, first, second } = twoServers();
  const lost = await first.acquire();
  time.now += 1001;
  const between = await second.acquire();
  await between?.release();
  const again = await first.acquire();
  expect(await again?.isHeld()).toBe(true);
  expect(await lost?.isHeld()).toBe(false);
  await lost?.release();
  expect(await again?.isHeld()).toBe(true);
});

test('an expired lease that nobody took is still its holder’s', async () => {
  const { time, first } = twoServers();
  const held = await first.acquire();
  time.now += 5000;
  expect(await held?.renew()).toBe(true);
});

test('a released lease is free at once; an unreadable record protects nobody', async () => {
  const { kv, first, second } = twoServers();
  const held = await first.acquire();
  await held?.release();
  const next = await second.acquire();
  expect(await next?.isHeld()).toBe(true);
  await kv.set(leasesPartition, Buffer.from('job'), Buffer.from('garbage'));
  expect(await next?.isHeld()).toBe(false);
  expect(await first.acquire()).toBeDefined();
});
