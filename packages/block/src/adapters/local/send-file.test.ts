import { openSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { InlineCalls } from './inline-calls.ts';
import { sendFile } from './send-file.ts';

const content = Buffer.alloc(1_000_000);
for (let index = 0; index < content.length; index += 1) content[index] = (index * 31) & 0xff;

function file(): string {
  const path = join(tempDir(), 'object');
  writeFileSync(path, content);
  return path;
}

const never = { begin: () => undefined, ended() {} } as unknown as InlineCalls;
const isOpen = (path: string): boolean =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });

test.each([
  ['on the event loop', new InlineCalls()],
  ['in the thread pool', never],
])('sends every byte of the range, also to a slow sink, and closes the file (%s)', async (_name, inline) => {
  const path = file();
  for (const [start, end] of [
    [0, content.length - 1],
    [131_072, 131_072],
    [5, 700_000],
  ] as const) {
    const fd = openSync(path, 'r');
    const sink = new PassThrough({ highWaterMark: 1000 });
    const [received] = await Promise.all([buffer(sink), sendFile({ fd, start, end }, sink, inline)]);
    expect(received.equals(content.subarray(start, end + 1))).toBe(true);
  }
});

test.each([
  ['on the event loop', new InlineCalls()],
  ['in the thread pool', never],
])('a sink that goes away ends it and closes the file (%s)', async (_name, inline) => {
  const path = file();
  const sink = new Writable({
    write(_chunk, _encoding, written) {
      setImmediate(() => {
        this.destroy();
        written();
      });
    },
  });
  const sending = sendFile({ fd: openSync(path, 'r'), start: 0, end: content.length - 1 }, sink, inline);
  await expect(sending).rejects.toThrow('went away');
  await expect.poll(() => isOpen(path)).toBe(false);
});

test('a file that lost its end breaks the sink instead of ending it', async () => {
  const sink = new PassThrough();
  sink.on('error', () => {});
  sink.resume();
  const sending = sendFile({ fd: openSync(file(), 'r'), start: 0, end: 2_000_000 }, sink, new InlineCalls());
  await expect(sending).rejects.toThrow('shorter');
  expect(sink.writableFinished).toBe(false);
  expect(sink.destroyed).toBe(true);
});
