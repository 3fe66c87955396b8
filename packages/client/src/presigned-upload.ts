import { ApiError } from './api-error.ts';
import type { components } from './generated/api.ts';
import { branchUrl } from './location.ts';
import type { ObjectStats, UploadTarget } from './location.ts';
import type { Transport } from './transport.ts';

type Schemas = components['schemas'];

export interface PresignedUploadOptions extends UploadTarget {
  /** Read in slices: a `Blob` of a file (`fs.openAsBlob`) is never held in memory. */
  readonly body: Blob;
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** Fails with 412 when the object exists. Only for bodies sent in one piece. */
  readonly ifAbsent?: boolean | undefined;
  /** Bodies larger than this go in parts of this size where the store can; 8 MiB when absent. */
  readonly partSize?: number | undefined;
  /** Parts sent at the same time; 4 when absent. */
  readonly parallelism?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const defaultPartSize = 8 * 1024 * 1024;
const maxParts = 10_000;

export async function uploadPresigned(
  transport: Transport,
  options: PresignedUploadOptions,
): Promise<ObjectStats> {
  const partSize = Math.max(options.partSize ?? defaultPartSize, Math.ceil(options.body.size / maxParts));
  if (options.body.size <= partSize || options.ifAbsent === true)
    return await uploadWhole(transport, options);
  try {
    return await uploadInParts(transport, options, partSize);
  } catch (error) {
    if (error instanceof ApiError && error.status === 501) return await uploadWhole(transport, options);
    throw error;
  }
}

async function uploadWhole(transport: Transport, options: PresignedUploadOptions): Promise<ObjectStats> {
  const query = new URLSearchParams({ path: options.path });
  const url = `${branchUrl(transport, options)}/staging/backing`;
  const located = await transport.call(new Request(`${url}?${query.toString()}&presign=true`), true);
  const staging = (await located.json()) as Schemas['StagingLocation'];
  const checksum = await put(transport, options, staging.presigned_url ?? '', options.body);
  const metadata: Schemas['StagingMetadata'] = {
    staging,
    checksum,
    size_bytes: options.body.size,
    ...(options.metadata !== undefined && { user_metadata: { ...options.metadata } }),
    ...(options.contentType !== undefined && { content_type: options.contentType }),
  };
  const headers = new Headers({ 'content-type': 'application/json' });
  if (options.ifAbsent === true) headers.set('if-none-match', '*');
  const link = new Request(`${url}?${query.toString()}`, {
    method: 'PUT',
    headers,
    body: JSON.stringify(metadata),
  });
  return (await (await transport.call(link, options.ifAbsent !== true)).json()) as ObjectStats;
}

async function uploadInParts(
  transport: Transport,
  options: PresignedUploadOptions,
  partSize: number,
): Promise<ObjectStats> {
  const count = Math.ceil(options.body.size / partSize);
  const query = new URLSearchParams({ path: options.path });
  const url = `${branchUrl(transport, options)}/staging/pmpu`;
  const created = await transport.call(
    new Request(`${url}?${query.toString()}&parts=${count}`, { method: 'POST' }),
    false,
  );
  const upload = (await created.json()) as Schemas['PresignMultipartUpload'];
  const one = `${url}/${encodeURIComponent(upload.upload_id)}?${query.toString()}`;
  const urls = upload.presigned_urls ?? [];
  const parts: Schemas['UploadPart'][] = [];
  let next = 0;

  async function sendParts(): Promise<void> {
    for (let index = next++; index < count; index = next++) {
      const slice = options.body.slice(index * partSize, Math.min((index + 1) * partSize, options.body.size));
      parts[index] = {
        part_number: index + 1,
        etag: await put(transport, options, urls[index] ?? '', slice),
      };
    }
  }

  try {
    await Promise.all(Array.from({ length: Math.min(options.parallelism ?? 4, count) }, sendParts));
    const body: Schemas['CompletePresignMultipartUpload'] = {
      physical_address: upload.physical_address,
      parts,
      ...(options.metadata !== undefined && { user_metadata: { ...options.metadata } }),
      ...(options.contentType !== undefined && { content_type: options.contentType }),
    };
    return (await (await transport.call(jsonRequest(one, 'PUT', body), false)).json()) as ObjectStats;
  } catch (error) {
    next = count;
    const abort = jsonRequest(one, 'DELETE', { physical_address: upload.physical_address });
    await transport.call(abort, false).catch(() => undefined);
    throw error;
  }
}

/** Sends bytes to a presigned URL; returns the checksum the store gives back. */
async function put(
  transport: Transport,
  options: PresignedUploadOptions,
  url: string,
  body: Blob,
): Promise<string> {
  const headers = new Headers();
  // Azure wants to know what kind of blob is written; its URLs carry a shared access signature.
  if (new URL(url).searchParams.has('sig')) headers.set('x-ms-blob-type', 'BlockBlob');
  const request = new Request(url, {
    method: 'PUT',
    headers,
    body,
    ...(options.signal !== undefined && { signal: options.signal }),
  });
  const response = await transport.transfer(request);
  await response.body?.cancel();
  return (response.headers.get('etag') ?? '').replaceAll('"', '');
}

function jsonRequest(url: string, method: string, body: object): Request {
  return new Request(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
