import { Readable } from 'node:stream';
import { randomBytes } from 'node:crypto';
import { ApiError, type components, type ObjectStats } from '@svc/client';
import { CliError } from '../errors.ts';
import type { Connection } from '../http/connection.ts';
import { expectStatus } from '../http/refusal.ts';
import { readAll, type Body, type HttpResponse } from '../http/http-sender.ts';
import type { PresignSupport } from '../presign.ts';
import { minPartSize, planParts } from './part-plan.ts';
import { endsSoon } from './signed-url.ts';
import { fileBody, isPlainMd5, type HashedBody } from './upload-source.ts';
import { forEachParallel } from './parallel.ts';

type Schemas = components['schemas'];

const parallelParts = 5;

export interface UploaderOptions {
  readonly connection: Connection;
  readonly repository: string;
  readonly branch: string;
  readonly presign: PresignSupport;
  /** How often an upload begins again after the branch moved under it. */
  readonly restarts: number;
}

export interface UploadRequest {
  readonly path: string;
  readonly file: string;
  readonly size: number;
  readonly contentType?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Negative when a part is sent again. */
  readonly onBytes?: ((count: number) => void) | undefined;
}

/** Sends files to one branch, through the service or straight to its store. */
export class Uploader {
  readonly #options: UploaderOptions;
  readonly #branchPath: string;

  constructor(options: UploaderOptions) {
    this.#options = options;
    this.#branchPath = `/repositories/${encodeURIComponent(options.repository)}/branches/${encodeURIComponent(options.branch)}`;
  }

  async upload(request: UploadRequest): Promise<ObjectStats> {
    const { presign, restarts } = this.#options;
    if (!presign.supported) return this.#throughService(request);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await (presign.multipart && request.size >= minPartSize
          ? this.#inParts(request)
          : this.#whole(request));
      } catch (error) {
        // The branch was committed between the address and the link: a new address is needed.
        if (!(error instanceof ApiError) || !error.isConflict || attempt >= restarts) throw error;
      }
    }
  }

  async #throughService(request: UploadRequest): Promise<ObjectStats> {
    const { path, file, size, contentType, signal } = request;
    const content = await fileBody(file, { start: 0, end: size }, request.onBytes);
    const boundary = `svcctl${randomBytes(12).toString('hex')}`;
    const answer = await this.#options.connection.api({
      method: 'POST',
      path: `${this.#branchPath}/objects?path=${encodeURIComponent(path)}`,
      headers: {
        'content-type': `multipart/form-data; boundary=${boundary}`,
        ...metadataHeaders(request.metadata ?? {}),
      },
      body: formBody(boundary, path, contentType ?? 'application/octet-stream', content),
      signal,
    });
    await expectStatus(answer, 201);
    const stats = await json<ObjectStats>(answer);
    checkMd5(request, content.md5(), stats.checksum);
    return stats;
  }

  async #whole(request: UploadRequest): Promise<ObjectStats> {
    const { path, file, size, contentType, metadata, signal } = request;
    const { client } = this.#options.connection;
    const params = { path: { repository: this.#options.repository, branch: this.#options.branch } };
    const staging = await client.get('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { ...params, query: { path, presign: true } },
      ...(signal !== undefined && { signal }),
    });
    const url = staging.presigned_url ?? '';
    if (url === '') throw new CliError(`the server gave no pre-signed URL for ${path}`);
    const content = await fileBody(file, { start: 0, end: size }, request.onBytes);
    const checksum = await this.#put(request, url, content, contentType);
    return client.put('/repositories/{repository}/branches/{branch}/staging/backing', {
      params: { ...params, query: { path } },
      body: {
        staging,
        checksum,
        size_bytes: size,
        ...(metadata !== undefined && { user_metadata: { ...metadata } }),
        ...(contentType !== undefined && { content_type: contentType }),
      },
      ...(signal !== undefined && { signal }),
    });
  }

  async #inParts(request: UploadRequest): Promise<ObjectStats> {
    const { path, size, contentType, metadata, signal } = request;
    const { connection, repository, branch } = this.#options;
    const { client } = connection;
    const plan = planParts(size);
    const upload = await client.post('/repositories/{repository}/branches/{branch}/staging/pmpu', {
      params: { path: { repository, branch }, query: { path, parts: plan.parts } },
    });
    const params = { path: { repository, branch, uploadId: upload.upload_id }, query: { path } };
    try {
      const urls = upload.presigned_urls ?? [];
      if (urls.length !== plan.parts) {
        throw new CliError(`the server gave ${urls.length} URLs for ${plan.parts} parts`);
      }
      const parts: Schemas['UploadPart'][] = [];
      await forEachParallel(
        urls.keys(),
        parallelParts,
        async (index, stop) => {
          let url = urls[index] ?? '';
          if (url === '' || endsSoon(url)) url = await this.#renew(params.path, path, index + 1, upload);
          const start = index * plan.partSize;
          const range = { start, end: Math.min(start + plan.partSize, size) };
          const content = await fileBody(request.file, range, request.onBytes);
          const etag = await this.#put({ ...request, signal: stop }, url, content, undefined);
          parts[index] = { part_number: index + 1, etag };
        },
        signal,
      );
      return await client.put('/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}', {
        params,
        body: {
          physical_address: upload.physical_address,
          parts,
          ...(metadata !== undefined && { user_metadata: { ...metadata } }),
          ...(contentType !== undefined && { content_type: contentType }),
        },
      });
    } catch (error) {
      await this.#abort(params, upload.physical_address, error);
      throw error;
    }
  }

  async #renew(
    location: { repository: string; branch: string; uploadId: string },
    path: string,
    partNumber: number,
    upload: Schemas['PresignMultipartUpload'],
  ): Promise<string> {
    const renewed = await this.#options.connection.client.put(
      '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}',
      {
        params: { path: { ...location, partNumber }, query: { path } },
        body: { physical_address: upload.physical_address },
      },
    );
    return renewed.presigned_url;
  }

  /** Nothing of a failed upload may stay in the store; when that fails too, both reasons are told. */
  async #abort(
    params: { path: { repository: string; branch: string; uploadId: string }; query: { path: string } },
    physicalAddress: string,
    reason: unknown,
  ): Promise<void> {
    try {
      await this.#options.connection.client.delete(
        '/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}',
        { params, body: { physical_address: physicalAddress } },
      );
    } catch (error) {
      const text = (value: unknown): string => (value instanceof Error ? value.message : String(value));
      throw new CliError(`${text(reason)}; the unfinished upload could not be removed: ${text(error)}`, {
        cause: error,
      });
    }
  }

  /** Sends bytes to a pre-signed URL and answers the checksum of the store. */
  async #put(
    request: UploadRequest,
    url: string,
    content: HashedBody,
    contentType: string | undefined,
  ): Promise<string> {
    const answer = await this.#options.connection.sender.send({
      method: 'PUT',
      url,
      headers: {
        ...(contentType !== undefined && { 'content-type': contentType }),
        // Azure wants to know the kind of blob; its URLs carry a shared access signature.
        ...(new URL(url).searchParams.has('sig') && { 'x-ms-blob-type': 'BlockBlob' }),
      },
      body: content.body,
      signal: request.signal,
    });
    answer.stream.resume();
    if (answer.status < 200 || answer.status >= 300) {
      throw new CliError(`upload of ${request.path}: the object store answered ${answer.status}`);
    }
    const md5 = answer.headers['content-md5'];
    const etag =
      typeof md5 === 'string' && md5 !== ''
        ? Buffer.from(md5, 'base64').toString('hex')
        : (answer.headers.etag ?? '').replaceAll(/["\s]/g, '');
    if (etag === '') throw new CliError(`upload of ${request.path}: the object store gave no ETag`);
    // With keys of a key service the ETag is no MD5 although it looks like one.
    if (answer.headers['x-amz-server-side-encryption'] !== 'aws:kms') checkMd5(request, content.md5(), etag);
    return etag;
  }
}

