import { createCalls } from './calls.ts';
import type { Calls } from './calls.ts';
import { ApiError, ClientError } from './errors.ts';
import type { components } from './generated/api.ts';
import type { ObjectStats } from './location.ts';
import { forEachParallel } from './parallel.ts';
import { minPartSize, planParts } from './part-plan.ts';
import { endsSoon } from './signed-url.ts';
import type { Transport } from './transport.ts';
import { checkMd5 } from './upload.ts';
import type { Piece, UploadSettings } from './upload.ts';

type Schemas = components['schemas'];

const parallelParts = 5;

/** What an object is read from, in one piece or in parts. */
export interface Source<Payload> {
  readonly size: number;
  /** The bytes `[start, end)`. */
  read(start: number, end: number): Piece<Payload> | Promise<Piece<Payload>>;
}

export interface PresignedUploadRequest<Payload> extends UploadSettings {
  readonly source: Source<Payload>;
  /** Whether the store takes parts; when absent it is tried. A conditional upload always goes in one piece. */
  readonly multipart?: boolean | undefined;
}

/** Sends an object straight to the object store and links it; a large one in parts where the store can. */
export async function uploadPresigned<Payload, Stream>(
  transport: Transport<Payload, Stream>,
  request: PresignedUploadRequest<Payload>,
): Promise<ObjectStats> {
  const upload = new PresignedUpload(transport, request);
  const isLarge = request.source.size >= minPartSize && request.ifAbsent !== true;
  let inParts = isLarge && request.multipart !== false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await (inParts ? upload.inParts() : upload.whole());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (inParts && request.multipart === undefined && error.status === 501) inParts = false;
      // The branch was committed between the address and the link: a new address is needed.
      else if (!error.isConflict || attempt >= transport.retry.attempts) throw error;
    }
  }
}

class PresignedUpload<Payload, Stream> {
  readonly #transport: Transport<Payload, Stream>;
  readonly #request: PresignedUploadRequest<Payload>;
  readonly #calls: Calls;

  constructor(transport: Transport<Payload, Stream>, request: PresignedUploadRequest<Payload>) {
    this.#transport = transport;
    this.#request = request;
    this.#calls = createCalls(transport);
  }

  async whole(): Promise<ObjectStats> {
    const { repository, branch, path, source, contentType, signal } = this.#request;
    const params = { path: { repository, branch } };
    const staging = await this.#calls.get('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { ...params, query: { path, presign: true } },
      signal,
    });
    const url = staging.presigned_url ?? '';
    if (url === '') throw new ClientError(`the server gave no pre-signed URL for ${path}`);
    const piece = await source.read(0, source.size);
    const checksum = await this.#put(url, piece, contentType, signal);
    return this.#calls.put('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: {
        ...params,
        query: { path },
        ...(this.#request.ifAbsent === true && { header: { 'If-None-Match': '*' } }),
      },
      body: { staging, checksum, size_bytes: source.size, ...this.#properties() },
      signal,
    });
  }

  async inParts(): Promise<ObjectStats> {
    const { repository, branch, path, source, signal } = this.#request;
    const plan = planParts(source.size);
    const upload = await this.#calls.post('/repositories/{repository}/branches/{branch}/staging/pmpu', {
      params: { path: { repository, branch }, query: { path, parts: plan.parts } },
    });
    try {
      const urls = upload.presigned_urls ?? [];
      if (urls.length !== plan.parts) {
        throw new ClientError(`the server gave ${urls.length} URLs for ${plan.parts} parts`);
      }
      const parts: Schemas['UploadPart'][] = [];
      await forEachParallel(
        urls.keys(),
        parallelParts,
        async (index, stop) => {
          let url = urls[index] ?? '';
          if (url === '' || endsSoon(url)) url = await this.#renew(upload, index + 1);
          const start = index * plan.partSize;
          const piece = await source.read(start, Math.min(start + plan.partSize, source.size));
          parts[index] = {
            part_number: index + 1,
            etag: await this.#put(url, piece, undefined, stop),
          };
        },
        signal,
      );
      return await this.#calls.put('/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}', {
        params: this.#paramsOf(upload),
        body: { physical_address: upload.physical_address, parts, ...this.#properties() },
      });
    } catch (error) {
      await this.#abort(upload, error);
      throw error;
    }
  }

  #properties(): Pick<Schemas['StagingMetadata'], 'user_metadata' | 'content_type'> {
    const { metadata, contentType } = this.#request;
    return {
      ...(metadata !== undefined && { user_metadata: { ...metadata } }),
      ...(contentType !== undefined && { content_type: contentType }),
    };
  }

  #paramsOf(upload: Schemas['PresignMultipartUpload']): {
    path: { repository: string; branch: string; uploadId: string };
    query: { path: string };
  } {
    const { repository, branch, path } = this.#request;
    return { path: { repository, branch, uploadId: upload.upload_id }, query: { path } };
  }

  async #renew(upload: Schemas['PresignMultipartUpload'], partNumber: number): Promise<string> {
    const { path, query } = this.#paramsOf(upload);
    const renewed = await this.#calls.put(
      '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}',
      {
        params: { path: { ...path, partNumber }, query },
        body: { physical_address: upload.physical_address },
      },
    );
    return renewed.presigned_url;
  }

  /** Nothing of a failed upload may stay in the store. If the removal fails too, the error names both reasons. */
  async #abort(upload: Schemas['PresignMultipartUpload'], reason: unknown): Promise<void> {
    try {
      await this.#calls.delete('/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}', {
        params: this.#paramsOf(upload),
        body: { physical_address: upload.physical_address },
      });
    } catch (error) {
      const text = (value: unknown): string => (value instanceof Error ? value.message : String(value));
      throw new ClientError(`${text(reason)}; the unfinished upload could not be removed: ${text(error)}`, {
        cause: error,
      });
    }
  }

  /** Sends bytes to a signed URL; returns the checksum the store gives back. */
  async #put(
    url: string,
    piece: Piece<Payload>,
    contentType: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const { path, onBytes } = this.#request;
    const answer = await this.#transport.store({
      method: 'PUT',
      url,
      headers: {
        ...(contentType !== undefined && { 'content-type': contentType }),
        // Azure wants to know the kind of blob; its URLs carry a shared access signature.
        ...(new URL(url).searchParams.has('sig') && { 'x-ms-blob-type': 'BlockBlob' }),
      },
      body: piece.body,
      signal,
      onBytes,
    });
    answer.discard();
    if (answer.status < 200 || answer.status >= 300) {
      throw new ClientError(`upload of ${path}: the object store answered ${answer.status}`);
    }
    const md5 = answer.header('content-md5') ?? '';
    const etag = md5 === '' ? (answer.header('etag') ?? '').replaceAll(/["\s]/g, '') : hexOfBase64(md5);
    if (etag === '') throw new ClientError(`upload of ${path}: the object store gave no ETag`);
    // With a key management service the ETag looks like an MD5 but is not.
    if (answer.header('x-amz-server-side-encryption') !== 'aws:kms') checkMd5(path, piece, etag);
    return etag;
  }
}

function hexOfBase64(text: string): string {
  return Array.from(atob(text), (byte) => (byte.codePointAt(0) ?? 0).toString(16).padStart(2, '0')).join('');
}
