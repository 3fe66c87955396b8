import { hash } from 'node:crypto';
import type { ChunkSigner } from '@svc/encoding';

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
