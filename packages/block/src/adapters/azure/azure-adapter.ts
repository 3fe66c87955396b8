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
import { checkPartList, checkPartNumber, checkRange, checkRangeOrder } from '../../checks.ts';
import { storageInfo, type AzureStoreConfig, type OpenOptions } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { attachment } from '../../remote/answers.ts';
import { owningBody, RemoteAdapter } from '../../remote/remote-adapter.ts';
import { bytesRequest, streamRequest } from '../../remote/request-body.ts';
import { compareAsBytes, sortedWalk } from '../../remote/sorted-walk.ts';
import type { AzureAddresses } from './addresses.ts';
import { BlobCalls } from './blob-calls.ts';
import { accountDeletion } from './account-deletion.ts';
import { AzureClient } from './client.ts';
import { listBlobs } from './list.ts';
import { MultipartCalls } from './multipart-calls.ts';

const mebibyte = 1024 * 1024;
/** Put Blob takes no more. */
const maxSingleSize = 5000 * mebibyte;

export async function openAzureAdapter(
  config: AzureStoreConfig,
  options: OpenOptions = {},
): Promise<BlockAdapter> {
  return new AzureAdapter(config, options);
}

/** Sizes at which the service wants another call; tests make them small. */
export interface AzureLimits {
  readonly synchronousCopy?: number;
  readonly block?: number;
}

export class AzureAdapter extends RemoteAdapter implements BlockAdapter {
  readonly type = 'azure';
  readonly info: StorageInfo;
  readonly #client: AzureClient;
  readonly #addresses: AzureAddresses;
  readonly #blobs: BlobCalls;
  readonly #multipart: MultipartCalls;

  constructor(config: AzureStoreConfig, { logger }: OpenOptions = {}, limits: AzureLimits = {}) {
    super();
    this.#client = new AzureClient(config, logger);
    this.#addresses = this.#client.addresses;
    this.#blobs = new BlobCalls(this.#client, logger, limits.synchronousCopy);
    this.#multipart = new MultipartCalls(this.#client, this.#blobs, limits.block);
    const preSign = config.disablePreSigned !== true;
    const { namespaceRegex, namespaceExample } = this.#addresses;
    this.info = storageInfo('azure', config, {
      productionSafe: true,
      defaultNamespacePrefix: config.defaultNamespacePrefix ?? '',
      preSignSupport: preSign,
      preSignSupportUi: preSign && config.disablePreSignedUi === false,
      preSignMultipartUpload: false,
      importSupport: true,
      namespaceExample,
      namespaceValidityRegex: namespaceRegex,
      importValidityRegex: namespaceRegex,
    });
  }

  readonly connectionsInUse = (): number => this.#client.connectionsInUse;

  put(pointer: ObjectPointer, body: BodySource, options: PutOptions = {}): Promise<PutResult> {
    return owningBody(body, async () => {
      const place = this.#addresses.resolve(pointer);
      options.signal?.throwIfAborted();
      if (body instanceof Uint8Array) return await this.#blobs.put(place, bytesRequest(body), options);
      if (body.size > mebibyte && body.size <= maxSingleSize) {
        return await this.#blobs.put(place, streamRequest(body.stream, body.size), options);
      }
      return await this.#multipart.putInBlocks(place, body, options);
    });
  }

  async get(pointer: ObjectPointer): Promise<ObjectBody> {
    return await this.#blobs.open(this.#addresses.resolve(pointer));
  }

  async getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody> {
    checkRangeOrder(start, end);
    return await this.#blobs.open(this.#addresses.resolve(pointer), { start, end });
  }

