import type {
  AcceptPart,
  BlockAdapter,
  BodySource,
  CompletedPart,
  CompletedUpload,
  CopyResult,
  DeleteFailure,
  DeleteManyOptions,
  MultipartUpload,
  ObjectBody,
  ObjectPointer,
  ObjectProperties,
  PresignedUrl,
  PresignOptions,
  PutOptions,
  PutResult,
  StorageInfo,
  StoreDeletion,
  UploadedPart,
  WalkedObject,
  WalkOptions,
} from '../../adapter.ts';
import {
  type BucketObject,
  canonicalBucketUri,
  resolveBucketObject,
  resolveBucketPrefix,
  resolveWalk,
  resolveWalkAfter,
} from '../../address.ts';
import { discardBody, guardBody } from '../../body.ts';
import { checkPartList, checkPartNumber, checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type BlockLogger, type OpenOptions, type S3StoreConfig } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { attachment, dateOf, longAnswerMs, unquote } from '../../remote/answers.ts';
import { copySource, readResult } from './answers.ts';
import { S3Client } from './client.ts';
import { openCredentials } from './credentials.ts';
import { deleteMany, deleteOne } from './delete-many.ts';
import { walkBucket } from './list.ts';
import { walkInParallel } from './walk-in-parallel.ts';
import { MultipartCalls } from './multipart-calls.ts';
import { ObjectCalls } from './object-calls.ts';
import { bytesRequest, streamRequest, type RequestBody } from '../../remote/request-body.ts';
import { bucketDeletion } from './bucket-deletion.ts';
import { staleUploads } from './stale-uploads.ts';
import { StripedBody, stripeBytes } from '../../remote/striped-body.ts';
import { withKnownSize } from '../../remote/transfers.ts';
import { childText } from '../../remote/xml.ts';

/** One PutObject, one part and one CopyObject take at most this much. */
const maxSingleSize = 5 * 1024 * 1024 * 1024;
const copyPartSize = 512 * 1024 * 1024;
/** Of a distant store, larger ranges are read in stripes. */
const leastStripedSize = 4 * stripeBytes;
/** Each holds sixteen MiB. */
const mostStripedReads = 4;

export async function openS3Adapter(config: S3StoreConfig, options: OpenOptions = {}): Promise<BlockAdapter> {
  const credentials = await openCredentials(config);
  return new S3Adapter(config, new S3Client(config, credentials, options.logger), undefined, options.logger);
}

/** Sizes at which a copy is done in parts; tests make them small. */
export interface CopyLimits {
  readonly maxSingle: number;
  readonly part: number;
}

export class S3Adapter implements BlockAdapter {
  readonly type = 's3';
  readonly info: StorageInfo;
  readonly #client: S3Client;
  readonly #logger: BlockLogger | undefined;
  readonly #objects: ObjectCalls;
  readonly #multipart: MultipartCalls;
  readonly #copyLimits: CopyLimits;
  readonly #chunkSize: number;
  #stripedReads = 0;

  constructor(
    config: S3StoreConfig,
    client: S3Client,
    copyLimits: CopyLimits = { maxSingle: maxSingleSize, part: copyPartSize },
    logger?: BlockLogger,
  ) {
    this.#client = client;
    this.#logger = logger;
    this.#objects = new ObjectCalls(client, config);
    this.#copyLimits = copyLimits;
    this.#chunkSize = config.streamingChunkSize ?? 1024 * 1024;
    this.#multipart = new MultipartCalls(client, this.#objects, this.#chunkSize);
    const preSign = config.disablePreSigned !== true;
    this.info = storageInfo('s3', config, {
      productionSafe: true,
      defaultNamespacePrefix: config.defaultNamespacePrefix ?? '',
      preSignSupport: preSign,
      preSignSupportUi: preSign && config.disablePreSignedUi === false,
      preSignMultipartUpload: preSign && config.disablePreSignedMultipart !== true,
      importSupport: true,
    });
  }

  readonly connectionsInUse = (): number => this.#client.connectionsInUse;

