import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sigV4Encode } from '@svc/encoding';
import type {
  BlockAdapter,
  BodySource,
  BodyStream,
  CompletedPart,
  CompletedUpload,
  DeleteFailure,
  MultipartUpload,
  ObjectBody,
  ObjectPointer,
  ObjectProperties,
  PresignedUrl,
  PresignOptions,
  PutOptions,
  PutResult,
  StorageInfo,
  UploadedPart,
  WalkedObject,
  WalkOptions,
} from '../../adapter.ts';
import {
  canonicalBucketUri,
  resolveBucketObject,
  resolveBucketPrefix,
  resolveWalk,
  resolveWalkAfter,
  type BucketObject,
} from '../../address.ts';
import { abortable, bytesBody, discardBody, guardBody, multipartEtag, smallObjectSize } from '../../body.ts';
import { checkPartList, checkPartNumber, checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type OpenOptions, type S3StoreConfig } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { connectionFailure, S3Client, type S3Request, type S3Response } from './client.ts';
import { openCredentials } from './credentials.ts';
import { refusalError } from './errors.ts';
import { walkBucket } from './list.ts';
import { bytesRequest, streamRequest, type RequestBody } from './request-body.ts';
import { copyRanges, maxSingleSize, uploadInParts, withKnownSize } from './transfers.ts';
import { childText, escapeXml, fitsXml, requireXml, type XmlElement } from './xml.ts';

const deleteBatch = 1000;
const copyPartSize = 512 * 1024 * 1024;
/** Copying and joining keep the store busy before it answers. */
const longAnswerMs = 10 * 60_000;

export async function openS3Adapter(config: S3StoreConfig, options: OpenOptions = {}): Promise<BlockAdapter> {
  const credentials = await openCredentials(config);
  return new S3Adapter(config, new S3Client(config, credentials, options.logger));
}

/** Sizes at which a copy is done in parts; tests make them small. */
export interface CopyLimits {
  readonly maxSingle: number;
  readonly part: number;
}

export class S3Adapter implements BlockAdapter {
  readonly type = 's3';
  readonly info: StorageInfo;
  readonly #config: S3StoreConfig;
  readonly #client: S3Client;
  readonly #copyLimits: CopyLimits;
  readonly #chunkSize: number;

