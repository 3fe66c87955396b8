import { close, read, readSync } from 'node:fs';
import type { Writable } from 'node:stream';
import type { InlineCalls } from './inline-calls.ts';

/** Small enough to stay in the processor's cache between reading and writing. */
const unit = 128 * 1024;

/** Buffers of finished sends: fresh ones would have to be cleared by the system page by page. */
const spare: Buffer[] = [];
const maxSpare = 16;

/**
 * Writes the bytes start..end (inclusive) of a file into the sink and ends it; closes the descriptor. One buffer
 * goes back and forth, so a slow sink holds no more than that. When either side fails the sink is destroyed.
 */
export function sendFile(
  file: { readonly fd: number; readonly start: number; readonly end: number },
  sink: Writable,
  inline: InlineCalls,
): Promise<void> {
  const { fd, start, end } = file;
  return new Promise((resolve, reject) => {
    const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(unit);
    let position = start;
    let reading = false;
    let over = false;

    const finish = (error: Error | undefined): void => {
      if (over) return;
      over = true;
      sink.off('close', gone);
      if (!reading) close(fd);
      if (error === undefined) {
        if (spare.length < maxSpare) spare.push(buffer);
        sink.end();
        resolve();
      } else {
        sink.destroy(error);
        reject(error);
      }
    };
    const gone = (): void => finish(new Error('the reader went away before the end of the object'));
    const write = (count: number): void => {
      if (count === 0) {
        finish(new Error('the file is shorter than the object'));
        return;
      }
      position += count;
      sink.write(count === unit ? buffer : buffer.subarray(0, count), (error) => {
        if (error !== null && error !== undefined) finish(error);
        else if (position > end) finish(undefined);
        else if (!over) next();
      });
    };
    const next = (): void => {
      const length = Math.min(unit, end - position + 1);
      const began = inline.begin();
      if (began === undefined) {
        reading = true;
        read(fd, buffer, 0, length, position, (error, count) => {
          reading = false;
          if (over) close(fd);
          else if (error === null) write(count);
          else finish(error);
        });
        return;
      }
      let count: number;
      try {
        count = readSync(fd, buffer, 0, length, position);
      } catch (error) {
        finish(error as Error);
        return;
      }
      inline.ended(began);
      write(count);
    };
    sink.on('close', gone);
    next();
  });
}
