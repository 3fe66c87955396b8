import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { ReplayedStream } from './replayed-stream.ts';
import { piecesOf } from './request-body.ts';

async function read(replayed: ReplayedStream, offset: number): Promise<Buffer[]> {
  const found: Buffer[] = [];
  for await (const piece of replayed.from(offset)) found.push(piece);
  return found;
}

const numbered = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, index) => Buffer.from([index]));

test('sends again from any byte of its window, and not from before it', async () => {
  const replayed = new ReplayedStream(Readable.from(numbered(100)), 10);
  expect(Buffer.concat(await read(replayed, 0))).toEqual(Buffer.concat(numbered(100)));
  expect(replayed.start).toBe(90);
  expect(Buffer.concat(await read(replayed, 95))).toEqual(Buffer.concat(numbered(100)).subarray(95));
  expect(await read(replayed, 100)).toEqual([]);
  await expect(read(replayed, 89)).rejects.toMatchObject({ kind: 'unavailable' });
});

test('whoever gave up while a piece was awaited takes none of it away', async () => {
  let deliver: (piece: Buffer) => void = () => undefined;
  async function* slow(): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    yield await new Promise<Buffer>((resolve) => (deliver = resolve));
    yield Buffer.from('c');
  }
  const replayed = new ReplayedStream(slow(), 10);
  const first = replayed.from(0);
  expect((await first.next()).value?.toString()).toBe('a');
  void first.next();
  const given = first.return(undefined);
  const second = read(replayed, 0);
  await new Promise((resolve) => setImmediate(resolve));
  deliver(Buffer.from('b'));
  expect(Buffer.concat(await second).toString()).toBe('abc');
  await given;
});

test('everybody who waits hears why the stream ended too early', async () => {
  let fail: (error: Error) => void = () => undefined;
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.from('a');
    await new Promise((_, reject) => (fail = reject));
  }
  const replayed = new ReplayedStream(failing(), 10);
  const first = replayed.from(0);
  await first.next();
  const heard = Promise.allSettled([first.next(), read(replayed, 0)]);
  await new Promise((resolve) => setImmediate(resolve));
  fail(new Error('client went away'));
  // Not the end of a shorter body.
  expect(await heard).toMatchObject([
    { reason: { message: 'client went away' } },
    { reason: { message: 'client went away' } },
  ]);
  expect(replayed.failure).toMatchObject({ error: { message: 'client went away' } });
});

test('a client that sends single bytes does not fill it with them', async () => {
  const size = 200_000;
  const bytes = Readable.from(Array.from({ length: size }, () => Buffer.from('x')));
  const replayed = new ReplayedStream(piecesOf(bytes, size), size);
  expect((await read(replayed, 0)).length).toBeLessThan(10);
  expect(replayed.start).toBe(0);
});
