import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import type { Body } from '../http/http-sender.ts';

/** Files up to this size are read at once: one read instead of a stream. */
const smallFile = 256 * 1024;
const readSize = 256 * 1024;

/** A prepared body and its MD5, which is known once the body was sent. */
export interface HashedBody {
  readonly body: Body | undefined;
  readonly md5: () => string;
}

/** The bytes `[start, end)` of a file, never more than a buffer of them in memory. */
export async function fileBody(
  file: string,
  range: { readonly start: number; readonly end: number },
  onBytes?: (count: number) => void,
): Promise<HashedBody> {
  const { start, end } = range;
  const length = end - start;
  if (length === 0) return { body: undefined, md5: () => createHash('md5').digest('hex') };
  if (start === 0 && length <= smallFile) {
    const bytes = await readFile(file);
    if (bytes.length !== length) throw new Error(`${file} changed while it was read`);
    onBytes?.(length);
    return { body: bytes, md5: () => createHash('md5').update(bytes).digest('hex') };
  }
  let hash = createHash('md5');
  let counted = 0;
  return {
    md5: () => hash.digest('hex'),
    body: {
      length,
      open() {
        // Another try begins from the start.
        hash = createHash('md5');
        onBytes?.(-counted);
        counted = 0;
        const stream = createReadStream(file, { start, end: end - 1, highWaterMark: readSize });
        stream.on('data', (chunk) => {
          hash.update(chunk);
          counted += chunk.length;
          onBytes?.(chunk.length);
        });
        return stream;
      },
    },
  };
}

export function isPlainMd5(checksum: string): boolean {
  return /^[0-9a-f]{32}$/.test(checksum);
}
