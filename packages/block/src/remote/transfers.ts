import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BodyStream, CompletedPart } from '../adapter.ts';
import { BlockError } from '../errors.ts';
import { streamRequest, unitsOf, type RequestBody } from './request-body.ts';

const mebibyte = 1024 * 1024;

const maxParts = 10_000;
export const firstPartSize: number = 8 * mebibyte;
const largestPartSize = 64 * mebibyte;

/**
 * The size of the n-th part of an upload whose length is unknown: small at first, so that most bodies need little
 * memory, growing so that 10 000 parts hold 490 GiB.
 */
export function partSize(partNumber: number): number {
  return Math.min(largestPartSize, firstPartSize * 2 ** Math.floor((partNumber - 1) / 1000));
}

export interface PartUploader {
  start(): Promise<string>;
  uploadPart(uploadId: string, partNumber: number, body: RequestBody): Promise<CompletedPart>;
  abort(uploadId: string): Promise<void>;
}

/** What became of a stream of unknown length. */
export type Uploaded =
  | { readonly kind: 'small'; readonly body: RequestBody }
  | { readonly kind: 'parts'; readonly uploadId: string; readonly parts: readonly CompletedPart[] };

/**
 * Uploads a stream part by part, each kept in memory until the store has it so that it can be sent again. A body
 * that fits the first part is returned instead. Holds two parts at most: one on its way, one filling, in the same
 * memory again and again.
 */
export async function uploadInParts(
  body: BodyStream,
  unit: number,
  uploader: PartUploader,
  signal: AbortSignal | undefined,
): Promise<Uploaded> {
  const parts: CompletedPart[] = [];
  let uploadId: string | undefined;
  let sending: Promise<CompletedPart> | undefined;
  let chunks: Buffer[] = [];
  let size = 0;
  let sent: Buffer[] = [];
  const free: Buffer[] = [];
  const take = (): Buffer => free.pop() ?? Buffer.allocUnsafeSlow(unit);
  const settle = async (): Promise<void> => {
    if (sending === undefined) return;
    const part = await sending;
    sending = undefined;
    parts.push(part);
    for (const chunk of sent) if (chunk.length === unit) free.push(chunk);
  };
  const send = async (): Promise<void> => {
    uploadId ??= await uploader.start();
    await settle();
    const partNumber = parts.length + 1;
    if (partNumber > maxParts) {
      throw new BlockError(
        'write_failed',
        'a body sent in parts can have at most 490 GiB: upload it as a multipart upload with larger parts',
      );
    }
    sending = uploader.uploadPart(uploadId, partNumber, { kind: 'bytes', chunks, size });
    // Looked at by the next settle; until then a failure must not count as unhandled.
    sending.catch(() => undefined);
    sent = chunks;
    chunks = [];
    size = 0;
  };
  try {
    for await (const chunk of unitsOf(body.stream, unit, body.size, take)) {
      signal?.throwIfAborted();
      chunks.push(chunk);
      size += chunk.length;
      if (size >= partSize(parts.length + (sending === undefined ? 1 : 2))) await send();
    }
    signal?.throwIfAborted();
    if (uploadId === undefined) return { kind: 'small', body: { kind: 'bytes', chunks, size } };
    if (size > 0) await send();
    await settle();
    return { kind: 'parts', uploadId, parts };
  } catch (error) {
    // The first error stands. An upload that cannot be ended now is swept later.
    await sending?.catch(() => undefined);
    if (uploadId !== undefined) await uploader.abort(uploadId).catch(() => undefined);
    throw error;
  }
}

/** Ranges of at most `unit` bytes that cover an object, for a copy in parts. */
export function copyRanges(size: number, unit: number): { readonly start: number; readonly end: number }[] {
  const step = Math.max(unit, Math.ceil(size / maxParts));
  const ranges = [];
  for (let start = 0; start < size; start += step)
    ranges.push({ start, end: Math.min(size, start + step) - 1 });
  return ranges;
}

/** Makes a part of unknown length sendable, which needs its length: in memory when small, else through a file. */
export async function withKnownSize<T>(
  body: BodyStream,
  unit: number,
  use: (body: RequestBody) => Promise<T>,
): Promise<T> {
  const units = unitsOf(body.stream, unit, -1);
  const chunks: Buffer[] = [];
  let size = 0;
  while (size < firstPartSize) {
    const next = await units.next();
    if (next.done === true) return await use({ kind: 'bytes', chunks, size });
    chunks.push(next.value);
    size += next.value.length;
  }
  const folder = await mkdtemp(join(tmpdir(), 'svc-part-'));
  try {
    const file = join(folder, 'part');
    await pipeline(
      Readable.from(
        (async function* () {
          yield* chunks.splice(0);
          for await (const chunk of units) {
            size += chunk.length;
            yield chunk;
          }
        })(),
      ),
      createWriteStream(file),
    );
    return await use(streamRequest(createReadStream(file, { highWaterMark: mebibyte }), size));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
