import type { ServerResponse } from 'node:http';
import type { ObjectEntry, Objects, UploadObjectOptions } from '@svc/engine';
import type { Operations } from '@svc/contract';
import type { Handler } from '../call.ts';
import { mediaTypeOf, readBytes } from '../request/json-body.ts';
import { readFormFile } from '../request/form-file.ts';
import { RequestError } from '../request/request-error.ts';
import { defaultContentType, objectView } from '../views/object.ts';
import { headerMetadata } from './header-metadata.ts';

/** Bodies up to this size are collected first: one write costs less than a stream. Others are refused unread. */
const smallBody = 256 * 1024;

export function uploadHandler(objects: Objects): Handler<Operations['uploadObject']> {
  return async ({ params, query, headers, request, response, memory }) => {
    const target = {
      ...params,
      path: query.path,
      force: query.force,
      ifNoneMatch: createOnly(headers),
      metadata: headerMetadata(request),
    };
    const upload = (body: UploadObjectOptions['body'], contentType: string, signal?: AbortSignal) =>
      objects.upload({ ...target, body, contentType, storageClass: query.storageClass, signal });
    const given = request.headers['content-type'] ?? '';
    const isForm = mediaTypeOf(given) === 'multipart/form-data';
    const contentType = given === '' ? defaultContentType : given;
    const length = request.headers['content-length'];
    let entry: ObjectEntry;
    if (!isForm && length !== undefined && Number(length) <= smallBody) {
      entry = await upload(await readBytes(request, { maxBytes: smallBody, memory }), contentType);
    } else {
      entry = await untilGone(response, (signal) =>
        isForm
          ? readFormFile(request, 'content', (file) =>
              upload({ stream: file.stream, size: -1 }, file.contentType, signal),
            )
          : upload(
              { stream: request, size: length === undefined ? -1 : Number(length) },
              contentType,
              signal,
            ),
      );
    }
    return objectView(entry, { storedContentType: true });
  };
}

/** Runs work that a leaving client aborts. */
async function untilGone<T>(response: ServerResponse, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const stop = (): void => {
    if (!response.writableEnded) gone.abort(new RequestError(499, 'the client went away'));
  };
  response.once('close', stop);
  try {
    return await work(gone.signal);
  } finally {
    response.off('close', stop);
  }
}

/** `If-None-Match: *` is the only condition of this operation. */
export function createOnly(headers: {
  readonly 'if-match'?: string;
  readonly 'if-none-match'?: string;
}): '*' | undefined {
  const ifNoneMatch = headers['if-none-match'];
  if (headers['if-match'] !== undefined || (ifNoneMatch !== undefined && ifNoneMatch !== '*')) {
    throw new RequestError(501, 'Not Implemented');
  }
  return ifNoneMatch;
}