  async put(pointer: ObjectPointer, body: BodySource, options: PutOptions = {}): Promise<PutResult> {
    guardBody(body);
    try {
      const object = resolveBucketObject('s3', pointer);
      options.signal?.throwIfAborted();
      if (body instanceof Uint8Array) return await this.#objects.put(object, bytesRequest(body), options);
      if (body.size > this.#chunkSize && body.size <= maxSingleSize) {
        return await this.#objects.put(object, streamRequest(body.stream, body.size), options);
      }
      return await this.#multipart.putInParts(object, body, options);
    } catch (error) {
      discardBody(body);
      throw error;
    }
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    return await this.#objects.open({ method: 'GET', ...resolveBucketObject('s3', pointer) });
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    checkRangeOrder(start, end);
    const object = resolveBucketObject('s3', pointer);
    if (end - start >= leastStripedSize && this.prefersRanges())
      return await this.#striped(object, start, end);
    return await this.#objects.open({
      method: 'GET',
      ...object,
      headers: { range: `bytes=${start}-${end}` },
    });
  }

  readonly prefersRanges = (): boolean =>
    this.#stripedReads < mostStripedReads && this.#client.isWorthStripes;

  async #striped(object: BucketObject, start: number, end: number): Promise<ObjectBody> {
    const firstEnd = start + stripeBytes - 1;
    const headers = { range: `bytes=${start}-${firstEnd}` };
    this.#stripedReads += 1;
    const done = (): void => void (this.#stripedReads -= 1);
    try {
      const answer = await this.#objects.answer({ method: 'GET', ...object, headers });
      const first = answer.body;
      const total = Number(answer.header('content-range')?.split('/')[1] ?? Number.NaN);
      if (!Number.isSafeInteger(total)) {
        first.dispose();
        throw new BlockError(
          'unavailable',
          `s3://${object.bucket}/${object.key}: the store answered a range without its place`,
        );
      }
      const size = Math.min(end + 1, total) - start;
      if (size <= first.size) {
        done();
        return first;
      }
      // All of it from one version of the object.
      const etag = answer.header('etag');
      const version: Record<string, string> = etag === undefined ? {} : { 'if-match': etag };
      const open = (from: number, to: number, signal: AbortSignal): Promise<ObjectBody> => {
        const range = `bytes=${start + from}-${start + to}`;
        return this.#objects.open({ method: 'GET', ...object, headers: { range, ...version }, signal });
      };
      return new StripedBody({ size, first, open, done });
    } catch (error) {
      done();
      throw error;
    }
  }

  async exists(pointer: ObjectPointer): Promise<boolean> {
    try {
      await this.properties(pointer);
      return true;
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return false;
      throw error;
    }
  }

  async properties(pointer: ObjectPointer): Promise<ObjectProperties> {
    return await this.#objects.head(resolveBucketObject('s3', pointer));
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    const { bucket, key } = resolveBucketObject('s3', pointer);
    await deleteOne(this.#client, bucket, key);
  }

  deleteMany(pointers: readonly ObjectPointer[], options: DeleteManyOptions = {}): Promise<DeleteFailure[]> {
    return deleteMany(this.#client, pointers, options);
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    const from = resolveBucketObject('s3', source);
    const to = resolveBucketObject('s3', destination);
    const { size, storageClass } = await this.#objects.head(from);
    if (size > this.#copyLimits.maxSingle)
      return {
        ...(await this.#multipart.copyInParts(from, to, size, this.#copyLimits.part, { storageClass })),
        size,
      };
    const response = await this.#client.send({
      method: 'PUT',
      ...to,
      headers: { ...this.#objects.writeHeaders({ storageClass }), 'x-amz-copy-source': copySource(from) },
      answerTimeoutMs: longAnswerMs,
    });
    const result = await readResult(response, 'CopyObjectResult', to);
    return {
      etag: unquote(childText(result, 'ETag')),
      lastModified: dateOf(childText(result, 'LastModified')),
      size,
    };
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    return await this.#multipart.create(resolveBucketObject('s3', pointer), options);
  }

  async uploadPart(
    upload: MultipartUpload,
    partNumber: number,
    body: BodySource,
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    guardBody(body);
    try {
      checkPartNumber(partNumber);
      const object = resolveBucketObject('s3', upload.pointer);
      const send = async (part: RequestBody): Promise<UploadedPart> => {
        const told = await this.#multipart.sendPart(object, upload.uploadId, partNumber, part);
        const uploaded = { ...told, size: part.size };
        await accept?.(uploaded);
        return uploaded;
      };
      if (body instanceof Uint8Array) return await send(bytesRequest(body));
      if (body.size < 0) return await withKnownSize(body, this.#chunkSize, send);
      return await send(streamRequest(body.stream, body.size));
    } catch (error) {
      discardBody(body);
      throw error;
    }
  }

  async uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    checkPartNumber(partNumber);
    if (range !== undefined) checkRangeOrder(range.start, range.end);
    const from = resolveBucketObject('s3', source);
    const { size } = await this.#objects.head(from);
    const cut =
      range === undefined ? undefined : { start: range.start, end: checkRange(range.start, range.end, size) };
    const object = resolveBucketObject('s3', upload.pointer);
    const etag = await this.#multipart.copyPart(object, upload.uploadId, partNumber, from, cut);
    const part = { etag, size: cut === undefined ? size : cut.end - cut.start + 1 };
    await accept?.(part);
    return part;
  }

  async completeMultipart(
    upload: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    checkPartList(parts);
    const object = resolveBucketObject('s3', upload.pointer);
    const { etag } = await this.#multipart.complete(object, upload.uploadId, parts, {});
    const { size, lastModified } = await this.#objects.head(object);
    return { etag, size, lastModified };
  }

  async abortMultipart(upload: MultipartUpload): Promise<void> {
    await this.#multipart.abort(resolveBucketObject('s3', upload.pointer), upload.uploadId);
  }

  deletion(storageNamespace: string): Promise<StoreDeletion> {
    return bucketDeletion(this.#client, storageNamespace);
  }

  staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    return staleUploads(this.#client, storageNamespace, before);
  }

  async *walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const { bucket, key: prefix, baseLength } = resolveWalk('s3', uri);
    const after = resolveWalkAfter('s3', bucket, options.after);
    let [count, example] = [0, ''];
    const onSkipped = (key: string): void => {
      count += 1;
      example = key;
    };
    try {
      const { signal } = options;
      const walk = options.parallel === true ? walkInParallel : walkBucket;
      yield* walk(this.#client, { bucket, prefix, baseLength, after, signal, onSkipped });
    } finally {
      if (count > 0)
        this.#logger?.warn({ uri, count, example }, 'objects whose keys are not UTF-8 were left out');
    }
  }

  importSource(uri: string): Promise<string> {
    return Promise.resolve(uri);
  }

  async presign(
    pointer: ObjectPointer,
    mode: 'read' | 'write',
    options: PresignOptions = {},
  ): Promise<PresignedUrl> {
    this.#requirePresign(this.info.preSignSupport, 'disable_pre_signed');
    const { bucket, key } = resolveBucketObject('s3', pointer);
    const query: [string, string][] = [];
    if (mode === 'read' && options.fileName !== undefined) {
      query.push(['response-content-disposition', attachment(options.fileName)]);
    }
    return await this.#client.presign(mode === 'read' ? 'GET' : 'PUT', bucket, key, query);
  }

  async presignPart({ pointer, uploadId }: MultipartUpload, partNumber: number): Promise<PresignedUrl> {
    this.#requirePresign(this.info.preSignMultipartUpload, 'disable_pre_signed_multipart');
    checkPartNumber(partNumber);
    const { bucket, key } = resolveBucketObject('s3', pointer);
    return await this.#client.presign('PUT', bucket, key, [
      ['partNumber', String(partNumber)],
      ['uploadId', uploadId],
    ]);
  }

  #requirePresign(supported: boolean, setting: string): void {
    if (!supported) throw new BlockError('not_supported', `operation not supported: s3.${setting} is set`);
  }

  async region(storageNamespace: string): Promise<string> {
    return await this.#client.regions.of(resolveBucketPrefix('s3', storageNamespace).bucket);
  }

  validateNamespace(storageNamespace: string): void {
    if (!storageNamespace.startsWith('s3://')) {
      throw new BlockError(
        'invalid_namespace',
        `"${storageNamespace}" must match ${this.info.namespaceValidityRegex}`,
      );
    }
    resolveBucketPrefix('s3', storageNamespace);
  }

  validateAddress(pointer: ObjectPointer): void {
    resolveBucketObject('s3', pointer);
  }

  absoluteUri(pointer: ObjectPointer): string {
    const { bucket, key } = resolveBucketObject('s3', pointer);
    return `s3://${bucket}/${key}`;
  }

  spellings(canonical: string): readonly string[] {
    return [canonical];
  }

  async canonicalUri(uri: string): Promise<string> {
    return canonicalBucketUri('s3', uri);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
