import type { Readable, Writable } from 'node:stream';
import type { BlockError } from './errors.ts';

/** How `identifier` is to be read: relative to the namespace, a full URI, or (old entries) whichever parses. */
export type IdentifierType = 'relative' | 'full' | 'unknown';

/** Names one object. `storageNamespace` is the repository's URI such as `s3://bucket/prefix` or `local://name`. */
export interface ObjectPointer {
  readonly storageNamespace: string;
  readonly identifier: string;
  readonly identifierType: IdentifierType;
}

/**
 * The object-store contract. One adapter instance serves one configured store (`storageId`); `BlockStores`
 * holds several.
 *
 * Guarantees every adapter gives (held by the exported suite):
 * - after `put`, `copy` or `completeMultipart` resolves the object is durable and whole; before that nothing of
 *   it is visible, and after a failure or abort nothing is left behind;
 * - bodies stream with back-pressure in both directions and bounded memory;
 * - a missing object is `BlockError('not_found')`, never an empty body;
 * - `properties().etag` equals the walker's etag for the same object and carries no quotes.
 */
export interface BlockAdapter {
  readonly type: BlockstoreType;
  readonly info: StorageInfo;

  put(pointer: ObjectPointer, body: BodySource, options?: PutOptions): Promise<PutResult>;
  /**
   * Makes a finished file of this machine an object without copying it, where the store lies on the same file system:
   * the two are one file then, which nobody may write to any more. False, with nothing done, when it cannot.
   */
  putFile?(pointer: ObjectPointer, path: string): Promise<boolean>;
  /** The other way round: an object as a new file at `path`. */
  getFile?(pointer: ObjectPointer, path: string): Promise<boolean>;
  get(pointer: ObjectPointer): Promise<ObjectBody>;
  /** As `get`, without a promise: undefined when the object is not small or would have to be waited for. */
  getAtOnce?(pointer: ObjectPointer): ObjectBody | undefined;
  /** `end` is inclusive and cut at the object's end; start < 0 or end < start is `bad_index`. */
  getRange(pointer: ObjectPointer, start: number, end: number): Promise<ObjectBody>;
  /** Whether a large object of known size is read sooner by `getRange`, which may read several parts of it at once. */
  prefersRanges?(): boolean;
  exists(pointer: ObjectPointer): Promise<boolean>;
  properties(pointer: ObjectPointer, options?: PropertiesOptions): Promise<ObjectProperties>;
  /** Idempotent. */
  delete(pointer: ObjectPointer): Promise<void>;
  /** Deletes all it can, in as few requests as the store allows; returns those that could not be deleted. */
  deleteMany(pointers: readonly ObjectPointer[], options?: DeleteManyOptions): Promise<DeleteFailure[]>;
  /** Removes a folder that holds nothing, where the store has folders; others stay. */
  removeEmptyFolder?(pointer: ObjectPointer): Promise<void>;
  copy(source: ObjectPointer, destination: ObjectPointer): Promise<CopyResult>;

  /** A store that flushes the upload itself runs `beside` meanwhile; others leave it to the caller. */
  createMultipart(pointer: ObjectPointer, options?: PutOptions, beside?: BesideUpload): Promise<string>;
  /** Parts 1..10000; a repeated number replaces. */
  uploadPart(
    upload: MultipartUpload,
    partNumber: number,
    body: BodySource,
    accept?: AcceptPart,
  ): Promise<UploadedPart>;
  uploadPartCopy(
    upload: MultipartUpload,
    partNumber: number,
    source: ObjectPointer,
    range?: { readonly start: number; readonly end: number },
    accept?: AcceptPart,
  ): Promise<UploadedPart>;
  /** Uses exactly the listed parts, in their order. */
  completeMultipart(upload: MultipartUpload, parts: readonly CompletedPart[]): Promise<CompletedUpload>;
  /** Idempotent clean-up. */
  abortMultipart(upload: MultipartUpload): Promise<void>;
  /** Uploads to addresses below a namespace that were begun before a time and neither completed nor aborted. */
  staleUploads(storageNamespace: string, before: Date): AsyncIterableIterator<MultipartUpload>;