function checkMd5(request: UploadRequest, sent: string, received: string): void {
  if (!isPlainMd5(received) || sent === received) return;
  throw new CliError(
    `upload of ${request.path}: the bytes changed on the way (MD5 sent ${sent}, received ${received})`,
  );
}

async function json<T>(answer: HttpResponse): Promise<T> {
  const text = (await readAll(answer.stream)).toString('utf8');
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new CliError('Bad response from server');
  }
}

/** `::lakefs::x` travels as an internal header, everything else as user metadata. */
export function metadataHeaders(metadata: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(metadata)) {
    const internal = key.startsWith('::lakefs::');
    headers[internal ? `x-lakefs-internal-${key.slice(10)}` : `x-lakefs-meta-${key}`] = value;
  }
  return headers;
}

/** A form with one file field around the content, of known length. */
function formBody(boundary: string, path: string, contentType: string, content: HashedBody): Body {
  const name = (path.split('/').at(-1) ?? '').replaceAll(/["\\\r\n]/g, '_');
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="content"; filename="${name}"\r\ncontent-type: ${contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { body } = content;
  if (body === undefined || body instanceof Uint8Array) {
    return Buffer.concat([head, body ?? Buffer.alloc(0), tail]);
  }
  return {
    length: head.length + body.length + tail.length,
    open: () => Readable.from(framed(head, body.open(), tail), { objectMode: false }),
  };
}

async function* framed(head: Buffer, content: Readable, tail: Buffer): AsyncGenerator<Buffer> {
  yield head;
  for await (const chunk of content) yield chunk as Buffer;
  yield tail;
}
