import { createHash } from 'node:crypto';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BodySource, ObjectBody } from './adapter.ts';
import { BlockError } from './errors.ts';

/** Objects up to this size are handed over as `bytes` instead of a stream. */
export const smallObjectSize = 64 * 1024;

/** An object body that is already in memory. */
export function bytesBody(bytes: Buffer): ObjectBody {
  return new BytesBody(bytes);
}

class BytesBody implements ObjectBody {
  readonly size: number;
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.size = bytes.length;
    this.bytes = bytes;
  }

  sendTo(sink: Writable): Promise<void> {
    return pipeline(this.stream(), sink);
  }

  stream(): Readable {
    const { bytes } = this;
    let sent = false;
    return new Readable({
      read() {
        if (!sent && bytes.length > 0) {
          sent = true;
          this.push(bytes);
        } else {
          this.push(null);
        }
      },
    });
  }

  dispose(): void {
    // Nothing is held but memory.
  }
}

/** The whole body in one fresh buffer; a stream of another length than announced is refused. */
export async function readBody(body: BodySource, signal?: AbortSignal): Promise<Buffer> {
  if (body instanceof Uint8Array) {
    signal?.throwIfAborted();
    return Buffer.from(body);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  await eachChunk(
    body.stream,
    (chunk) => {
      chunks.push(chunk);
      size += chunk.length;
      return undefined;
    },
    signal,
  );
  checkBodySize(body.size, size);
  return Buffer.concat(chunks, size);
}

/**
 * Call before the first await of a write: a stream that fails while nobody listens would end the process. Its error
 * is reported when the stream is read.
 */
export function guardBody(body: BodySource): void {
  if (!(body instanceof Uint8Array)) body.stream.on('error', () => undefined);
}

/** Fails the body's stream when the signal fires, for readers that only wait for the next chunk. */
export async function abortable<T>(
  body: BodySource,
  signal: AbortSignal | undefined,
  use: () => Promise<T>,
): Promise<T> {
  if (body instanceof Uint8Array || signal === undefined) return await use();
  const onAbort = (): void => {
    body.stream.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await use();
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Ends a body that will not be read. */
export function discardBody(body: BodySource): void {
  if (!(body instanceof Uint8Array)) body.stream.destroy();
}

/** Refuses a stream that ended with another length than the caller announced (-1 announces nothing). */
export function checkBodySize(announced: number, received: number): void {
  if (announced >= 0 && announced !== received) {
    throw new BlockError('write_failed', `the body has ${received} bytes but ${announced} were announced`);
  }
}

/**
 * Feeds every chunk of a stream to `take`; a promise from `take` pauses the stream until it settles. By `data`
 * events rather than iteration, which costs half. The stream is destroyed on any failure.
 */
export function eachChunk(
  stream: Readable,
  take: (chunk: Buffer) => Promise<void> | undefined,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let settled = false;
    let taking = false;
    let ended = false;
    const finish = (error?: unknown): void => {
      if (settled) return;
      settled = true;
      signal?.removeEventListener('abort', onAbort);
      stream.off('data', onData).off('end', onEnd).off('close', onClose);
      if (error === undefined) {
        stream.off('error', finish);
        resolve();
      } else {
        // The error listener stays: destroying may report the failure once more.
        stream.destroy();
        reject(error);
      }
    };
    const onAbort = (): void => finish(signal?.reason ?? new Error('aborted'));
    const onData = (chunk: Buffer): void => {
      let taken: Promise<void> | undefined;
      try {
        taken = take(chunk);
      } catch (error) {
        finish(error);
        return;
      }
      if (taken === undefined) return;
      taking = true;
      stream.pause();
      taken.then(() => {
        taking = false;
        if (ended) finish();
        else stream.resume();
      }, finish);
    };
    const onEnd = (): void => {
      ended = true;
      if (!taking) finish();
    };
    const onClose = (): void => {
      if (!ended)
        finish(stream.errored ?? new BlockError('write_failed', 'the body ended before it was complete'));
    };
    if (signal?.aborted === true) {
      stream.on('error', finish);
      onAbort();
      return;
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    stream.on('error', finish).on('end', onEnd).on('close', onClose).on('data', onData);
    if (stream.errored !== null) finish(stream.errored);
    else if (stream.destroyed) onClose();
  });
}

export function md5Hex(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

/** The etag of a completed multipart upload: MD5 over the parts' MD5s, and their count. */
export function multipartEtag(partEtags: readonly string[]): string {
  const hash = createHash('md5');
  for (const etag of partEtags) hash.update(etag, 'hex');
  return `${hash.digest('hex')}-${partEtags.length}`;
}
