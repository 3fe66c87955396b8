import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  EngineError,
  userMetadata,
  type ObjectEntry,
  type Objects,
  type UploadObjectOptions,
  type WriteCondition,
} from '@svc/engine';
import type { Call, HandlersOf } from '../../call.ts';
import { mediaTypeOf, readBytes } from '../../request/json-body.ts';
import { readFormFile } from '../../request/form-file.ts';
import { RequestError } from '../../request/request-error.ts';
import { UploadStream } from '../../request/upload-stream.ts';
import { defaultContentType, objectView } from '../../views/object.ts';
import { headerMetadata } from './header-metadata.ts';

/** Bodies up to this size are collected first: one write is cheaper than a stream. A refused larger body stays unread. */
const smallBody = 256 * 1024;

export function uploadHandler(objects: Objects): HandlersOf<'objects'>['uploadObject'] {
  return async (call) => {
    const { params, query, headers, request } = call;
    const condition = writeCondition(headers);
    const target = {
      ...params,
      path: query.path,
      force: query.force,
      ...condition,
      metadata: headerMetadata(request),
    };
    const entry = await receive(call, (body, contentType, signal) =>
      conditional(condition, () =>
        objects.upload({ ...target, body, contentType, storageClass: query.storageClass, signal }),
      ),
    );
    return objectView(entry, { storedContentType: true });
  };
}

/** Like an upload, with nothing staged. */
export function scratchUploadHandler(objects: Objects): HandlersOf<'merges'>['uploadScratchObject'] {
  return async (call) => {
    const { params, query, request } = call;
    const target = { ...params, path: query.path, force: query.force, metadata: headerMetadata(request) };
    const entry = await receive(call, (body, contentType, signal) =>
      objects.uploadScratch({ ...target, body, contentType, signal }),
    );
    return {
      physical_address: entry.physicalAddress,
      checksum: entry.etag,
      size_bytes: entry.size,
      content_type: entry.contentType,
      user_metadata: userMetadata(entry.metadata),
      mtime: entry.mtime.seconds,
    };
  };
}

type Receive = (
  body: UploadObjectOptions['body'],
  contentType: string,
  signal?: AbortSignal,
) => Promise<ObjectEntry>;

/** Hands on the body of an upload, however it was sent. */
async function receive(
  { request, response, memory }: Pick<Call, 'request' | 'response' | 'memory'>,
  upload: Receive,
): Promise<ObjectEntry> {
  const given = request.headers['content-type'] ?? '';
  const isForm = mediaTypeOf(given) === 'multipart/form-data';
  const contentType = given === '' ? defaultContentType : given;
  const length = request.headers['content-length'];
  if (!isForm && length !== undefined && Number(length) <= smallBody) {
    return upload(await readBytes(request, { maxBytes: smallBody, memory }), contentType);
  }
  return untilGone(response, (signal) =>
    isForm
      ? readFormFile(request, 'content', (file) =>
          upload({ stream: file.stream, size: -1 }, file.contentType, signal),
        )
      : uploadStreamed(request, (stream) =>
          upload({ stream, size: length === undefined ? -1 : Number(length) }, contentType, signal),
        ),
  );
}

/** Gives the body up when the upload fails: its reader may still hold the stream. */
async function uploadStreamed<T>(
  request: IncomingMessage,
  upload: (stream: UploadStream) => Promise<T>,
): Promise<T> {
  const stream = new UploadStream(request);
  try {
    return await upload(stream);
  } catch (error) {
    stream.destroy();
    throw error;
  }
}

/** Runs work that is aborted when the client leaves. */
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

/** `If-None-Match: *` writes a new object, `If-Match` replaces the one with that ETag (`*`: any). */
export function writeCondition(headers: {
  readonly 'if-match'?: string;
  readonly 'if-none-match'?: string;
}): WriteCondition {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (
    (ifMatch !== undefined && ifNoneMatch !== undefined) ||
    (ifNoneMatch !== undefined && ifNoneMatch !== '*')
  ) {
    throw new RequestError(501, 'Not Implemented');
  }
  if (ifNoneMatch !== undefined) return { ifNoneMatch };
  return ifMatch === undefined ? {} : { ifMatch: ifMatch.trim().replace(/^"(.*)"$/s, '$1') };
}

/** Runs a write. When `If-Match` finds no object, or one that changed meanwhile, the condition failed. */
export async function conditional<T>(condition: WriteCondition, write: () => Promise<T>): Promise<T> {
  if (condition.ifMatch === undefined) return write();
  try {
    return await write();
  } catch (error) {
    const failed =
      error instanceof EngineError &&
      error.subject === 'object' &&
      (error.kind === 'not_found' || error.kind === 'conflict');
    throw failed ? new RequestError(412, 'Precondition failed') : error;
  }
}