  async properties(pointer: ObjectPointer): Promise<ObjectProperties> {
    const { size, etag, lastModified, storageClass } = await this.#blobs.head(
      this.#addresses.resolve(pointer),
    );
    return { size, etag, lastModified, storageClass };
  }

  async delete(pointer: ObjectPointer): Promise<void> {
    await this.#blobs.delete(this.#addresses.resolve(pointer));
  }

  deleteMany(pointers: readonly ObjectPointer[], options?: DeleteManyOptions): Promise<DeleteFailure[]> {
    return this.deletePointers(pointers, (pointer) => this.#addresses.resolve(pointer), this.#blobs, options);
  }

  async copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult> {
    return await this.#blobs.copy(this.#addresses.resolve(source), this.#addresses.resolve(destination));
  }

  async createMultipart(pointer: ObjectPointer, options: PutOptions = {}): Promise<string> {
    return await this.#multipart.create(this.#addresses.resolve(pointer), options);
  }

  uploadPart(
    upload: MultipartUpload,
    partNumber: number,
    body: BodySource,
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    return owningBody(body, async () => {
      checkPartNumber(partNumber);
      const place = this.#addresses.resolve(upload.pointer);
      return await this.#multipart.uploadPart(place, upload.uploadId, partNumber, body, accept);
    });
  }

  /** Through this process: what the service copies itself it does not hash, and a part needs its MD5. */
  async uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
    accept?: AcceptPart,
  ): Promise<UploadedPart> {
    checkPartNumber(partNumber);
    if (range !== undefined) checkRangeOrder(range.start, range.end);
    const from = this.#addresses.resolve(source);
    const { size } = await this.#blobs.head(from);
    const cut =
      range === undefined ? undefined : { start: range.start, end: checkRange(range.start, range.end, size) };
    const body = await this.#blobs.open(from, cut);
    const part = body.bytes ?? { stream: body.stream(), size: body.size };
    return await this.uploadPart(upload, partNumber, part, accept);
  }

  async completeMultipart(
    upload: MultipartUpload,
    parts: readonly CompletedPart[],
  ): Promise<CompletedUpload> {
    checkPartList(parts);
    return await this.#multipart.complete(this.#addresses.resolve(upload.pointer), upload.uploadId, parts);
  }

  async abortMultipart(upload: MultipartUpload): Promise<void> {
    await this.#multipart.abort(this.#addresses.resolve(upload.pointer), upload.uploadId);
  }

  deletion(storageNamespace: string): Promise<StoreDeletion> {
    const { account } = this.#addresses.resolveWalk(`${storageNamespace}/`);
    return accountDeletion(this.#client, account);
  }

  staleUploads(storageNamespace: string, before: Date): AsyncGenerator<MultipartUpload> {
    return this.#multipart.stale(storageNamespace, before);
  }

  async *walk(uri: string, options: WalkOptions = {}): AsyncGenerator<WalkedObject[]> {
    const place = this.#addresses.resolveWalk(uri);
    const baseLength = place.key.lastIndexOf('/') + 1;
    const after = options.after === undefined ? undefined : this.#addresses.resolveWalk(options.after).key;
    const listing = this.#listing(place, baseLength, after, options.signal);
    // The service sorts by characters of its own, and with a hierarchical namespace folder by folder.
    yield* sortedWalk(listing);
  }

  async *#listing(
    place: ReturnType<AzureAddresses['resolveWalk']>,
    baseLength: number,
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<WalkedObject[]> {
    for await (const page of listBlobs(this.#client, place, signal)) {
      signal?.throwIfAborted();
      yield page
        .filter(({ key }) => after === undefined || compareAsBytes(key, after) > 0)
        .map(({ key, etag, size, lastModified }) => ({
          uri: this.#addresses.uriOf({ ...place, key }),
          relativeKey: key.slice(baseLength),
          etag,
          size,
          lastModified,
        }));
    }
  }

  async presign(
    pointer: ObjectPointer,
    mode: 'read' | 'write',
    options: PresignOptions = {},
  ): Promise<PresignedUrl> {
    if (!this.info.preSignSupport)
      throw new BlockError('not_supported', 'operation not supported: azure.disable_pre_signed is set');
    const place = this.#addresses.resolve(pointer);
    const disposition =
      mode === 'read' && options.fileName !== undefined ? attachment(options.fileName) : undefined;
    return await this.#client.sharedAccessUrl(place, mode === 'read' ? 'r' : 'raw', disposition);
  }

  async presignPart(): Promise<PresignedUrl> {
    throw new BlockError(
      'not_supported',
      'operation not supported: a store of type azure has no pre-signed parts',
    );
  }

  async region(): Promise<undefined> {
    return undefined;
  }

  validateNamespace(storageNamespace: string): void {
    this.#addresses.resolvePrefix(storageNamespace);
  }

  absoluteUri(pointer: ObjectPointer): string {
    return this.#addresses.uriOf(this.#addresses.resolve(pointer));
  }

  async canonicalUri(uri: string): Promise<string> {
    return this.#addresses.canonical(uri);
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}
