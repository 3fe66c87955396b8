import type { BodySource, ObjectBody, PresignedUrl } from '@svc/block';
import type { StringMap, Timestamp } from '@svc/encoding';
import type { ChecksumName } from '../objects/content-metadata.ts';
import type { ObjectTag } from '../objects/object-tags.ts';
import type { Forceable, InRepository, OnBranch, PageRequest, Repository } from './model.ts';

/** One object of a ref. */
export interface ObjectEntry {
  readonly path: string;
  /** Absolute URI. */
  readonly physicalAddress: string;
  /** As stored: relative to the namespace (`data/…`) or a full URI. */
  readonly address: string;
  readonly addressType: 'relative' | 'full' | 'by_prefix';
  /** Checksum without quotes. */
  readonly etag: string;
  readonly size: number;
  readonly mtime: Timestamp;
  /** Stored value; may be `""` (imports), which readers show as `application/octet-stream`. */
  readonly contentType: string;
  readonly metadata: StringMap;
  /** Set when the operation was asked to presign. */
  readonly presigned?: PresignedUrl | undefined;
}

/**
 * A listed item, decoded field by field on demand. The page hands out one reused cursor: read what is needed
 * inside the callback and keep nothing of it.
 */
export interface ListedObject {
  readonly kind: 'object' | 'common_prefix';
  /** Path bytes. */
  readonly key: Buffer;
  readonly path: string;
  readonly physicalAddress: string;
  readonly address: string;
  readonly addressType: 'relative' | 'full' | 'by_prefix';
  readonly etag: string;
  readonly size: number;
  readonly mtime: Timestamp;
  readonly contentType: string;
  readonly metadata: StringMap;
  readonly presigned: PresignedUrl | undefined;
}

export interface ObjectPage {
  readonly count: number;
  readonly hasMore: boolean;
  readonly nextOffset: string;
  /** Once per item in key order, synchronously, with one reused cursor. */
  visit(visitor: (item: ListedObject) => void): void;
  /** Plain copies, for callers that do not mind an object per item. */
  toArray(): ListedObjectCopy[];
  /** The items as a JSON array, much quicker than by visiting them. */
  json(options: PageJsonOptions): PageJson;
  /** Gives the page's memory to the next page; its items are gone. Optional: the collector frees it otherwise. */
  release(): void;
}

/** Items have the fields of `ObjectStats` in the API. */
export interface PageJsonOptions {
  /** JSON around the array, which makes it a whole answer. */
  readonly before: string;
  readonly after: string;
  readonly withMetadata: boolean;
  /** May the caller have the URL of that path? Absent: no URL is shown. */
  readonly mayRead?: ((path: string) => boolean) | undefined;
}

/** The body is good until `release`, which is called at most once. */
export interface PageJson {
  readonly body: Buffer;
  readonly release: () => void;
}

export type ListedObjectCopy =
  | ({ readonly kind: 'object' } & ObjectEntry)
  | { readonly kind: 'common_prefix'; readonly path: string };

export interface ListObjectsOptions extends InRepository, PageRequest {
  readonly ref: string;
  readonly delimiter?: string | undefined;
  readonly presign?: boolean | undefined;
  /** Largest page; 1000 unless the caller has another limit (the gateway: 10000). */
  readonly maxAmount?: number | undefined;
}

/**
 * `ifNoneMatch: '*'` = only when absent; `ifMatch` = only when the etag (or `*` any object) is current. Refusals:
 * `precondition_failed` when it does not hold, `not_found` of subject `object` when `ifMatch` finds no object,
 * `conflict` of subject `object` when an `ifMatch` write lost a race.
 */
export interface WriteCondition {
  readonly ifNoneMatch?: '*' | undefined;
  readonly ifMatch?: string | undefined;
}

export type DigestName =
  | 'sha1'
  | 'sha256'
  | 'sha512'
  | 'crc32'
  | 'crc32c'
  | 'crc64nvme'
  | 'xxhash64'
  | 'xxhash3'
  | 'xxhash128';

