import { randomBytes } from 'node:crypto';
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
  PutOptions,
  PutResult,
  StoreDeletion,
  UploadedPart,
  WalkedObject,
  WalkOptions,
} from '../adapter.ts';
import {
  canonicalBucketUri,
  resolveBucketObject,
  resolveBucketPrefix,
  resolveWalk,
  resolveWalkAfter,
} from '../address.ts';
import { bytesBody, discardBody, guardBody, md5Hex, readBody } from '../body.ts';
import { checkPartList, checkPartNumber, checkRange } from '../checks.ts';
import { storageInfo, type CommonStoreConfig } from '../config.ts';
import { BlockError, notBegun } from '../errors.ts';

const walkPage = 1000;

interface StoredObject {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly lastModified: Date;
  readonly storageClass: string | undefined;
}

interface Upload {
  readonly object: string;
  readonly options: PutOptions;
  /** Milliseconds since 1970. */
  readonly begun: number;
  readonly parts: Map<number, { readonly bytes: Buffer; readonly etag: string }>;
}

/** Keeps everything in this process's memory: for tests and trials, gone when the process ends. */
export function createMemAdapter(config: CommonStoreConfig = {}): BlockAdapter {
  return new MemAdapter(config);
}

class MemAdapter implements BlockAdapter {
  readonly type = 'mem';
  readonly info;
  /** By `bucket/key`. */
  readonly #objects = new Map<string, StoredObject>();
  readonly #uploads = new Map<string, Upload>();

  constructor(config: CommonStoreConfig) {
    this.info = storageInfo('mem', config, {
      productionSafe: false,
      defaultNamespacePrefix: config.defaultNamespacePrefix ?? '',
      preSignSupport: false,
      preSignSupportUi: false,
      preSignMultipartUpload: false,
      importSupport: false,
    });
  }

  async put(pointer: ObjectPointer, body: BodySource, options: PutOptions = {}): Promise<PutResult> {
    guardBody(body);
    const exclusive = options.ifAbsent === true || options.fresh === true;
    let name: string;
    try {
      name = objectName(pointer);
      if (exclusive) this.#refuseExisting(name);
    } catch (error) {
      discardBody(body);
      throw error;
    }
    const bytes = await readBody(body, options.signal);
    if (exclusive) this.#refuseExisting(name);
    return this.#store(name, bytes, options.storageClass);
  }

  #refuseExisting(name: string): void {
    if (this.#objects.has(name)) throw new BlockError('already_exists', `mem://${name} already exists`);
  }

