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
  canonicalBucketUri,
  resolveBucketObject,
  resolveBucketPrefix,
  resolveWalk,
  resolveWalkAfter,
} from '../../address.ts';
import { checkPartList, checkPartNumber, checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type GsStoreConfig, type OpenOptions } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { attachment } from '../../remote/answers.ts';
import { owningBody, RemoteAdapter } from '../../remote/remote-adapter.ts';
import { bytesRequest } from '../../remote/request-body.ts';
import { partKey } from '../../remote/side-objects.ts';
import { GsClient, gsEndpoint } from './client.ts';
import { openGsCredentials, type GsCredentials } from './credentials.ts';
import { bucketDeletion } from './bucket-deletion.ts';
import { listObjects } from './list.ts';
import { MultipartCalls, uploadedPart } from './multipart-calls.ts';
import { contentEtag, ObjectCalls, propertiesOf, putResultOf, type GsObject } from './object-calls.ts';

export async function openGsAdapter(config: GsStoreConfig, options: OpenOptions = {}): Promise<BlockAdapter> {
  if (config.serverSideEncryptionCustomerSupplied && config.serverSideEncryptionKmsKeyId) {
    throw new BlockError(
      'configuration',
      'gs.server_side_encryption_customer_supplied and gs.server_side_encryption_kms_key_id exclude each other',
    );
  }
  const credentials = await openGsCredentials(config, gsEndpoint(config) !== undefined);
  return new GsAdapter(config, credentials, options);
}

export class GsAdapter extends RemoteAdapter implements BlockAdapter {
  readonly type = 'gs';
  readonly info: StorageInfo;
  readonly #client: GsClient;
  readonly #objects: ObjectCalls;
  readonly #multipart: MultipartCalls;

  constructor(config: GsStoreConfig, credentials: GsCredentials, { logger }: OpenOptions = {}) {
    super();
    this.#client = new GsClient(config, credentials, logger);
    this.#objects = new ObjectCalls(this.#client, logger);
    this.#multipart = new MultipartCalls(this.#client, this.#objects);
    const preSign = config.disablePreSigned !== true;
    this.info = storageInfo('gs', config, {
      productionSafe: true,
      defaultNamespacePrefix: config.defaultNamespacePrefix ?? '',
      preSignSupport: preSign,
      preSignSupportUi: preSign && config.disablePreSignedUi === false,
      preSignMultipartUpload: false,
      importSupport: true,
    });
  }

  readonly connectionsInUse = (): number => this.#client.connectionsInUse;

  put(pointer: ObjectPointer, body: BodySource, options: PutOptions = {}): Promise<PutResult> {
    return owningBody(body, async () => {
      options.signal?.throwIfAborted();
      return putResultOf(await this.#write(resolveBucketObject('gs', pointer), body, options));
    });
  }

  async #write(
    target: ReturnType<typeof resolveBucketObject>,
    body: BodySource,
    options: PutOptions,
  ): Promise<GsObject> {
    return body instanceof Uint8Array
      ? await this.#objects.putBytes(target, bytesRequest(body), options)
      : await this.#objects.putStream(target, body, options);
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    return await this.#objects.open(resolveBucketObject('gs', pointer));
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    checkRangeOrder(start, end);
    return await this.#objects.open(resolveBucketObject('gs', pointer), { start, end });
  }

  async properties(pointer: ObjectPointer): Promise<ObjectProperties> {
    return propertiesOf(await this.#objects.head(resolveBucketObject('gs', pointer)));
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    await this.#objects.delete(resolveBucketObject('gs', pointer));
  }

  deleteMany(pointers: readonly ObjectPointer[], options?: DeleteManyOptions): Promise<DeleteFailure[]> {
    return this.deletePointers(
      pointers,
      (pointer) => resolveBucketObject('gs', pointer),
      this.#objects,
      options,
    );
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    const from = resolveBucketObject('gs', source);
    const { size, etag, lastModified } = await this.#objects.copy(
      from,
      resolveBucketObject('gs', destination),
    );
    return { size, etag, lastModified };
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    return await this.#multipart.create(resolveBucketObject('gs', pointer), options);
  }