  /** What becomes of a deleted object below a namespace, as far as the store tells. */
  deletion(storageNamespace: string): Promise<StoreDeletion>;

  /** Objects under a URI in key order; the key is relative to `relativeTo` (see `WalkedObject`). */
  walk(uri: string, options?: WalkOptions): AsyncIterableIterator<WalkedObject[]>;

  /**
   * The URI to walk for a source a user names. Only the local store differs: there a folder counts as if it ended in
   * `/`, and a source that is not there is `not_found` instead of empty.
   */
  importSource(uri: string): Promise<string>;

  presign(pointer: ObjectPointer, mode: 'read' | 'write', options?: PresignOptions): Promise<PresignedUrl>;
  presignPart(upload: MultipartUpload, partNumber: number): Promise<PresignedUrl>;

  /** The region of the bucket of a namespace, or undefined where the store has no regions. */
  region(storageNamespace: string): Promise<string | undefined>;

  /** Throws `invalid_namespace` when no repository of this store could live there. */
  validateNamespace(storageNamespace: string): void;
  /** Throws `invalid_address` or `forbidden` when the address could never be read or written here. */
  validateAddress(pointer: ObjectPointer): void;
  /** The absolute URI shown to users for a pointer, e.g. `s3://bucket/prefix/data/x` or `local:///abs/path`. */
  absoluteUri(pointer: ObjectPointer): string;
  /**
   * One comparable spelling per location (real path on the local store, no trailing slash), for questions such
   * as "does this address lie inside that namespace".
   */
  canonicalUri(uri: string): Promise<string>;
  /** How else policies may write a canonical URI, itself first: the local store knows its folders by name, too. */
  spellings(canonical: string): readonly string[];

  /** Connections to the store that serve a call right now; absent where there are none. */
  readonly connectionsInUse?: () => number;

  close(): Promise<void>;
}

export type BlockstoreType = 'local' | 'mem' | 's3' | 'gs' | 'azure';

/** What `GET /config/storage` says of a store. */
export interface StorageInfo {
  readonly storageId: string;
  readonly description: string;
  readonly backwardCompatible: boolean;
  readonly productionSafe: boolean;
  readonly namespaceExample: string;
  readonly namespaceValidityRegex: string;
  readonly importValidityRegex: string;
  readonly defaultNamespacePrefix: string;
  readonly preSignSupport: boolean;
  readonly preSignSupportUi: boolean;
  readonly preSignMultipartUpload: boolean;
  readonly importSupport: boolean;
}

/** A whole small body, or a stream of known or unknown (-1) length. */
export type BodySource = Uint8Array | BodyStream;

export interface BodyStream {
  readonly stream: Readable;
  readonly size: number;
  /**
   * For callers that hash on the way: called once after the last chunk, it returns the MD5 in hex, and an adapter
   * that needs one (parts on the local store) does not hash again.
   */
  readonly md5?: (() => string | Promise<string>) | undefined;
}

/**
 * `final`: a deleted object is gone. `versioned`: older versions stay, by the store's own rules. `soft`: it can be brought
 * back for a time. `unknown`: the store does not tell, or refused to.
 */
export type StoreDeletion = 'final' | 'versioned' | 'soft' | 'unknown';

export interface DeleteManyOptions {
  /**
   * Asked right before each request to the store, repeated ones too: once it says no, nothing more is deleted, and what is
   * left is answered as not deleted.
   */
  readonly mayGoOn?: (() => boolean) | undefined;
  /** Ends the requests under way. */
  readonly signal?: AbortSignal | undefined;
}