  constructor(
    config: S3StoreConfig,
    client: S3Client,
    copyLimits: CopyLimits = { maxSingle: maxSingleSize, part: copyPartSize },
  ) {
    this.#config = config;
    this.#client = client;
    this.#copyLimits = copyLimits;
    this.#chunkSize = config.streamingChunkSize ?? 1024 * 1024;
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
      if (body instanceof Uint8Array) return await this.#putObject(object, bytesRequest(body), options);
      if (body.size > this.#chunkSize && body.size <= maxSingleSize) {
        return await this.#putObject(object, streamRequest(body.stream, body.size), options);
      }
      return await this.#putInParts(object, body, options);
    } catch (error) {
      discardBody(body);
      throw error;
    }
  }

  async #putInParts(object: BucketObject, body: BodyStream, options: PutOptions): Promise<PutResult> {
    const uploaded = await abortable(body, options.signal, () =>
      uploadInParts(
        body,
        this.#chunkSize,
        {
          start: () => this.#createMultipart(object, options),
          uploadPart: async (uploadId, partNumber, part) => ({
            partNumber,
            etag: await this.#sendPart(object, uploadId, partNumber, part, options.signal),
          }),
          abort: (uploadId) => this.#abort(object, uploadId),
        },
        options.signal,
      ),
    );
    if (uploaded.kind === 'small') return await this.#putObject(object, uploaded.body, options);
    try {
      const { etag } = await this.#complete(object, uploaded.uploadId, uploaded.parts, options);
      return { etag, lastModified: undefined };
    } catch (error) {
      await this.#abort(object, uploaded.uploadId).catch(() => undefined);
      throw error;
    }
  }

  async #putObject(
    { bucket, key }: BucketObject,
    body: RequestBody,
    options: PutOptions,
  ): Promise<PutResult> {
    const response = await this.#client.send({
      method: 'PUT',
      bucket,
      key,
      body,
      headers: { ...this.#writeHeaders(options), ...ifAbsentHeader(options) },
      signal: options.signal,
    });
    await response.body.dump();
    const etag = unquote(response.header('etag'));
    if (etag === '')
      throw new BlockError('write_failed', `s3://${bucket}/${key}: the store answered without an ETag`);
    return { etag, lastModified: dateOf(response.header('date')) };
  }

  #writeHeaders(options: PutOptions): Record<string, string> {
    const headers: Record<string, string> = {};
    const { serverSideEncryption, serverSideEncryptionKmsKeyId } = this.#config;
    if (serverSideEncryption) headers['x-amz-server-side-encryption'] = serverSideEncryption;
    if (serverSideEncryptionKmsKeyId) {
      headers['x-amz-server-side-encryption-aws-kms-key-id'] = serverSideEncryptionKmsKeyId;
    }
    if (options.storageClass) headers['x-amz-storage-class'] = options.storageClass;
    if (options.contentType) headers['content-type'] = options.contentType;
    return headers;
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    return await this.#open({ method: 'GET', ...resolveBucketObject('s3', pointer) });
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    checkRangeOrder(start, end);
    return await this.#open({
      method: 'GET',
      ...resolveBucketObject('s3', pointer),
      headers: { range: `bytes=${start}-${end}` },
    });
  }

  async #open(request: S3Request): Promise<ObjectBody> {
    const target = `s3://${request.bucket}/${request.key}`;
    for (let attempt = 1; ; attempt++) {
      const response = await this.#client.send(request);
      const size = Number(response.header('content-length'));
      if (request.headers?.['range'] !== undefined && response.status !== 206) {
        // Only an empty object answers a range as a whole.
        await response.body.dump();
        const code =
          size === 0 ? { status: 416, code: 'InvalidRange' } : { status: 501, code: 'NotImplemented' };
        throw refusalError({ ...code, message: 'the range was not honoured' }, 'read', target);
      }
      if (size > smallObjectSize || !Number.isSafeInteger(size)) return streamBody(response, size);
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
    return await this.#head(resolveBucketObject('s3', pointer));
  }

  async #head({ bucket, key }: BucketObject): Promise<ObjectProperties> {
    const response = await this.#client.send({ method: 'HEAD', bucket, key });
    await response.body.dump();
    return {
      size: Number(response.header('content-length') ?? 0),
      etag: unquote(response.header('etag')),
      lastModified: dateOf(response.header('last-modified')) ?? new Date(0),
      storageClass: response.header('x-amz-storage-class'),
    };
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    const { bucket, key } = resolveBucketObject('s3', pointer);
    try {
      await (await this.#client.send({ method: 'DELETE', bucket, key })).body.dump();
    } catch (error) {
      if (!(error instanceof BlockError && error.kind === 'not_found')) throw error;
    }
  }

  async deleteMany(pointers: readonly ObjectPointer[]): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    const byBucket = new Map<string, { readonly key: string; readonly pointer: ObjectPointer }[]>();
    for (const pointer of pointers) {
      const { bucket, key } = resolveBucketObject('s3', pointer);
      if (fitsXml(key)) {
        const group = byBucket.get(bucket);
        if (group === undefined) byBucket.set(bucket, [{ key, pointer }]);
        else group.push({ key, pointer });
        continue;
      }
      // The batch request is XML, which cannot hold such a key.
      await this.delete(pointer).catch((error: unknown) => {
        if (!(error instanceof BlockError)) throw error;
        failures.push({ pointer, error });
      });
    }
    for (const [bucket, group] of byBucket) {
      for (let start = 0; start < group.length; start += deleteBatch) {
        failures.push(...(await this.#deleteBatch(bucket, group.slice(start, start + deleteBatch))));
      }
    }
    return failures;
  }

  async #deleteBatch(
    bucket: string,
    group: readonly { readonly key: string; readonly pointer: ObjectPointer }[],
  ): Promise<DeleteFailure[]> {
    const keys = group.map(({ key }) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
    const body = Buffer.from(
      `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${keys}<Quiet>true</Quiet></Delete>`,
    );
    const response = await this.#client.send({
      method: 'POST',
      bucket,
      query: [['delete', '']],
      headers: {
        'content-md5': createHash('md5').update(body).digest('base64'),
        'content-type': 'application/xml',
      },
      body: bytesRequest(body),
    });
    const result = requireXml(await response.body.text(), 'DeleteResult');
    const failures: DeleteFailure[] = [];
    for (const refused of result.children.filter((child) => child.name === 'Error')) {
      const key = childText(refused, 'Key');
      const code = childText(refused, 'Code') ?? '';
      const pointer = group.find((item) => item.key === key)?.pointer;
      if (pointer === undefined || code === 'NoSuchKey') continue;
      const refusal = {
        status: code === 'AccessDenied' ? 403 : 400,
        code,
        message: childText(refused, 'Message') ?? '',
      };
      failures.push({ pointer, error: refusalError(refusal, 'write', `s3://${bucket}/${key}`) });
    }
    return failures;
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<PutResult> {
    const from = resolveBucketObject('s3', source);
    const to = resolveBucketObject('s3', destination);
    const { size, storageClass } = await this.#head(from);
    if (size > this.#copyLimits.maxSingle) return await this.#copyInParts(from, to, size, { storageClass });
    const response = await this.#client.send({
      method: 'PUT',
      ...to,
      headers: { ...this.#writeHeaders({ storageClass }), 'x-amz-copy-source': copySource(from) },
      answerTimeoutMs: longAnswerMs,
    });
    const result = await readResult(response, 'CopyObjectResult', to);
    return {
      etag: unquote(childText(result, 'ETag')),
      lastModified: dateOf(childText(result, 'LastModified')),
    };
  }

  async #copyInParts(
    from: BucketObject,
    to: BucketObject,
    size: number,
    options: PutOptions,
  ): Promise<PutResult> {
    const uploadId = await this.#createMultipart(to, options);
    try {
      const parts: CompletedPart[] = [];
      for (const range of copyRanges(size, this.#copyLimits.part)) {
        const partNumber = parts.length + 1;
        parts.push({ partNumber, etag: await this.#copyPart(to, uploadId, partNumber, from, range) });
      }
      const { etag } = await this.#complete(to, uploadId, parts, {});
      return { etag, lastModified: undefined };
    } catch (error) {
      await this.#abort(to, uploadId).catch(() => undefined);
      throw error;
    }
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    return await this.#createMultipart(resolveBucketObject('s3', pointer), options);
  }

  async #createMultipart({ bucket, key }: BucketObject, options: PutOptions): Promise<string> {
    const response = await this.#client.send({
      method: 'POST',
      bucket,
      key,
      query: [['uploads', '']],
      headers: this.#writeHeaders(options),
      signal: options.signal,
    });
    const uploadId = childText(
      requireXml(await response.body.text(), 'InitiateMultipartUploadResult'),
      'UploadId',
    );
    if (!uploadId)
      throw new BlockError('write_failed', `s3://${bucket}/${key}: the store answered without an upload id`);
    return uploadId;
  }

  async uploadPart(upload: MultipartUpload, partNumber: number, body: BodySource): Promise<UploadedPart> {
    guardBody(body);
    try {
      checkPartNumber(partNumber);
      const object = resolveBucketObject('s3', upload.pointer);
      const send = async (part: RequestBody): Promise<UploadedPart> => ({
        etag: await this.#sendPart(object, upload.uploadId, partNumber, part),
        size: part.size,
      });
      if (body instanceof Uint8Array) return await send(bytesRequest(body));
      if (body.size < 0) return await withKnownSize(body, this.#chunkSize, send);
      return await send(streamRequest(body.stream, body.size));
    } catch (error) {
      discardBody(body);
      throw error;
    }
  }

  async #sendPart(
    { bucket, key }: BucketObject,
    uploadId: string,
    partNumber: number,
    body: RequestBody,
    signal?: AbortSignal,
  ): Promise<string> {
    const query = [
      ['partNumber', String(partNumber)],
      ['uploadId', uploadId],
    ] as const;
    const response = await this.#client.send({ method: 'PUT', bucket, key, query, body, signal });
    await response.body.dump();
    const etag = unquote(response.header('etag'));
    if (etag === '') {
      throw new BlockError(
        'write_failed',
        `part ${partNumber} of s3://${bucket}/${key}: the store answered without an ETag`,
      );
    }
    return etag;
  }

  async uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
  ): Promise<UploadedPart> {
    checkPartNumber(partNumber);
    if (range !== undefined) checkRangeOrder(range.start, range.end);
    const from = resolveBucketObject('s3', source);
    const { size } = await this.#head(from);
    const cut =
      range === undefined ? undefined : { start: range.start, end: checkRange(range.start, range.end, size) };
    const object = resolveBucketObject('s3', upload.pointer);
    const etag = await this.#copyPart(object, upload.uploadId, partNumber, from, cut);
    return { etag, size: cut === undefined ? size : cut.end - cut.start + 1 };
  }

  async #copyPart(
    to: BucketObject,
    uploadId: string,
    partNumber: number,
    from: BucketObject,
    range: { readonly start: number; readonly end: number } | undefined,
  ): Promise<string> {
    const response = await this.#client.send({
      method: 'PUT',
      ...to,
      query: [
        ['partNumber', String(partNumber)],
        ['uploadId', uploadId],
      ],
      headers: {
        'x-amz-copy-source': copySource(from),
        ...(range === undefined ? {} : { 'x-amz-copy-source-range': `bytes=${range.start}-${range.end}` }),
      },
      answerTimeoutMs: longAnswerMs,
    });
    return unquote(childText(await readResult(response, 'CopyPartResult', to), 'ETag'));
  }

  async completeMultipart(
    upload: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    checkPartList(parts);
    const object = resolveBucketObject('s3', upload.pointer);
    const { etag } = await this.#complete(object, upload.uploadId, parts, {});
    const { size, lastModified } = await this.#head(object);
    return { etag, size, lastModified };
  }

  async #complete(
    object: BucketObject,
    uploadId: string,
    parts: readonly CompletedPart[],
    options: PutOptions,
  ): Promise<{ readonly etag: string }> {
    const listed = parts
      .map(
        ({ partNumber, etag }) =>
          `<Part><PartNumber>${partNumber}</PartNumber><ETag>"${escapeXml(etag)}"</ETag></Part>`,
      )
      .join('');
    const body = Buffer.from(
      `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed}</CompleteMultipartUpload>`,
    );
    try {
      const response = await this.#client.send({
        method: 'POST',
        ...object,
        query: [['uploadId', uploadId]],
        headers: { 'content-type': 'application/xml', ...ifAbsentHeader(options) },
        body: bytesRequest(body),
        answerTimeoutMs: longAnswerMs,
        signal: options.signal,
      });
      return {
        etag: unquote(childText(await readResult(response, 'CompleteMultipartUploadResult', object), 'ETag')),
      };
    } catch (error) {
      // A first answer may have been lost on its way: then the upload is gone because it is complete.
      if (!(error instanceof BlockError && error.kind === 'upload_not_found')) throw error;
      const expected = multipartEtag(parts.map(({ etag }) => etag));
      const found = await this.#head(object).catch(() => undefined);
      if (found?.etag !== expected) throw error;
      return { etag: expected };
    }
  }

  async abortMultipart(upload: MultipartUpload): Promise<void> {
    await this.#abort(resolveBucketObject('s3', upload.pointer), upload.uploadId);
  }

  async #abort({ bucket, key }: BucketObject, uploadId: string): Promise<void> {
    try {
      const response = await this.#client.send({
        method: 'DELETE',
        bucket,
        key,
        query: [['uploadId', uploadId]],
      });
      await response.body.dump();
    } catch (error) {
      if (!(error instanceof BlockError && (error.kind === 'upload_not_found' || error.kind === 'not_found')))
        throw error;
    }
  }

  async *walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const { bucket, key: prefix, baseLength } = resolveWalk('s3', uri);
    const after = resolveWalkAfter('s3', bucket, options.after);
    yield* walkBucket(this.#client, { bucket, prefix, baseLength, after, signal: options.signal });
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

  async canonicalUri(uri: string): Promise<string> {
    return canonicalBucketUri('s3', uri);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

function streamBody(response: S3Response, size: number): ObjectBody {
  const { body } = response;
  return {
    size,
    bytes: undefined,
    stream: (): Readable => body,
    sendTo: (sink) => pipeline(body, sink),
    dispose(): void {
      // Destroying an unfinished body reports an abort that nobody waits for.
      body.on('error', () => undefined).destroy();
    },
  };
}

/** The result document of a call that may fail after its status line said 200. */
async function readResult(
  response: S3Response,
  name: string,
  { bucket, key }: BucketObject,
): Promise<XmlElement> {
  const text = await response.body.text();
  if (!text.includes('<Error>') && !text.includes(':Error>')) return requireXml(text, name);
  const error = requireXml(text, 'Error');
  const code = childText(error, 'Code') ?? '';
  const status = code === 'InternalError' ? 500 : 400;
  throw refusalError(
    { status, code, message: childText(error, 'Message') ?? '' },
    'write',
    `s3://${bucket}/${key}`,
  );
}

function ifAbsentHeader(options: PutOptions): Record<string, string> {
  return options.ifAbsent === true ? { 'if-none-match': '*' } : {};
}

function copySource({ bucket, key }: BucketObject): string {
  return `${sigV4Encode(bucket, 'encode')}/${sigV4Encode(key, 'keep')}`;
}

function unquote(etag: string | undefined): string {
  return etag?.replaceAll('"', '') ?? '';
}

function dateOf(text: string | undefined): Date | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : new Date(time);
}

function attachment(fileName: string): string {
  if (/^[\w.-]+$/.test(fileName)) return `attachment; filename=${fileName}`;
  const plain = fileName.replaceAll(/[^\u0020-\u007e]|["\\]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${sigV4Encode(fileName, 'encode')}`;
}