  uploadPart(
    upload: MultipartUpload,
    partNumber: number,
    body: BodySource,
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    return owningBody(body, async () => {
      checkPartNumber(partNumber);
      const target = resolveBucketObject('gs', upload.pointer);
      await this.#multipart.find(target, upload.uploadId);
      const stored = await this.#write({ ...target, key: partKey(target.key, partNumber) }, body, {});
      const part = uploadedPart(stored);
      await accept?.(part);
      return part;
    });
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
    const from = resolveBucketObject('gs', source);
    const target = resolveBucketObject('gs', upload.pointer);
    const { size = '0', md5Hash } = await this.#objects.head(from);
    const cut =
      range === undefined
        ? undefined
        : { start: range.start, end: checkRange(range.start, range.end, Number(size)) };
    if (cut === undefined && md5Hash) {
      await this.#multipart.find(target, upload.uploadId);
      const { object } = await this.#objects.copy(from, { ...target, key: partKey(target.key, partNumber) });
      const part = uploadedPart({ ...object, md5Hash });
      await accept?.(part);
      return part;
    }
    // The service copies whole objects only, and does not hash what was composed.
    const body = await this.#objects.open(from, cut);
    const content = body.bytes ?? { stream: body.stream(), size: body.size };
    return await this.uploadPart(upload, partNumber, content, accept);
  }

  async completeMultipart(
    upload: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    checkPartList(parts);
    return await this.#multipart.complete(resolveBucketObject('gs', upload.pointer), upload.uploadId, parts);
  }

  async abortMultipart(upload: MultipartUpload): Promise<void> {
    await this.#multipart.abort(resolveBucketObject('gs', upload.pointer), upload.uploadId);
  }

  deletion(storageNamespace: string): Promise<StoreDeletion> {
    return bucketDeletion(this.#client, storageNamespace);
  }

  staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    return this.#multipart.stale(storageNamespace, before);
  }

  async *walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const { bucket, key, baseLength } = resolveWalk('gs', uri);
    const after = resolveWalkAfter('gs', bucket, options.after);
    for await (const page of listObjects(this.#client, { bucket, key }, after, options.signal)) {
      const walked = page
        .filter(({ name }) => name !== after)
        .map((object) => {
          const { size, lastModified } = propertiesOf(object);
          return {
            uri: `gs://${bucket}/${object.name}`,
            relativeKey: object.name.slice(baseLength),
            etag: contentEtag(object),
            size,
            lastModified,
          };
        });
      if (walked.length > 0) yield walked;
    }
  }

  async presign(
    pointer: ObjectPointer,
    mode: 'read' | 'write',
    options: PresignOptions = {},
  ): Promise<PresignedUrl> {
    if (!this.info.preSignSupport)
      throw new BlockError('not_supported', 'operation not supported: gs.disable_pre_signed is set');
    const query: [string, string][] = [];
    if (mode === 'read' && options.fileName !== undefined)
      query.push(['response-content-disposition', attachment(options.fileName)]);
    return await this.#client.presign(
      mode === 'read' ? 'GET' : 'PUT',
      resolveBucketObject('gs', pointer),
      query,
    );
  }

  async presignPart(): Promise<PresignedUrl> {
    throw new BlockError(
      'not_supported',
      'operation not supported: a store of type gs has no pre-signed parts',
    );
  }

  async region(): Promise<undefined> {
    return undefined;
  }

  validateNamespace(storageNamespace: string): void {
    if (!storageNamespace.startsWith('gs://')) {
      throw new BlockError(
        'invalid_namespace',
        `"${storageNamespace}" must match ${this.info.namespaceValidityRegex}`,
      );
    }
    resolveBucketPrefix('gs', storageNamespace);
  }

  absoluteUri(pointer: ObjectPointer): string {
    const { bucket, key } = resolveBucketObject('gs', pointer);
    return `gs://${bucket}/${key}`;
  }

  async canonicalUri(uri: string): Promise<string> {
    return canonicalBucketUri('gs', uri);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