export interface PutOptions {
  readonly storageClass?: string | undefined;
  /** Fails with `already_exists` instead of overwriting. */
  readonly ifAbsent?: boolean | undefined;
  /**
   * The address was just generated and nothing refers to it yet, so it may be written in place: a crash may leave
   * an unfinished object there, which is garbage as every unreferenced address is. A store may refuse
   * an existing object there with `already_exists`. Faster on the local store.
   */
  readonly fresh?: boolean | undefined;
  /**
   * Whoever writes this address writes these bytes, and nothing refers to it before a write of it has succeeded, so
   * it may be written in place, too. What a crash or a failure leaves unfinished there, the next write replaces:
   * removing it could remove what another has written meanwhile. Faster on the local store.
   */
  readonly immutable?: boolean | undefined;
  readonly contentType?: string | undefined;
  /** Of the body, where it is known: a store that can check it refuses other bytes. */
  readonly md5?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface DeleteFailure {
  readonly pointer: ObjectPointer;
  readonly error: BlockError;
}

export interface PutResult {
  /** The store's modification time; undefined when it does not tell. */
  readonly lastModified: Date | undefined;
  readonly etag: string | undefined;
  /** The MD5 in hex of what the store received, where it tells. */
  readonly md5?: string | undefined;
}

export interface CopyResult extends PutResult {
  /** Bytes that were copied. */
  readonly size: number;
}

/**
 * An open object. It is read once, by `stream()` or `sendTo()`; an unread body must be released with `dispose()`.
 * Small objects may already be in memory: `bytes` is then set and neither call is needed.
 */
export interface ObjectBody {
  /** Bytes of this body: the object's, or the range's after cutting. */
  readonly size: number;
  readonly bytes: Buffer | undefined;
  stream(): Readable;
  /** Writes exactly `size` bytes into the sink and ends it; when either side fails the sink is destroyed. */
  sendTo(sink: Writable): Promise<void>;
  dispose(): void;
}

export interface PropertiesOptions {
  /** The etag may be empty: spares the local store reading the object. */
  readonly skipEtag?: boolean | undefined;
}

export interface ObjectProperties {
  readonly size: number;
  readonly etag: string;
  readonly lastModified: Date;
  readonly storageClass: string | undefined;
}

export interface MultipartUpload {
  readonly pointer: ObjectPointer;
  readonly uploadId: string;
}

export interface UploadedPart {
  /** MD5 hex without quotes. */
  readonly etag: string;
  readonly size: number;
  /** The MD5 in hex of what the store received, where it tells. */
  readonly md5?: string | undefined;
}

/**
 * Asked once the store has the whole part. When it refuses by throwing, the part goes again, and one of the same number
 * stays what it was; only a store that cannot hold a part back (S3) keeps the refused one until the upload ends.
 */
export type AcceptPart = (part: UploadedPart) => Promise<void>;

/**
 * What the caller has to store of a new upload. When it fails the upload is ended; when it succeeds and the upload fails,
 * it is for the caller to take back.
 */
export type BesideUpload = (uploadId: string) => Promise<void>;

export interface CompletedPart {
  readonly partNumber: number;
  readonly etag: string;
}

export interface CompletedUpload {
  readonly etag: string;
  readonly size: number;
  readonly lastModified: Date | undefined;
}

export interface WalkOptions {
  /** Continue after this object's full URI. */
  readonly after?: string | undefined;
  /** Etags may be empty: spares the local store reading every object. */
  readonly skipEtag?: boolean | undefined;
  /** All of it is wanted soon: a store may be asked for several parts at once. */
  readonly parallel?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface WalkedObject {
  /** Full URI, stored as the entry's address. */
  readonly uri: string;
  /** Key relative to the last `/` of the walked prefix. */
  readonly relativeKey: string;
  readonly etag: string;
  readonly size: number;
  readonly lastModified: Date;
}

export interface PresignOptions {
  /** Offered as the download's file name. */
  readonly fileName?: string | undefined;
}

export interface PresignedUrl {
  readonly url: string;
  readonly expiry: Date;
}
