import { setTimeout as delay } from 'node:timers/promises';
import type {
  CopyResult,
  DeleteManyOptions,
  ObjectBody,
  ObjectProperties,
  PutOptions,
  PutResult,
} from '../../adapter.ts';
import { bytesBody, smallObjectSize } from '../../body.ts';
import type { BlockLogger } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import type { BatchDeletes } from '../../remote/batch-deletes.ts';
import { batchBody, batchStatuses, batchType, isGone } from '../../remote/batch-request.ts';
import { dateOf, streamBody, unquote } from '../../remote/answers.ts';
import { connectionFailure, type StoreResponse } from '../../remote/connection.ts';
import { bytesRequest, type RequestBody } from '../../remote/request-body.ts';
import type { BlobPlace } from './addresses.ts';
import type { AzureClient, AzureRequest } from './client.ts';

const plainText = /^[ -~]+$/;
const tiers = ['Hot', 'Cool', 'Cold', 'Archive'];
/** Copy Blob From URL takes no more; larger ones are copied in the background. */
const maxSynchronousCopy = 256 * 1024 * 1024;
const copyPollMs = 5000;

export interface BlobProperties extends ObjectProperties {
  readonly contentType: string | undefined;
  readonly metadata: (name: string) => string | undefined;
}

/** Calls about one blob as a whole. */
export class BlobCalls implements BatchDeletes<BlobPlace> {
  readonly batchSize = 256;
  readonly #client: AzureClient;
  readonly #logger: BlockLogger | undefined;
  readonly #maxSynchronousCopy: number;

  constructor(client: AzureClient, logger: BlockLogger | undefined, maxCopy = maxSynchronousCopy) {
    this.#client = client;
    this.#logger = logger;
    this.#maxSynchronousCopy = maxCopy;
  }

