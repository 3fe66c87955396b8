import { branchUrl, refUrl } from './location.ts';
import type { ObjectLocation, ObjectStats, UploadTarget } from './location.ts';
import { uploadPresigned } from './presigned-upload.ts';
import type { PresignedUploadOptions } from './presigned-upload.ts';
import type { Transport } from './transport.ts';

export type UploadBody = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

export interface UploadOptions extends UploadTarget {
  readonly body: UploadBody;
  /** `application/octet-stream` when absent. */
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Fails with 412 when the object exists. */
  readonly ifAbsent?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DownloadOptions extends ObjectLocation {
  /** Inclusive bounds; `end` absent is to the end of the object. */
  readonly range?: { readonly start: number; readonly end?: number | undefined } | undefined;
  /** Read straight from the object store. */
  readonly presign?: boolean | undefined;
  readonly ifNoneMatch?: string | undefined;
  readonly signal?: AbortSignal | undefined;
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
  download(options: DownloadOptions): Promise<Download>;
  /** Size, type and etag without the data. */
  head(location: ObjectLocation): Promise<Omit<Download, 'body'>>;
  /** Sends a body straight to the object store and links it; large ones in parts where the store can. */
  uploadPresigned(options: PresignedUploadOptions): Promise<ObjectStats>;
}

export function createObjectTransfer(transport: Transport): ObjectTransfer {
  return {
    async upload(options) {
      const query = new URLSearchParams({ path: options.path });
      if (options.force === true) query.set('force', 'true');
      const headers = new Headers({ 'content-type': options.contentType ?? 'application/octet-stream' });
      if (options.ifAbsent === true) headers.set('if-none-match', '*');
      for (const [key, value] of Object.entries(options.metadata ?? {})) {
        headers.set(`x-lakefs-meta-${key}`, value);
      }
      const isStream = options.body instanceof ReadableStream;
      const request = new Request(`${branchUrl(transport, options)}/objects?${query.toString()}`, {
        method: 'POST',
        headers,
        body: options.body,
        ...(isStream && { duplex: 'half' }),
        ...(options.signal !== undefined && { signal: options.signal }),
      });
      const response = await transport.call(request, !isStream && options.ifAbsent !== true);
      return (await response.json()) as ObjectStats;
    },

    async download(options) {
      const query = new URLSearchParams({ path: options.path });
      if (options.presign === true) query.set('presign', 'true');
      const headers = new Headers();
      if (options.range !== undefined) {
        headers.set('range', `bytes=${options.range.start}-${options.range.end ?? ''}`);
      }
      if (options.ifNoneMatch !== undefined) headers.set('if-none-match', options.ifNoneMatch);
      const request = new Request(`${refUrl(transport, options)}/objects?${query.toString()}`, {
        headers,
        ...(options.signal !== undefined && { signal: options.signal }),
      });
      const response = await transport.call(request, true);
      return { body: response.status === 304 ? null : response.body, ...headOf(response) };
    },

    async head(location) {
      const query = new URLSearchParams({ path: location.path });
      const request = new Request(`${refUrl(transport, location)}/objects?${query.toString()}`, {
        method: 'HEAD',
      });
      return headOf(await transport.call(request, true));
    },

    uploadPresigned(options) {
      return uploadPresigned(transport, options);
    },
  };
}

function headOf(response: Response): Omit<Download, 'body'> {
  const size = response.headers.get('content-length');
  const modified = response.headers.get('last-modified');
  return {
    status: response.status,
    size: size === null ? undefined : Number(size),
    contentType: response.headers.get('content-type') ?? 'application/octet-stream',
    etag: response.headers.get('etag') ?? undefined,
    lastModified: modified === null ? undefined : new Date(modified),
  };
}
