import { Readable, Writable } from 'node:stream';
import type { ObjectBody } from '../adapter.ts';

export const stripeBytes = 2 * 1024 * 1024;
/** Of one body, under way or waiting to be sent. */
const stripesAtOnce = 8;

export interface StripedBodyOptions {
  readonly size: number;
  /** Holds what comes first. */
  readonly first: ObjectBody;
  /** Opens bytes of the body, the last one included. */
  readonly open: (start: number, end: number, signal: AbortSignal) => Promise<ObjectBody>;
  /** Called once, when nothing more is read. */
  readonly done: () => void;
}

/** A body of which several ranges are read at once, over a connection each: a distant store gives little over one. */
export class StripedBody implements ObjectBody {
  readonly size: number;
  readonly bytes = undefined;
  readonly #options: StripedBodyOptions;
  #isOver = false;

  constructor(options: StripedBodyOptions) {
    this.size = options.size;
    this.#options = options;
  }

  async sendTo(sink: Writable): Promise<void> {
    const gone = new AbortController();
    const onGone = (): void => gone.abort(new Error('the reader went away before the end of the object'));
    sink.once('close', onGone);
    try {
      for await (const stripe of this.#stripes(gone.signal)) await write(sink, stripe, gone.signal);
      sink.off('close', onGone);
      sink.end();
    } catch (error) {
      sink.off('close', onGone);
      sink.destroy(error as Error);
      throw error;
    }
  }

  stream(): Readable {
    const copies = async function* (stripes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
      for await (const stripe of stripes) yield Buffer.from(stripe);
    };
    return Readable.from(copies(this.#stripes()), { objectMode: false });
  }

  dispose(): void {
    if (this.#isOver) return;
    this.#options.first.dispose();
    this.#end();
  }

  /** In order; each is overwritten once the next is asked for. */
  async *#stripes(signal?: AbortSignal): AsyncGenerator<Buffer> {
    const stop = new AbortController();
    const ended = signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]);
    const count = Math.ceil(this.size / stripeBytes);
    const underWay: Promise<Buffer>[] = [];
    const begin = (stripe: number, buffer: Buffer): void => {
      const reading = this.#read(stripe, buffer, ended);
      // Whoever comes to it sees the failure.
      reading.catch(() => undefined);
      underWay.push(reading);
    };
    try {
      for (let stripe = 0; stripe < Math.min(count, stripesAtOnce); stripe += 1)
        begin(stripe, Buffer.allocUnsafeSlow(stripeBytes));
      for (let stripe = 0; stripe < count; stripe += 1) {
        const read = await underWay.shift();
        if (read === undefined) throw new Error('a stripe was not read');
        yield read;
        const next = stripe + stripesAtOnce;
        if (next < count) begin(next, Buffer.from(read.buffer));
      }
    } finally {
      stop.abort(new Error('nobody reads the object any more'));
      await Promise.allSettled(underWay);
      this.#end();
    }
  }

  async #read(stripe: number, buffer: Buffer, signal: AbortSignal): Promise<Buffer> {
    const start = stripe * stripeBytes;
    const size = Math.min(stripeBytes, this.size - start);
    const { first, open } = this.#options;
    for (let isSecond = false; ; isSecond = true) {
      const body = stripe === 0 && !isSecond ? first : await open(start, start + size - 1, signal);
      if (signal.aborted || body.size !== size) {
        body.dispose();
        signal.throwIfAborted();
        throw new Error(`the store gave ${body.size} bytes instead of ${size}`);
      }
      try {
        await fill(buffer, body, signal);
        return buffer.subarray(0, size);
      } catch (error) {
        // Nothing of it was sent yet: what broke off is read again.
        if (isSecond || signal.aborted) throw error;
      }
    }
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.done();
  }
}

/** Reads a body that fits into memory which is there already. */
async function fill(buffer: Buffer, body: ObjectBody, signal: AbortSignal): Promise<void> {
  if (body.bytes !== undefined) {
    body.bytes.copy(buffer);
    return;
  }
  let at = 0;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, written) {
      at += chunk.copy(buffer, at);
      written();
    },
  });
  const stop = (): void => void sink.destroy(signal.reason as Error);
  // The body tells of its failures by itself.
  sink.on('error', () => undefined);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await body.sendTo(sink);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Resolves once the bytes are no longer needed. */
function write(sink: Writable, bytes: Buffer, gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onGone = (): void => reject(gone.reason as Error);
    if (gone.aborted) {
      onGone();
      return;
    }
    gone.addEventListener('abort', onGone, { once: true });
    sink.write(bytes, (error) => {
      gone.removeEventListener('abort', onGone);
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}
