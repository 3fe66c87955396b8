import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BodyStream } from '../adapter.ts';

/** A stream whose MD5 is known once it has been read; a caller that hashes itself is asked instead. */
export function hashedBody(body: BodyStream): {
  readonly stream: Readable;
  readonly md5: () => string | Promise<string>;
} {
  if (body.md5 !== undefined) return { stream: body.stream, md5: body.md5 };
  const hash = createHash('md5');
  const { stream } = body;
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const chunk of stream) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  }
  let digest: string | undefined;
  return {
    stream: Readable.from(hashed(), { objectMode: false }),
    md5: () => (digest ??= hash.digest('hex')),
  };
}
