import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';
import type { ObjectBody } from '../adapter.ts';
import { BlockError, type BlockErrorKind } from '../errors.ts';

export async function rejectsWith(kind: BlockErrorKind, promise: Promise<unknown>): Promise<void> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, `expected a BlockError of kind ${kind}`).toBeInstanceOf(BlockError);
  const { kind: actual, message } = error as BlockError;
  expect({ kind: actual, message }).toEqual({ kind, message });
}

/** Like `rejects.toThrow`, but to be awaited after what makes it fail. */
export async function failsWith(promise: Promise<unknown>, message: string): Promise<void> {
  await expect(promise).rejects.toThrow(message);
}

export async function contentOf(body: ObjectBody): Promise<Buffer> {
  return body.bytes ?? (await streamContent(body.stream()));
}

export async function streamContent(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
  return chunks;
}

export function sorted(keys: readonly string[]): string[] {
  return [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

export async function inParallel<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) await work(item);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
}

export function md5(bytes: Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
