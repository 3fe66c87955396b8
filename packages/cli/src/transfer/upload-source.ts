import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import type { Piece, Source } from '@svc/client';
import type { Payload } from '../http/node-sender.ts';

/** Files up to this size are read at once: one read instead of a stream. */
const smallFile = 1024 * 1024;
const readSize = 256 * 1024;

/** A file as the source of an upload, never more than a buffer of it in memory. */
export function fileSource(file: string, size: number): Source<Payload> {
  return { size, read: (start, end) => readPiece(file, start, end) };
}

function readPiece(file: string, start: number, end: number): Piece<Payload> {
  const length = end - start;
  if (length === 0) return { body: undefined, md5: () => createHash('md5').digest('hex') };
  if (start === 0 && length <= smallFile) {
    const bytes = readFileSync(file);
    if (bytes.length !== length) throw new Error(`${file} changed while it was read`);
    return { body: bytes, md5: () => createHash('md5').update(bytes).digest('hex') };
  }
  let hash = createHash('md5');
  return {
    md5: () => hash.digest('hex'),
    body: {
      length,
      open() {
        // Another try starts from the beginning.
        hash = createHash('md5');
        const stream = createReadStream(file, { start, end: end - 1, highWaterMark: readSize });
        stream.on('data', (chunk) => hash.update(chunk));
        return stream;
      },
    },
  };
}
