import { Writable } from 'node:stream';
import { createMemStore, MemState } from '@svc/kv';
import { expect, test, vi } from 'vitest';
import { EventFilter, EventLog, EventStreams, KeeperTerm } from '../src/index.ts';
import { partitionOf, silent, sourceOf, Writer } from './moves.ts';

test('a reader that takes nothing holds one piece in memory, however much it has missed', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  for (let count = 0; count < 2000; count += 1) await writer.move('one', `b${count}`);
  const source = sourceOf(['one']);
  const term = await KeeperTerm.begin({ kv, source, logger: silent, clock: Date.now });
  while (((await term.round([partitionOf('one')]))?.appended ?? 0) > 0);
  const log = new EventLog(kv);
  const streams = new EventStreams({ log, installationId: 'i-1', maxStreams: 1, isShared: false });
  let isFull: () => void = () => undefined;
  const full = new Promise<void>((resolve) => {
    isFull = resolve;
  });
  let taken = 0;
  const sink = new Writable({
    highWaterMark: 16 * 1024,
    write(chunk: Buffer, _encoding, done) {
      taken += chunk.length;
      // The first line and one piece arrive, then nothing is taken any more.
      if (taken < 100_000) done();
      else isFull();
    },
  });
  let asked = 0;
  const stream = await streams.start({
    after: 0,
    filter: new EventFilter({}),
    permission: () => {
      asked += 1;
      return Promise.resolve(() => true);
    },
  });
  const sending = stream.sendTo(sink);
  await full;
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(sink.writableLength).toBeLessThan(150_000);
  // For the piece that was taken, and for the one that is not.
  expect(asked).toBe(2);
  expect(streams.open).toBe(1);
  sink.destroy();
  await sending;
  expect(streams.open).toBe(0);
  streams.close();
});

test('many streams wait for company: what comes meanwhile is written at once, in order, to everybody', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    const kv = createMemStore(new MemState());
    const writer = new Writer(kv);
    const term = await KeeperTerm.begin({ kv, source: sourceOf(['one']), logger: silent, clock: Date.now });
    const log = new EventLog(kv);
    const streams = new EventStreams({ log, installationId: 'i-1', maxStreams: 100, isShared: false });
    const written: string[][] = [];
    const sinks: Writable[] = [];
    const sending: Promise<void>[] = [];
    for (let index = 0; index < 100; index += 1) {
      const pieces: string[] = [];
      const sink = new Writable({
        write(chunk: Buffer, _encoding, done) {
          pieces.push([...chunk.toString().matchAll(/^id: (\d+)\ndata/gm)].map(([, id]) => id).join(' '));
          done();
        },
      });
      const permission = () => Promise.resolve(() => true);
      const stream = await streams.start({ after: 0, filter: new EventFilter({}), permission });
      sending.push(stream.sendTo(sink));
      written.push(pieces);
      sinks.push(sink);
    }
    const happens = async (): Promise<void> => {
      await writer.move('one', 'main');
      await term.round([partitionOf('one')]);
      streams.told(term.next);
      await turns();
    };
    await vi.advanceTimersByTimeAsync(1000);
    await happens();
    await happens();
    await happens();
    for (const pieces of written) expect(pieces).toEqual(['', '1']);
    await vi.advanceTimersByTimeAsync(30);
    await turns();
    for (const pieces of written) expect(pieces).toEqual(['', '1', '2 3']);
    for (const sink of sinks) sink.destroy();
    await Promise.all(sending);
    streams.close();
  } finally {
    vi.useRealTimers();
  }
});