  async put(
    place: BlobPlace,
    body: RequestBody,
    options: PutOptions,
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<PutResult> {
    const headers: Record<string, string> = {
      'x-ms-blob-type': 'BlockBlob',
      ...this.writeHeaders(options),
      ...ifAbsentHeader(options),
    };
    for (const [name, value] of Object.entries(metadata)) headers[`x-ms-meta-${name}`] = value;
    const response = await this.#client.send({ method: 'PUT', place, headers, body, signal: options.signal });
    await response.body.dump();
    return writtenResult(response);
  }

  /** What a blob keeps beside its content. */
  writeHeaders(options: PutOptions): Record<string, string> {
    const headers: Record<string, string> = {};
    const { storageClass, contentType } = options;
    const tier = tiers.find((name) => name.toLowerCase() === storageClass?.toLowerCase());
    if (tier !== undefined) headers['x-ms-access-tier'] = tier;
    else if (storageClass) {
      this.#logger?.warn({ storageClass }, 'the storage class is no access tier of Azure and is left out');
    }
    // The entry keeps the type; the store is told only what can stand in a signed header.
    if (contentType && plainText.test(contentType)) headers['x-ms-blob-content-type'] = contentType;
    return headers;
  }

  async open(
    place: BlobPlace,
    range?: { readonly start: number; readonly end: number },
  ): Promise<ObjectBody> {
    const headers: Record<string, string> = {};
    if (range !== undefined) headers['x-ms-range'] = `bytes=${range.start}-${range.end}`;
    const request: AzureRequest = { method: 'GET', place, headers };
    const target = this.#client.addresses.uriOf(place);
    for (let attempt = 1; ; attempt++) {
      const response = await this.#client.send(request);
      if (isFolder(response)) {
        await response.body.dump();
        throw new BlockError('not_found', `${target} is a directory`);
      }
      const size = Number(response.header('content-length'));
      // Emulators answer a range beyond the end with nothing.
      if (range !== undefined && (response.status !== 206 || size === 0)) {
        await response.body.dump();
        throw new BlockError('bad_index', `bad index: bytes ${range.start}-${range.end} of ${target}`);
      }
      if (!Number.isSafeInteger(size)) {
        await response.body.dump();
        throw new BlockError('unavailable', `${target}: the store answered without a length`);
      }
      if (size > smallObjectSize) return streamBody(response, size);
      try {
        return bytesBody(Buffer.from(await response.body.arrayBuffer()));
      } catch (error) {
        const failure = connectionFailure(error);
        if (failure === undefined) throw error;
        if (attempt < 3) continue;
        throw new BlockError('unavailable', `${target}: the answer broke off: ${failure}`, { cause: error });
      }
    }
  }

  async head(place: BlobPlace): Promise<BlobProperties> {
    const response = await this.#client.send({ method: 'HEAD', place });
    await response.body.dump();
    if (isFolder(response)) {
      throw new BlockError('not_found', `${this.#client.addresses.uriOf(place)} is a directory`);
    }
    return {
      size: Number(response.header('content-length') ?? 0),
      etag: contentEtag(response.header('content-md5'), response.header('etag')),
      lastModified: dateOf(response.header('last-modified')) ?? new Date(0),
      storageClass: response.header('x-ms-access-tier'),
      contentType: response.header('content-type'),
      metadata: (name) => response.header(`x-ms-meta-${name}`),
    };
  }

  /** Idempotent. */
  async delete(place: BlobPlace, options: DeleteManyOptions = {}): Promise<void> {
    try {
      await (await this.#client.send({ method: 'DELETE', place, ...options })).body.dump();
    } catch (error) {
      if (!(error instanceof BlockError && error.kind === 'not_found')) throw error;
    }
  }

  groupOf({ account, container }: BlobPlace): string {
    return `${account}/${container}`;
  }

  /** Of one container: a role on that alone allows it. */
  async deleteBatch(
    places: readonly BlobPlace[],
    options: DeleteManyOptions,
  ): Promise<ReadonlySet<BlobPlace>> {
    const [first] = places;
    if (first === undefined) return new Set();
    const response = await this.#client.send({
      method: 'POST',
      place: { account: first.account, container: first.container },
      query: [
        ['restype', 'container'],
        ['comp', 'batch'],
      ],
      headers: { 'content-type': batchType },
      body: batchBody(await Promise.all(places.map((place) => this.#client.batchedDelete(place))), String),
      // A store that was too slow to answer deletes them all the same, and nobody would know.
      answerTimeoutMs: this.#client.tryTimeoutMs,
      ...options,
    });
    const statuses = batchStatuses(response.header('content-type'), await response.body.text());
    return new Set(places.filter((_, index) => isGone(statuses.get(index))));
  }

  async copy(from: BlobPlace, to: BlobPlace): Promise<CopyResult> {
    const { size, storageClass } = await this.head(from);
    const { url } = await this.#client.sharedAccessUrl(from, 'r');
    const synchronous = size <= this.#maxSynchronousCopy;
    const response = await this.#client.send({
      method: 'PUT',
      place: to,
      headers: {
        'x-ms-copy-source': url,
        ...(storageClass === undefined ? {} : this.writeHeaders({ storageClass })),
        ...(synchronous ? { 'x-ms-requires-sync': 'true' } : {}),
      },
      answerTimeoutMs: this.#client.tryTimeoutMs,
      body: bytesRequest(Buffer.alloc(0)),
    });
    await response.body.dump();
    if (response.header('x-ms-copy-status') === 'pending') await this.#finishCopy(to);
    const { etag, lastModified } = await this.head(to);
    return { etag, lastModified, size };
  }

  async #finishCopy(to: BlobPlace): Promise<void> {
    for (;;) {
      const response = await this.#client.send({ method: 'HEAD', place: to });
      await response.body.dump();
      const status = response.header('x-ms-copy-status');
      if (status === 'success') return;
      if (status !== 'pending') {
        throw new BlockError(
          'async_copy_failed',
          `${this.#client.addresses.uriOf(to)}: the copy ended as ${status}: ${response.header('x-ms-copy-status-description') ?? ''}`,
        );
      }
      await delay(copyPollMs);
    }
  }
}

export function writtenResult(response: StoreResponse): PutResult {
  return {
    etag: contentEtag(response.header('content-md5'), response.header('etag')),
    lastModified: dateOf(response.header('last-modified')),
  };
}

export function ifAbsentHeader(options: PutOptions): Record<string, string> {
  return options.ifAbsent === true ? { 'if-none-match': '*' } : {};
}

/** The MD5 of the content in hex where the service keeps one, else its own tag. */
export function contentEtag(contentMd5: string | undefined, etag: string | undefined): string {
  return contentMd5 ? Buffer.from(contentMd5, 'base64').toString('hex') : unquote(etag);
}

/** With a hierarchical namespace, directories answer like empty blobs. */
function isFolder(response: StoreResponse): boolean {
  return (
    response.header('x-ms-resource-type') === 'directory' ||
    response.header('x-ms-meta-hdi_isfolder') === 'true'
  );
}