/** What was hashed on the way: raw digest bytes. */
export interface BodyDigests {
  readonly md5: Buffer;
  readonly size: number;
  readonly extra: Readonly<Partial<Record<DigestName, Buffer>>>;
}

export interface UploadObjectOptions extends OnBranch, Forceable, WriteCondition {
  readonly path: string;
  readonly body: BodySource;
  readonly contentType?: string | undefined;
  readonly metadata?: StringMap | undefined;
  readonly storageClass?: string | undefined;
  /** Digests computed besides MD5. */
  readonly digests?: readonly DigestName[] | undefined;
  /**
   * Runs after the data is stored and before the entry is staged; throwing removes the data. What it returns is kept
   * with the entry beside `metadata`.
   */
  readonly verify?: ((digests: BodyDigests) => StringMap | undefined) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The repository as `repositories.get` gave it for the same request: it is not opened again. */
  readonly opened?: Repository | undefined;
}

export interface StageObjectOptions extends OnBranch, Forceable, AddressRights {
  readonly path: string;
  readonly physicalAddress: string;
  readonly checksum: string;
  readonly size: number;
  /** Unix seconds; absent is now. */
  readonly mtime?: number | undefined;
  readonly metadata?: StringMap | undefined;
  readonly contentType?: string | undefined;
}

/** What a caller may do with data they name by its place in the store. A right that is absent is not theirs. */
export interface AddressRights {
  /**
   * May they read every object of that repository? Asked of an address in its namespace that carries no valid link
   * token, because such an address may belong to any path.
   */
  readonly mayReadRepository?: ((repository: string) => boolean | Promise<boolean>) | undefined;
  /** Throws when they may not import an address outside the repository's own namespace. Absent refuses nothing. */
  readonly checkImport?: ((address: string) => void | Promise<void>) | undefined;
  /** The same of every address that begins with `start`. */
  readonly checkImportBelow?: ((start: string) => void | Promise<void>) | undefined;
  /** May they read every object of every repository and import from everywhere? Then no address is checked. */
  readonly mayUseEveryAddress?: (() => boolean | Promise<boolean>) | undefined;
}

export interface LinkObjectOptions extends StageObjectOptions, WriteCondition {}

export interface CopyObjectOptions extends Forceable, WriteCondition {
  readonly source: { readonly repository: string; readonly ref: string; readonly path: string };
  readonly destination: { readonly repository: string; readonly branch: string; readonly path: string };
  /** Replaces the source's metadata, but not what is said there of its bytes. */
  readonly metadata?: StringMap | undefined;
  /** Replaces the source's tags, which are copied otherwise, whatever becomes of the other metadata. */
  readonly tags?: readonly ObjectTag[] | undefined;
  /** Replaces the source's content type. */
  readonly contentType?: string | undefined;
  /** The bytes are read, and this checksum of them is kept instead of the source's. */
  readonly checksum?: ChecksumName | undefined;
  /** Runs on the source entry before anything is copied (copy-source conditions). */
  readonly checkSource?: ((source: ObjectEntry) => void) | undefined;
}

export interface DeleteObjectOptions extends OnBranch, Forceable {
  readonly path: string;
  readonly noTombstone?: boolean | undefined;
  /** Only when the etag (or `*`) is current; a missing object is no error. */
  readonly ifMatch?: string | undefined;
}

export interface DeleteObjectsOptions extends OnBranch, Forceable {
  /** At most 1000. */
  readonly paths: readonly string[];
  readonly noTombstone?: boolean | undefined;
}

/** One path that was not deleted; the others were. */
export interface ObjectFailure {
  readonly path: string;
  readonly error: Error;
}

export interface ObjectLocation extends InRepository {
  readonly ref: string;
  readonly path: string;
}

export interface ShownObject {
  readonly entry: ObjectEntry;
  /** Where the ref stood that showed it. */
  readonly commitId: string;
}

export interface OpenedObject {
  readonly entry: ObjectEntry;
  /** The whole object, or bytes `range.start..range.end` (inclusive). */
  readonly body: ObjectBody;
}

