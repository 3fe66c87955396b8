import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { RequestError } from './request-error.ts';

export interface FormFile {
  readonly stream: Readable;
  /** The part's own type; `''` when it has none. */
  readonly contentType: string;
}

interface PartHeader {
  readonly 'content-disposition'?: readonly string[];
  readonly 'content-type'?: readonly string[];
}

/**
 * Streams the first part of that name of a `multipart/form-data` body to `use`. Other parts are skipped. A form
 * that ends early fails the stream, so that nothing half-read is taken for the whole.
 */
export function readFormFile<Result>(
  request: IncomingMessage,
  name: string,
  use: (file: FormFile) => Promise<Result>,
): Promise<Result> {
  const boundary = boundaryOf(request.headers['content-type'] ?? '');
  if (boundary === undefined) return Promise.reject(malformed('no boundary'));
  const parser = new Dicer({ boundary, maxHeaderPairs: 100 });
  return new Promise((resolve, reject) => {
    let file: Readable | undefined;

    function fail(error: Error): void {
      request.unpipe(parser);
      file?.destroy(error);
      reject(error);
    }
    parser.on('part', (part) => {
      // The part's head never ended. Unread data would keep the form from finishing.
      part.resume();
      part.on('error', () => fail(malformed('it ends inside a part')));
      part.on('header', (header: PartHeader) => {
        if (file !== undefined || nameOf(header['content-disposition']?.[0] ?? '') !== name) return;
        file = part;
        part.pause();
        use({ stream: part, contentType: header['content-type']?.[0]?.trim() ?? '' }).then(
          resolve,
          (error: unknown) => fail(error as Error),
        );
      });
    });
    parser.on('error', () => fail(malformed('it ends early')));
    parser.on('finish', () => {
      if (file === undefined) reject(new RequestError(400, `the form has no part named "${name}"`));
    });
    request.once('error', fail);
    request.once('close', () => {
      if (!request.complete) fail(new RequestError(499, 'the client went away'));
    });
    request.pipe(parser);
  });
}

function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;",]{1,200}))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

function nameOf(disposition: string): string | undefined {
  const match = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i.exec(disposition);
  return match?.[1] ?? match?.[2];
}

function malformed(reason: string): RequestError {
  return new RequestError(400, `request body has an error: malformed multipart form: ${reason}`);
}
