import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { LogSink } from '../logging/index.ts';

/** File descriptor on which a worker hands its log lines to the primary, who owns all outputs. */
export const logDescriptor = 4;

/** The worker's end. */
export class LogPipe implements LogSink {
  readonly #socket: Socket;

  constructor(descriptor: number = logDescriptor) {
    this.#socket = new Socket({ fd: descriptor, readable: false, writable: true });
    // Without a primary there is nobody to write for; the worker ends by itself.
    this.#socket.on('error', () => {});
    this.#socket.unref();
  }

  write(line: string): void {
    this.#socket.write(line);
  }

  /** Resolves once everything written has left this process. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.destroyed) resolve();
      else this.#socket.end(() => resolve());
    });
  }
}

/** The primary's end: passes on whole lines only, since several workers write at once. */
export function forwardLines(pipe: Readable, sink: LogSink): void {
  let rest = '';
  pipe.setEncoding('utf8');
  pipe.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n');
    if (end < 0) {
      rest += chunk;
      return;
    }
    sink.write(rest + chunk.slice(0, end + 1));
    rest = chunk.slice(end + 1);
  });
  pipe.on('end', () => {
    if (rest !== '') sink.write(`${rest}\n`);
  });
  // The worker is gone; the supervisor says so.
  pipe.on('error', () => {});
}
