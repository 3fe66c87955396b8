import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tempDir } from '@svc/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { openFileLock } from './file-lock.ts';
import { openGate, type OpeningGate } from './opening-gate.ts';

const gates: OpeningGate[] = [];
async function gatesOf(path: string, count: number): Promise<OpeningGate[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openGate(path)));
  gates.push(...opened);
  return opened;
}
afterEach(() => {
  for (const gate of gates.splice(0)) gate.close();
});

test('whoever opens waits until every write has ended, and writes wait until it has opened', async () => {
  const [opener, one, two] = (await gatesOf(tempDir('svc-gate'), 3)) as [
    OpeningGate,
    OpeningGate,
    OpeningGate,
  ];
  const said: string[] = [];
  expect([one.tryEnter(), one.tryEnter(), two.tryEnter()]).toEqual([true, true, true]);
  let finish = (): void => undefined;
  const opened = opener.whileOpening(async () => {
    said.push('opening');
    await new Promise<void>((resolve) => (finish = resolve));
    said.push('opened');
  });
  // Each notices by itself that somebody wants to open.
  for (const gate of [one, two]) {
    while (gate.tryEnter()) {
      gate.leave();
      await delay(1);
    }
  }
  const waiting = [one.enter().then(() => said.push('one')), two.enter().then(() => said.push('two'))];
  one.leave();
  two.leave();
  await delay(100);
  expect(said).toEqual([]);
  one.leave();
  await vi.waitFor(() => expect(said).not.toEqual([]));
  await delay(100);
  expect(said).toEqual(['opening']);
  finish();
  await opened;
  await Promise.all(waiting);
  expect(said.slice(0, 2)).toEqual(['opening', 'opened']);
  expect(said.slice(2).toSorted()).toEqual(['one', 'two']);
});

test('one opens after the other', async () => {
  const path = tempDir('svc-gate');
  let inside = 0;
  const most: number[] = [];
  await Promise.all(
    (await gatesOf(path, 4)).map((gate) =>
      gate.whileOpening(async () => {
        inside++;
        most.push(inside);
        await delay(10);
        inside--;
      }),
    ),
  );
  expect(most).toEqual([1, 1, 1, 1]);
});

test('one that writes all the time lets others open', async () => {
  const [opener, writer] = (await gatesOf(tempDir('svc-gate'), 2)) as [OpeningGate, OpeningGate];
  const stop = new AbortController();
  let writes = 0;
  const write = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await writer.enter();
      await delay(1);
      writer.leave();
      writes++;
    }
  };
  const writing = [write(), write(), write()];
  for (let round = 0; round < 5; round++) {
    const before = writes;
    await opener.whileOpening(() => undefined);
    await vi.waitFor(() => expect(writes).toBeGreaterThan(before));
  }
  stop.abort();
  await Promise.all(writing);
});

test('a write that waited goes on beside those that came after it', async () => {
  const [opener, writer] = (await gatesOf(tempDir('svc-gate'), 2)) as [OpeningGate, OpeningGate];
  let waiting: Promise<void> | undefined;
  await opener.whileOpening(() => {
    waiting = writer.enter();
  });
  // Enters before the one that waits has looked again, and stays for longer.
  expect(writer.tryEnter()).toBe(true);
  await waiting;
  writer.leave();
  writer.leave();
});

test('one that has nothing to write holds up nobody', async () => {
  const path = tempDir('svc-gate');
  const [writer] = (await gatesOf(path, 1)) as [OpeningGate];
  await writer.enter();
  writer.leave();
  const lock = await openFileLock(join(path, 'writing.lock'));
  await vi.waitFor(() => expect(lock.tryExclusive()).toBe(true));
  lock.close();
});

test('an opening that fails lets the next one and the writers in', async () => {
  const [opener, writer] = (await gatesOf(tempDir('svc-gate'), 2)) as [OpeningGate, OpeningGate];
  await expect(
    opener.whileOpening(() => {
      throw new Error('no store');
    }),
  ).rejects.toThrow('no store');
  expect(writer.tryEnter()).toBe(true);
  writer.leave();
  await expect(opener.whileOpening(() => 'store')).resolves.toBe('store');
});

test('a write that waits for another to open is refused when the store is closed', async () => {
  const path = tempDir('svc-gate');
  const [opener] = (await gatesOf(path, 1)) as [OpeningGate];
  const writer = await openGate(path);
  await opener.whileOpening(async () => {
    const waiting = writer.enter();
    writer.close();
    await expect(waiting).rejects.toMatchObject({ kind: 'closed', message: expect.stringContaining(path) });
  });
  expect(() => writer.tryEnter()).toThrow(/is closed/);
  writer.leave();
});
