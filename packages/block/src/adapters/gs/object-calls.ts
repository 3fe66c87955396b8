import type {
  BodyStream,
  CopyResult,
  DeleteManyOptions,
  ObjectBody,
  ObjectProperties,
  PutOptions,
  PutResult,
} from '../../adapter.ts';
import type { BucketObject } from '../../address.ts';
import { abortable, bytesBody, discardBody, smallObjectSize } from '../../body.ts';
import type { BlockLogger } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import type { BatchDeletes } from '../../remote/batch-deletes.ts';
import { batchBody, batchStatuses, batchType, isGone } from '../../remote/batch-request.ts';
import { sigV4Encode } from '@svc/encoding';
import { longAnswerMs, streamBody } from '../../remote/answers.ts';
import { connectionFailure, type StoreResponse } from '../../remote/connection.ts';
import { bytesRequest, type RequestBody } from '../../remote/request-body.ts';
import { firstPartSize, uploadInParts } from '../../remote/transfers.ts';
import { objectPath, type GsClient, type GsRequest } from './client.ts';
import { ResumableUpload } from './resumable-upload.ts';

const plainText = /^[ -~]+$/;
const classes = ['STANDARD', 'NEARLINE', 'COLDLINE', 'ARCHIVE'];
const bufferUnit = 1024 * 1024;

/** What the service says of an object. */
export interface GsObject {
  readonly name: string;
  readonly size?: string;
  readonly md5Hash?: string;
  readonly etag?: string;
  readonly updated?: string;
  readonly storageClass?: string;
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly customerEncryption?: unknown;
}

export interface GsPutOptions extends PutOptions {
  readonly metadata?: Readonly<Record<string, string>>;
}

/** Calls about one object as a whole. */
export class ObjectCalls implements BatchDeletes<BucketObject> {
  readonly batchSize = 100;
  readonly #client: GsClient;
  readonly #logger: BlockLogger | undefined;

  constructor(client: GsClient, logger: BlockLogger | undefined) {
    this.#client = client;
    this.#logger = logger;
  }

