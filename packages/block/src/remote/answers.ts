import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sigV4Encode } from '@svc/encoding';
import type { ObjectBody } from '../adapter.ts';
import type { StoreResponse } from './connection.ts';

/** Copying and joining keep the store busy before it answers. */
export const longAnswerMs = 10 * 60_000;

export function streamBody({ body }: Pick<StoreResponse, 'body'>, size: number): ObjectBody {
  return {
    size,
    bytes: undefined,
    stream: (): Readable => body,
    sendTo: (sink) => pipeline(body, sink),
    dispose(): void {
      // Destroying an unfinished body reports an abort that nobody waits for.
      body.on('error', () => undefined).destroy();
    },
  };
}

export function unquote(etag: string | undefined): string {
  return etag?.replaceAll('"', '') ?? '';
}

export function dateOf(text: string | undefined): Date | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

/** The value of `Content-Disposition` that offers a download under a name. */
export function attachment(fileName: string): string {
  if (/^[\w.-]+$/.test(fileName)) return `attachment; filename=${fileName}`;
  const plain = fileName.replaceAll(/[^\u0020-\u007e]|["\\]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${sigV4Encode(fileName, 'encode')}`;
}
