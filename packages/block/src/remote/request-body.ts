import type { Readable } from 'node:stream';
import { checkBodySize } from '../body.ts';

/** Bytes can be sent again; a stream is spent after the first attempt. */
export type RequestBody =
  | { readonly kind: 'bytes'; readonly chunks: readonly Uint8Array[]; readonly size: number }
  | { readonly kind: 'stream'; readonly stream: Readable; readonly size: number };

export function bytesRequest(bytes: Uint8Array): RequestBody {
  return { kind: 'bytes', chunks: [bytes], size: bytes.length };
}

export function streamRequest(stream: Readable, size: number): RequestBody {
  return { kind: 'stream', stream, size };
}

/** Smaller pieces are sent together. */
const smallestWrite = 64 * 1024;

/**
 * The pieces of a stream as they come: what copies a body makes work for the collector, which costs more than the copy.
 * Checks the announced length.
 */
export async function* piecesOf(stream: Readable, announced: number): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let total = 0;
  for await (const piece of stream) {
    const chunk = piece as Buffer;
    total += chunk.length;
    if (total > announced) checkBodySize(announced, total);
    pending.push(chunk);
    pendingBytes += chunk.length;
    if (pendingBytes < smallestWrite) continue;
    yield pending.length === 1 ? chunk : Buffer.concat(pending, pendingBytes);
    pending = [];
    pendingBytes = 0;
  }
  checkBodySize(announced, total);
  if (pendingBytes > 0) yield Buffer.concat(pending, pendingBytes);
}

/**
 * Cuts a stream into buffers of exactly `unit` bytes (the last may be shorter); checks the announced length (-1: none).
 * Those of full length are copied into what `take` hands out.
 */
export async function* unitsOf(
  stream: Readable,
  unit: number,
  announced: number,
  take = (): Buffer => Buffer.allocUnsafeSlow(unit),
): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let total = 0;
  for await (const piece of stream) {
    let chunk = piece as Buffer;
    total += chunk.length;
    if (announced >= 0 && total > announced) checkBodySize(announced, total);
    while (pendingBytes + chunk.length >= unit) {
      const taken = unit - pendingBytes;
      pending.push(chunk.subarray(0, taken));
      yield joined(pending, take());
      chunk = chunk.subarray(taken);
      pending = [];
      pendingBytes = 0;
    }
    if (chunk.length > 0) {
      pending.push(chunk);
      pendingBytes += chunk.length;
    }
  }
  checkBodySize(announced, total);
  if (pendingBytes > 0) yield Buffer.concat(pending, pendingBytes);
}

function joined(chunks: readonly Buffer[], target: Buffer): Buffer {
  let position = 0;
  for (const chunk of chunks) position += chunk.copy(target, position);
  return target;
}