  /** A body that is in memory, in one request. */
  async putBytes(target: BucketObject, body: RequestBody, options: GsPutOptions): Promise<GsObject> {
    const described = this.describe(options);
    const { contentType, ...more } = described;
    // Emulators look at conditions only where a description comes along.
    const isPlain = Object.keys(more).length === 0 && options.ifAbsent !== true;
    const boundary = 'svc-object-follows';
    const response = await this.#client.send({
      method: 'POST',
      target,
      path: uploadPath(target),
      query: [
        ['uploadType', isPlain ? 'media' : 'multipart'],
        ['name', target.key],
        ...this.#conditions(options),
      ],
      headers: {
        ...this.#client.encryption,
        'content-type': isPlain
          ? (contentType ?? 'application/octet-stream')
          : `multipart/related; boundary=${boundary}`,
      },
      body: isPlain ? body : withDescription(described, body, boundary),
      access: 'write',
      signal: options.signal,
    });
    return (await response.body.json()) as GsObject;
  }

  /** A stream of any length: a small one in one request, else by a resumable upload. */
  async putStream(target: BucketObject, body: BodyStream, options: GsPutOptions): Promise<GsObject> {
    if (body.size > firstPartSize) return await this.#putLarge(target, body, options);
    let session: ResumableUpload | undefined;
    const uploaded = await abortable(body, options.signal, () =>
      uploadInParts(
        body,
        bufferUnit,
        {
          start: async () => {
            session = await this.#startResumable(target, options);
            return '';
          },
          uploadPart: async (_, partNumber, part) => {
            await session?.send(part);
            return { partNumber, etag: '' };
          },
          abort: async () => session?.cancel(),
        },
        options.signal,
      ),
    );
    if (uploaded.kind === 'small') return await this.putBytes(target, uploaded.body, options);
    if (session === undefined) throw new Error('a body of several parts has an upload');
    return await session.finish();
  }

  /** A large body of known length, as it comes. */
  async #putLarge(target: BucketObject, body: BodyStream, options: GsPutOptions): Promise<GsObject> {
    let session: ResumableUpload | undefined;
    return await abortable(body, options.signal, async () => {
      try {
        session = await this.#startResumable(target, options);
        await session.sendAll(body.stream, body.size);
        return await session.finish();
      } catch (error) {
        discardBody(body);
        // The first error stands. An upload that cannot be ended now ends by itself after a week.
        await session?.cancel().catch(() => undefined);
        throw error;
      }
    });
  }

  async #startResumable(target: BucketObject, options: GsPutOptions): Promise<ResumableUpload> {
    const response = await this.#client.send({
      method: 'POST',
      target,
      path: uploadPath(target),
      query: [['uploadType', 'resumable'], ['name', target.key], ...this.#conditions(options)],
      headers: { ...this.#client.encryption, 'content-type': 'application/json' },
      body: bytesRequest(Buffer.from(JSON.stringify(this.describe(options)))),
      access: 'write',
      signal: options.signal,
    });
    await response.body.dump();
    const location = response.header('location');
    if (location === undefined) {
      throw new BlockError('write_failed', `gs://${target.bucket}/${target.key}: the store began no upload`);
    }
    return new ResumableUpload(this.#client, target, location, options.signal);
  }

  #conditions(options: PutOptions): [string, string][] {
    const query: [string, string][] = [];
    if (options.ifAbsent === true) query.push(['ifGenerationMatch', '0']);
    if (this.#client.kmsKey !== undefined) query.push(['kmsKeyName', this.#client.kmsKey]);
    return query;
  }

  /** What an object keeps beside its content. */
  describe(options: GsPutOptions): {
    contentType?: string;
    storageClass?: string;
    metadata?: Record<string, string>;
  } {
    const { contentType, metadata } = options;
    const storageClass = classes.find((name) => name === options.storageClass?.toUpperCase());
    if (options.storageClass && storageClass === undefined) {
      this.#logger?.warn(
        { storageClass: options.storageClass },
        'the storage class is none of Google Cloud Storage and is left out',
      );
    }
    return {
      // The entry keeps the type; the store is told only what can stand in a header.
      ...(contentType && plainText.test(contentType) ? { contentType } : {}),
      ...(storageClass === undefined ? {} : { storageClass }),
      ...(metadata === undefined ? {} : { metadata: { ...metadata } }),
    };
  }

  async open(
    target: BucketObject,
    range?: { readonly start: number; readonly end: number },
  ): Promise<ObjectBody> {
    const name = `gs://${target.bucket}/${target.key}`;
    for (let attempt = 1; ; attempt++) {
      const response = await this.#read({
        method: 'GET',
        target,
        path: objectPath(target),
        query: [['alt', 'media']],
        headers: {
          // Compressed content stays as it was stored.
          'accept-encoding': 'gzip',
          ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }),
        },
        access: 'read',
      });
      const size = Number(response.header('content-length'));
      if (range !== undefined && (response.status !== 206 || size === 0)) {
        // Only an empty object answers a range as a whole.
        await response.body.dump();
        throw new BlockError('bad_index', `bad index: bytes ${range.start}-${range.end} of ${name}`);
      }
      if (!Number.isSafeInteger(size)) {
        await response.body.dump();
        throw new BlockError('unavailable', `${name}: the store answered without a length`);
      }
      if (size > smallObjectSize) return streamBody(response, size);
      try {
        return bytesBody(Buffer.from(await response.body.arrayBuffer()));
      } catch (error) {
        const failure = connectionFailure(error);
        if (failure === undefined) throw error;
        if (attempt < 3) continue;
        throw new BlockError('unavailable', `${name}: the answer broke off: ${failure}`, { cause: error });
      }
    }
  }

  /** With the customer's key where one is configured; objects that were imported may have none. */
  async #read(request: GsRequest): Promise<StoreResponse> {
    const { encryption } = this.#client;
    if (encryption === undefined) return await this.#client.send(request);
    try {
      return await this.#client.send({ ...request, headers: { ...request.headers, ...encryption } });
    } catch (error) {
      if (!(error instanceof BlockError && error.kind === 'configuration')) throw error;
      return await this.#client.send(request);
    }
  }

  async head(target: BucketObject): Promise<GsObject> {
    const response = await this.#read({ method: 'GET', target, path: objectPath(target), access: 'read' });
    return (await response.body.json()) as GsObject;
  }

  /** Idempotent. */
  async delete(target: BucketObject, options: DeleteManyOptions = {}): Promise<void> {
    try {
      const response = await this.#client.send({
        method: 'DELETE',
        target,
        path: objectPath(target),
        access: 'read',
        ...options,
      });
      await response.body.dump();
    } catch (error) {
      if (!(error instanceof BlockError && error.kind === 'not_found')) throw error;
    }
  }

  groupOf({ bucket }: BucketObject): string {
    return bucket;
  }

  async deleteBatch(
    targets: readonly BucketObject[],
    options: DeleteManyOptions,
  ): Promise<ReadonlySet<BucketObject>> {
    const [first] = targets;
    if (first === undefined) return new Set();
    const deletes = targets.map((target) => ({ path: objectPath(target), headers: {} }));
    const response = await this.#client.send({
      method: 'POST',
      target: { bucket: first.bucket, key: '' },
      path: '/batch/storage/v1',
      headers: { 'content-type': batchType },
      body: batchBody(deletes, (index) => `<${index}>`),
      answerTimeoutMs: longAnswerMs,
      access: 'read',
      ...options,
    });
    const statuses = batchStatuses(response.header('content-type'), await response.body.text());
    return new Set(targets.filter((_, index) => isGone(statuses.get(index))));
  }

  /** Large objects and those in other places take several calls, each of which copies as much as it can. */
  async copy(from: BucketObject, to: BucketObject): Promise<CopyResult & { readonly object: GsObject }> {
    const source = await this.head(from);
    const { encryption, kmsKey } = this.#client;
    const headers: Record<string, string> = { 'content-type': 'application/json', ...encryption };
    if (source.customerEncryption !== undefined) {
      for (const [name, value] of Object.entries(encryption ?? {}))
        headers[name.replace('x-goog-', 'x-goog-copy-source-')] = value;
    }
    let token: string | undefined;
    for (;;) {
      const query: [string, string][] = [];
      if (token !== undefined) query.push(['rewriteToken', token]);
      if (kmsKey !== undefined) query.push(['destinationKmsKeyName', kmsKey]);
      const response = await this.#client.send({
        method: 'POST',
        target: to,
        path: `${objectPath(from)}/rewriteTo${objectPath(to).slice('/storage/v1'.length)}`,
        query,
        headers,
        body: bytesRequest(Buffer.alloc(0)),
        access: 'write',
        answerTimeoutMs: longAnswerMs,
      });
      const answer = (await response.body.json()) as {
        done?: boolean;
        rewriteToken?: string;
        resource?: GsObject;
      };
      if (answer.resource !== undefined && answer.done !== false) {
        const { size, etag, lastModified } = propertiesOf(answer.resource);
        return { size, etag, lastModified, object: answer.resource };
      }
      token = answer.rewriteToken;
      if (token === undefined) {
        throw new BlockError(
          'write_failed',
          `gs://${to.bucket}/${to.key}: the store ended the copy half-way`,
        );
      }
    }
  }
}

