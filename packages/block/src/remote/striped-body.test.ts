import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { PassThrough, Readable, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { ObjectBody } from '../adapter.ts';
import { bytesBody } from '../body.ts';
import { StripedBody, stripeBytes } from './striped-body.ts';

const content = randomBytes(11 * stripeBytes + 12_345);

interface Store {
  readonly body: (size?: number) => StripedBody;
  /** Ranges that are being read. */
  readonly open: () => number;
  readonly most: () => number;
  readonly asked: string[];
  readonly ended: () => number;
}

/** A store that gives each range in pieces, as late as `delay` says. */
function storeOf(delay: (start: number) => Promise<void>): Store {
  let [open, most, ended] = [0, 0, 0];
  const asked: string[] = [];
  const read = (start: number, end: number): ObjectBody => {
    open += 1;
    most = Math.max(most, open);
    let isOver = false;
    const over = (): void => {
      if (!isOver) open -= 1;
      isOver = true;
    };
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (let at = start; at <= end; at += 300_000) {
        await delay(start);
        yield content.subarray(at, Math.min(end + 1, at + 300_000));
      }
    };
    const size = end - start + 1;
    return {
      size,
      bytes: undefined,
      stream: () => Readable.from(pieces()),
      async sendTo(sink: Writable) {
        try {
          for await (const piece of pieces()) {
            if (sink.destroyed) throw new Error('the reader went away');
            sink.write(piece);
          }
          sink.end();
        } catch (error) {
          sink.destroy(error as Error);
          throw error;
        } finally {
          over();
        }
      },
      dispose: over,
    };
  };
  return {
    body: (size = content.length) =>
      new StripedBody({
        size,
        first: read(0, stripeBytes - 1),
        open: async (start, end) => {
          asked.push(`${start / stripeBytes}`);
          await delay(start);
          return read(start, end);
        },
        done: () => (ended += 1),
      }),
    open: () => open,
    most: () => most,
    asked,
    ended: () => ended,
  };
}

const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('all bytes come in order, however the ranges come, and only so many are under way', async () => {
  let seed = 1;
  const store = storeOf(async () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    for (let turn = seed % 7; turn > 0; turn -= 1) await soon();
  });
  const taken: Buffer[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // As a socket: the bytes are its own until it says so.
      setImmediate(() => {
        taken.push(Buffer.from(chunk));
        done();
      });
    },
  });
  await store.body().sendTo(sink);
  expect(Buffer.concat(taken).equals(content)).toBe(true);
  expect(store.most()).toBeGreaterThan(4);
  expect(store.most()).toBeLessThanOrEqual(8);
  expect(store.asked).toEqual(Array.from({ length: 11 }, (_, index) => String(index + 1)));
  expect([store.open(), store.ended()]).toEqual([0, 1]);

  const streamed = await buffer(store.body().stream());
  expect(streamed.equals(content)).toBe(true);
  expect([store.open(), store.ended()]).toEqual([0, 2]);
});

test('no further range is asked for before the reader takes what there is', async () => {
  const store = storeOf(soon);
  let take: (() => void) | undefined;
  const sink = new Writable({
    write(_chunk, _encoding, taken) {
      take = taken;
    },
  });
  const sending = store.body().sendTo(sink);
  for (let turn = 0; turn < 500; turn += 1) await soon();
  expect(store.asked).toHaveLength(7);
  take?.();
  for (let turn = 0; turn < 500; turn += 1) await soon();
  expect(store.asked).toHaveLength(8);
  sink.destroy();
  await expect(sending).rejects.toThrow('the reader went away');
  expect([store.open(), store.ended()]).toEqual([0, 1]);
});

test('a range that breaks off in the middle is read again', async () => {
  const calls = new Map<number, number>();
  const breaking = [0, 3 * stripeBytes, 11 * stripeBytes];
  const store = storeOf(async (start) => {
    await soon();
    const count = (calls.get(start) ?? 0) + 1;
    calls.set(start, count);
    // The first time, after something of it came.
    if (breaking.includes(start) && count === (start === 11 * stripeBytes ? 2 : 3))
      throw new Error('broken off');
  });
  expect((await buffer(store.body().stream())).equals(content)).toBe(true);
  expect(store.asked.filter((asked) => ['0', '3', '11'].includes(asked)).toSorted()).toEqual([
    '0',
    '11',
    '11',
    '3',
    '3',
  ]);
  expect([store.open(), store.ended()]).toEqual([0, 1]);
});

test('a range that fails twice ends the whole, and nothing stays open', async () => {
  const store = storeOf(async (start) => {
    await soon();
    if (start === 5 * stripeBytes) throw new Error('broken off');
  });
  const sink = new PassThrough();
  sink.resume();
  sink.on('error', () => undefined);
  await expect(store.body().sendTo(sink)).rejects.toThrow('broken off');
  expect(sink.destroyed).toBe(true);
  expect([store.open(), store.ended()]).toEqual([0, 1]);
});

test('what nobody reads is released, and a range of another length is refused', async () => {
  const store = storeOf(soon);
  store.body().dispose();
  expect([store.open(), store.ended()]).toEqual([0, 1]);
  const wrong = new StripedBody({
    size: 2 * stripeBytes,
    first: bytesBody(content.subarray(0, stripeBytes)),
    open: async () => bytesBody(content.subarray(0, 10)),
    done: () => undefined,
  });
  const sink = new PassThrough();
  sink.resume();
  sink.on('error', () => undefined);
  await expect(wrong.sendTo(sink)).rejects.toThrow(`10 bytes instead of ${stripeBytes}`);
});