  #store(name: string, bytes: Buffer, storageClass: string | undefined): PutResult {
    const object = { bytes, etag: md5Hex(bytes), lastModified: new Date(), storageClass };
    this.#objects.set(name, object);
    return { lastModified: object.lastModified, etag: object.etag };
  }

  #find(pointer: ObjectPointer): StoredObject {
    const name = objectName(pointer);
    const object = this.#objects.get(name);
    if (object === undefined) throw new BlockError('not_found', `mem://${name} does not exist`);
    return object;
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    return this.getAtOnce(pointer);
  }

  getAtOnce(pointer: ObjectPointer): ObjectBody {
    return bytesBody(this.#find(pointer).bytes);
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    const { bytes } = this.#find(pointer);
    return bytesBody(bytes.subarray(start, checkRange(start, end, bytes.length) + 1));
  }

  async exists(pointer: ObjectPointer): Promise<boolean> {
    return this.#objects.has(objectName(pointer));
  }

  async properties(pointer: ObjectPointer): Promise<ObjectProperties> {
    const { bytes, etag, lastModified, storageClass } = this.#find(pointer);
    return { size: bytes.length, etag, lastModified, storageClass };
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    this.#objects.delete(objectName(pointer));
  }

  async deleteMany(
    pointers: readonly ObjectPointer[],
    { mayGoOn }: DeleteManyOptions = {},
  ): Promise<DeleteFailure[]> {
    const failures: DeleteFailure[] = [];
    for (const pointer of pointers) {
      if (mayGoOn?.() === false) failures.push({ pointer, error: notBegun() });
      else this.#objects.delete(objectName(pointer));
    }
    return failures;
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    const { bytes, storageClass } = this.#find(source);
    return { ...this.#store(objectName(destination), bytes, storageClass), size: bytes.length };
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    const uploadId = randomBytes(16).toString('hex');
    const object = objectName(pointer);
    this.#uploads.set(uploadId, { object, options, begun: Date.now(), parts: new Map() });
    return uploadId;
  }

  #upload({ pointer, uploadId }: MultipartUpload): Upload {
    const upload = this.#uploads.get(uploadId);
    if (upload === undefined || upload.object !== objectName(pointer)) {
      throw new BlockError('upload_not_found', `multipart upload "${uploadId}" does not exist`);
    }
    return upload;
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
      this.#upload(upload);
    } catch (error) {
      discardBody(body);
      throw error;
    }
    const bytes = await readBody(body);
    const etag = md5Hex(bytes);
    await accept?.({ etag, size: bytes.length });
    this.#upload(upload).parts.set(partNumber, { bytes, etag });
    return { etag, size: bytes.length };
  }

  async uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    const body =
      range === undefined ? await this.get(source) : await this.getRange(source, range.start, range.end);
    return await this.uploadPart(upload, partNumber, body.bytes ?? Buffer.alloc(0), accept);
  }

  async completeMultipart(
    upload: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    const { object, options, parts: stored } = this.#upload(upload);
    checkPartList(parts);
    const chunks = parts.map(({ partNumber, etag }) => {
      const part = stored.get(partNumber);
      if (part?.etag !== etag) {
        throw new BlockError('invalid_part', `part ${partNumber} with etag "${etag}" was not uploaded`);
      }
      return part.bytes;
    });
    if (options.ifAbsent === true) this.#refuseExisting(object);
    const bytes = Buffer.concat(chunks);
    const { lastModified } = this.#store(object, bytes, options.storageClass);
    this.#uploads.delete(upload.uploadId);
    return { etag: md5Hex(bytes), size: bytes.length, lastModified };
  }

  async abortMultipart({ uploadId }: MultipartUpload): Promise<void> {
    this.#uploads.delete(uploadId);
  }

  deletion(): Promise<StoreDeletion> {
    return Promise.resolve('final');
  }

  async *staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    const { bucket, key: prefix } = resolveBucketPrefix('mem', storageNamespace);
    const start = prefix === '' ? `${bucket}/` : `${bucket}/${prefix}/`;
    for (const [uploadId, { object, begun }] of this.#uploads) {
      if (begun >= before.getTime() || !object.startsWith(start)) continue;
      const identifier = object.slice(start.length);
      yield { uploadId, pointer: { storageNamespace, identifier, identifierType: 'relative' } };
    }
  }

  async *walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const { bucket, key: prefix, baseLength } = resolveWalk('mem', uri);
    const after = resolveWalkAfter('mem', bucket, options.after);
    const afterBytes = after === undefined ? undefined : Buffer.from(after);
    const found: { readonly key: string; readonly bytes: Buffer }[] = [];
    for (const name of this.#objects.keys()) {
      if (!name.startsWith(`${bucket}/${prefix}`)) continue;
      const key = name.slice(bucket.length + 1);
      const bytes = Buffer.from(key);
      if (afterBytes === undefined || Buffer.compare(bytes, afterBytes) > 0) found.push({ key, bytes });
    }
    found.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
    for (let start = 0; start < found.length; start += walkPage) {
      options.signal?.throwIfAborted();
      const page: WalkedObject[] = [];
      for (const { key } of found.slice(start, start + walkPage)) {
        const object = this.#objects.get(`${bucket}/${key}`);
        if (object === undefined) continue;
        page.push({
          uri: `mem://${bucket}/${key}`,
          relativeKey: key.slice(baseLength),
          etag: object.etag,
          size: object.bytes.length,
          lastModified: object.lastModified,
        });
      }
      if (page.length > 0) yield page;
    }
  }

  importSource(uri: string): Promise<string> {
    return Promise.resolve(uri);
  }

  async presign(): Promise<PresignedUrl> {
    throw new BlockError(
      'not_supported',
      'operation not supported: a store of type mem has no pre-signed URLs',
    );
  }

  async presignPart(): Promise<PresignedUrl> {
    return await this.presign();
  }

  async region(): Promise<undefined> {
    return undefined;
  }

  validateNamespace(storageNamespace: string): void {
    if (!storageNamespace.startsWith('mem://')) {
      throw new BlockError(
        'invalid_namespace',
        `"${storageNamespace}" must match ${this.info.namespaceValidityRegex}`,
      );
    }
    resolveBucketPrefix('mem', storageNamespace);
  }

  validateAddress(pointer: ObjectPointer): void {
    objectName(pointer);
  }

  absoluteUri(pointer: ObjectPointer): string {
    return `mem://${objectName(pointer)}`;
  }

  spellings(canonical: string): readonly string[] {
    return [canonical];
  }

  async canonicalUri(uri: string): Promise<string> {
    return canonicalBucketUri('mem', uri);
  }

  async close(): Promise<void> {
    this.#objects.clear();
    this.#uploads.clear();
  }
}

function objectName(pointer: ObjectPointer): string {
  const { bucket, key } = resolveBucketObject('mem', pointer);
  return `${bucket}/${key}`;
}
