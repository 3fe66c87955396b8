import { checkSuccess } from './answers.ts';
import type { FetchPayload, FetchStream } from './fetch-sender.ts';
import type { ObjectLocation, ObjectStats } from './location.ts';
import { openObject } from './open-object.ts';
import type { OpenOptions } from './open-object.ts';
import { uploadPresigned } from './presigned-upload.ts';
import type { Answer } from './sender.ts';
import type { Transport } from './transport.ts';
import { uploadObject, uploadScratch } from './upload.ts';
import type { ResolutionObject, UploadSettings } from './upload.ts';

export type UploadBody = string | FetchPayload;

export interface UploadOptions extends UploadSettings {
  readonly body: UploadBody;
  readonly force?: boolean | undefined;
}

export interface PresignedUploadOptions extends UploadSettings {
  /** Read in slices: a `Blob` of a file (`fs.openAsBlob`) is never held in memory. */
  readonly body: Blob;
}

export interface Download {
  /** Null when the object has not changed since `ifNoneMatch`. */
  readonly body: ReadableStream<Uint8Array> | null;
  readonly status: number;
  readonly size: number | undefined;
  readonly contentType: string;
  readonly etag: string | undefined;
  readonly lastModified: Date | undefined;
}

export interface ObjectTransfer {
  /** Sends a body through the service. A stream is sent as it comes and is never repeated. */
  upload(options: UploadOptions): Promise<ObjectStats>;
  /** Sends the data of a resolution: an object once a merge into the branch takes it. */
  uploadScratch(options: UploadOptions): Promise<ResolutionObject>;
  download(options: OpenOptions): Promise<Download>;
  /** Size, type and etag without the data. */
  head(location: ObjectLocation): Promise<Omit<Download, 'body'>>;
  /** Sends a body straight to the object store and links it; large ones in parts where the store can. */
  uploadPresigned(options: PresignedUploadOptions): Promise<ObjectStats>;
}

export function createObjectTransfer(transport: Transport<FetchPayload, FetchStream>): ObjectTransfer {
  return {
    upload({ body, ...options }) {
      const repeat = !(body instanceof ReadableStream);
      return uploadObject(transport, { ...options, piece: { body }, repeat });
    },

    uploadScratch({ body, ...options }) {
      const repeat = !(body instanceof ReadableStream);
      return uploadScratch(transport, { ...options, piece: { body }, repeat });
    },

    async download(options) {
      const answer = await openObject(transport, options);
      return { body: answer.status === 304 ? null : answer.body, ...headOf(answer) };
    },

    async head({ repository, ref, path }) {
      const answer = await transport.call({
        method: 'HEAD',
        path: '/repositories/{repository}/refs/{ref}/objects',
        params: { path: { repository, ref }, query: { path } },
      });
      await checkSuccess(answer);
      return headOf(answer);
    },

    uploadPresigned({ body, ...options }) {
      const read = (start: number, end: number) => ({ body: body.slice(start, end) });
      return uploadPresigned(transport, { ...options, source: { size: body.size, read } });
    },
  };
}

function headOf(answer: Answer<FetchStream>): Omit<Download, 'body'> {
  const size = answer.header('content-length');
  const modified = answer.header('last-modified');
  return {
    status: answer.status,
    size: size === undefined ? undefined : Number(size),
    contentType: answer.header('content-type') ?? 'application/octet-stream',
    etag: answer.header('etag'),
    lastModified: modified === undefined ? undefined : new Date(modified),
  };
}
