import { hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { ChunkSigner } from '@svc/encoding';
import { checkBodySize } from '../../body.ts';

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

/** Frames buffers as signed `aws-chunked` chunks. */
export async function* signedChunks(
  units: AsyncIterable<Buffer>,
  signer: ChunkSigner,
): AsyncGenerator<Buffer> {
  for await (const unit of units) {
    yield chunkHeader(unit.length, signer.chunk(hash('sha256', unit, 'hex')));
    yield unit;
    yield lineEnd;
  }
  yield chunkHeader(0, signer.chunk(hash('sha256', '', 'hex')));
  yield lineEnd;
}

const lineEnd = Buffer.from('\r\n');
const signatureLength = 64;

function chunkHeader(size: number, signature: string): Buffer {
  return Buffer.from(`${size.toString(16)};chunk-signature=${signature}\r\n`);
}

/** How many bytes `size` bytes become when framed in chunks of `unit`. */
export function signedChunksLength(size: number, unit: number): number {
  const framed = (data: number): number =>
    data.toString(16).length + ';chunk-signature='.length + signatureLength + 2 + data + 2;
  const whole = Math.floor(size / unit);
  const rest = size % unit;
  return whole * framed(unit) + (rest > 0 ? framed(rest) : 0) + framed(0);
}