export interface PhysicalAddress {
  /** Signed address to give back to `link`. */
  readonly physicalAddress: string;
  readonly presigned: PresignedUrl | undefined;
}

export interface PresignedMultipart {
  readonly uploadId: string;
  readonly physicalAddress: string;
  readonly presignedUrls: readonly string[];
}

export interface PresignedMultipartTarget extends OnBranch {
  readonly path: string;
  readonly uploadId: string;
  readonly physicalAddress: string;
}

export interface Objects {
  upload(options: UploadObjectOptions): Promise<ObjectEntry>;
  /** Stores data for a resolution of `path` in a merge into `branch`. Nothing is staged. */
  uploadScratch(
    options: Pick<
      UploadObjectOptions,
      'repository' | 'branch' | 'path' | 'force' | 'body' | 'contentType' | 'metadata' | 'signal'
    >,
  ): Promise<ObjectEntry>;
  /** Everything `upload` refuses before it reads the body (for `100-continue` and early errors). */
  checkUpload(
    options: Omit<UploadObjectOptions, 'body' | 'verify' | 'digests' | 'storageClass' | 'signal'>,
  ): Promise<void>;
  stage(options: StageObjectOptions): Promise<ObjectEntry>;
  stat(options: ObjectLocation & { readonly presign?: boolean | undefined }): Promise<ObjectEntry>;
  find(location: ObjectLocation): Promise<ShownObject>;
  /** Opens the data; `range` must lie inside the object (`size` of the entry is known from `stat`). */
  open(
    options: ObjectLocation & {
      readonly range?: ((entry: ObjectEntry) => { start: number; end: number } | undefined) | undefined;
    },
  ): Promise<OpenedObject>;
  /** Opens the data of an entry that was just read. */
  openEntry(
    repository: string,
    entry: ObjectEntry,
    range?: { readonly start: number; readonly end: number },
  ): Promise<ObjectBody>;
  list(options: ListObjectsOptions): Promise<ObjectPage>;
  /** Paths of committed objects that lie far apart, so that reading them reads most of the tree's tables. */
  samplePaths(options: InRepository & { readonly ref: string; readonly amount: number }): Promise<string[]>;
  copy(options: CopyObjectOptions): Promise<ObjectEntry>;
  updateMetadata(options: OnBranch & { readonly path: string; readonly metadata: StringMap }): Promise<void>;
  /** Replaces the tags of an object. */
  setTags(options: OnBranch & { readonly path: string; readonly tags: readonly ObjectTag[] }): Promise<void>;
  delete(options: DeleteObjectOptions): Promise<void>;
  deleteMany(options: DeleteObjectsOptions): Promise<ObjectFailure[]>;
  underlyingProperties(options: ObjectLocation): Promise<{ storageClass: string | undefined }>;

  getPhysicalAddress(
    options: OnBranch & { readonly path: string; readonly presign?: boolean | undefined },
  ): Promise<PhysicalAddress>;
  link(options: LinkObjectOptions): Promise<ObjectEntry>;

  createPresignedMultipart(
    options: OnBranch & { readonly path: string; readonly parts?: number | undefined },
  ): Promise<PresignedMultipart>;
  presignMultipartPart(
    options: PresignedMultipartTarget & { readonly partNumber: number },
  ): Promise<PresignedUrl>;
  copyMultipartPart(
    options: PresignedMultipartTarget & {
      readonly partNumber: number;
      readonly source: ObjectLocation;
      readonly range?: { readonly start: number; readonly end: number } | undefined;
    },
  ): Promise<{ etag: string }>;
  completePresignedMultipart(
    options: PresignedMultipartTarget & {
      readonly parts: readonly { readonly partNumber: number; readonly etag: string }[];
      readonly metadata?: StringMap | undefined;
      readonly contentType?: string | undefined;
    },
  ): Promise<ObjectEntry>;
  abortPresignedMultipart(options: PresignedMultipartTarget): Promise<void>;
}