export function uploadPath({ bucket }: BucketObject): string {
  return `/upload/storage/v1/b/${sigV4Encode(bucket, 'encode')}/o`;
}

/** The content with its description in front, as one body. */
function withDescription(description: object, body: RequestBody, boundary: string): RequestBody {
  if (body.kind !== 'bytes') throw new TypeError('only a body in memory is sent with its description');
  const bytes = Buffer.concat([
    Buffer.from(
      `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(description)}\r\n` +
        `--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`,
    ),
    ...body.chunks,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ]);
  return bytesRequest(bytes);
}

/**
 * The MD5 of the content in hex. Objects that were composed have none, and a listing does not tell that of objects
 * encrypted with a customer's key: both have the service's own tag instead.
 */
export function contentEtag({ md5Hash, etag, customerEncryption }: GsObject): string {
  if (md5Hash && customerEncryption === undefined) return Buffer.from(md5Hash, 'base64').toString('hex');
  return etag?.replaceAll('"', '') ?? '';
}

export function propertiesOf(object: GsObject): ObjectProperties {
  return {
    size: Number(object.size ?? 0),
    etag: contentEtag(object),
    lastModified: new Date(object.updated ?? 0),
    storageClass: object.storageClass,
  };
}

export function putResultOf(object: GsObject): PutResult {
  const { etag, lastModified } = propertiesOf(object);
  return { etag, lastModified };
}
