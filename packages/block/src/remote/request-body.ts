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

/** Cuts a stream into buffers of exactly `unit` bytes (the last may be shorter); checks the announced length. */
export async function* unitsOf(stream: Readable, unit: number, announced: number): AsyncGenerator<Buffer> {
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
      yield pending.length === 1 ? (pending[0] ?? chunk) : Buffer.concat(pending, unit);
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
