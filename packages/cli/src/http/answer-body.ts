import { Readable } from 'node:stream';

/** What an answer brings, read once. */
export interface AnswerBody {
  /** Hands over the bytes as they come; the next ones overwrite them. Fails when the connection breaks. */
  forEach(take: (bytes: Buffer) => void): Promise<void>;
  stream(): Readable;
  /** Nothing more of it is wanted. */
  discard(): void;
}

export function streamBody(stream: Readable): AnswerBody {
  return {
    async forEach(take) {
      for await (const chunk of stream) take(chunk as Buffer);
    },
    stream: () => stream,
    discard: () => void stream.resume(),
  };
}

/** A body that is in memory, or what came of it before the connection broke. */
export function bytesBody(bytes: Buffer, broken?: Error): AnswerBody {
  return {
    forEach(take) {
      if (bytes.length > 0) take(bytes);
      return broken === undefined ? Promise.resolve() : Promise.reject(broken);
    },
    stream() {
      const stream = new Readable({ read: () => undefined });
      stream.push(bytes);
      if (broken === undefined) stream.push(null);
      else stream.destroy(broken);
      return stream;
    },
    discard: () => undefined,
  };
}

export async function readText(body: AnswerBody): Promise<string> {
  const chunks: Buffer[] = [];
  await body.forEach((bytes) => chunks.push(Buffer.from(bytes)));
  return Buffer.concat(chunks).toString('utf8');
}
