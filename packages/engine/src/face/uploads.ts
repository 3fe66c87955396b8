import type { BodySource } from '@svc/block';
import type { StringMap, Timestamp } from '@svc/encoding';
import type { Forceable, InRepository, OnBranch } from './model.ts';
import type { BodyDigests, DigestName, ObjectEntry, ObjectLocation, WriteCondition } from './objects.ts';

/** A multipart upload of the gateway; its id is ours, never the store's. */
export interface Upload {
  readonly uploadId: string;
  readonly repository: string;
  readonly branch: string;
  readonly path: string;
  readonly creationDate: Timestamp;
  readonly owner: string;
  readonly metadata: StringMap;
  readonly contentType: string;
  /** Stored response headers; keys are ready to be merged into the entry's metadata by `complete`. */
  readonly systemHeaders: StringMap;
  readonly storageClass: string;
  /** As asked for when the upload began; empty when nothing was said. */
  readonly checksumAlgorithm: string;
  readonly checksumType: string;
  /** The key it was begun with in a bound bucket; empty elsewhere. */
  readonly bucketKey: string;
}

export interface UploadPart {
  readonly partNumber: number;
  /** MD5 hex. */
  readonly etag: string;
  readonly size: number;
  readonly lastModified: Timestamp;
  /** Verified checksum headers, name to base64. */
  readonly checksums: StringMap;
}

/** Names one upload; every call checks that all four belong together, else the upload is not found. */
export interface UploadTarget extends OnBranch {
  readonly path: string;
  readonly uploadId: string;
}

export interface CreateUploadOptions extends OnBranch, Forceable {
  readonly path: string;
  readonly owner: string;
  readonly metadata?: StringMap | undefined;
  readonly contentType?: string | undefined;
  readonly systemHeaders?: StringMap | undefined;
  readonly storageClass?: string | undefined;
  readonly checksumAlgorithm?: string | undefined;
  readonly checksumType?: string | undefined;
  /** Begun through a bound bucket: it stays where it began, whatever the bucket means later. */
  readonly bucket?: BucketKey | undefined;
}

export interface BucketKey {
  readonly bucket: string;
  readonly key: string;
}

export interface PutPartOptions extends UploadTarget {
  readonly partNumber: number;
  readonly body: BodySource;
  readonly digests?: readonly DigestName[] | undefined;
  /** Throwing discards the part. Returns the checksum headers to remember. */
  readonly verify?: ((digests: BodyDigests) => StringMap | undefined) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CopyPartOptions extends UploadTarget {
  readonly partNumber: number;
  readonly source: ObjectLocation;
  /** Inclusive; must lie inside the source. */
  readonly range?: { readonly start: number; readonly end: number } | undefined;
  readonly checkSource?: ((source: ObjectEntry) => void) | undefined;
  /** Read from the copied bytes and remembered with the part. */
  readonly digest?: DigestName | 'md5' | undefined;
}

export interface CompleteUploadOptions extends UploadTarget, Forceable, WriteCondition {
  readonly parts: readonly { readonly partNumber: number; readonly etag: string }[];
  /** Refused when the object would have another size. */
  readonly expectedSize?: number | undefined;
  /**
   * Runs on the listed parts before they are joined; throwing refuses the completion. What it returns is kept with the
   * entry beside the upload's metadata.
   */
  readonly describe?: ((upload: Upload, parts: readonly UploadPart[]) => StringMap) | undefined;
}

export interface ListUploadsOptions extends InRepository {
  /** Those begun through this bound bucket; prefix, markers and delimiter then apply to their keys in it. */
  readonly bucket?: string | undefined;
  /** Prefix, markers and delimiter apply to `<branch>/<path>`. */
  readonly prefix?: string | undefined;
  readonly delimiter?: string | undefined;
  readonly keyMarker?: string | undefined;
  readonly uploadIdMarker?: string | undefined;
  readonly amount?: number | undefined;
}

export interface UploadPage {
  readonly uploads: readonly Upload[];
  readonly commonPrefixes: readonly string[];
  readonly hasMore: boolean;
  readonly nextKeyMarker: string;
  readonly nextUploadIdMarker: string;
}

export interface Uploads {
  create(options: CreateUploadOptions): Promise<Upload>;
  get(target: UploadTarget): Promise<Upload>;
  putPart(options: PutPartOptions): Promise<UploadPart>;
  copyPart(options: CopyPartOptions): Promise<UploadPart>;
  /**
   * An unknown part or one with another etag is `invalid` of subject `part`, a part the store finds too small is
   * `invalid` of subject `part_size`, another size than expected is `invalid` of subject `upload`.
   */
  complete(options: CompleteUploadOptions): Promise<ObjectEntry>;
  abort(target: UploadTarget): Promise<void>;
  listParts(
    options: UploadTarget & { readonly after?: number | undefined; readonly amount?: number | undefined },
  ): Promise<{ parts: UploadPart[]; hasMore: boolean }>;
  list(options: ListUploadsOptions): Promise<UploadPage>;
  /** Where an upload began that a bound bucket knows by this key; undefined when there is none. */
  findOfBucket(
    options: BucketKey & { readonly uploadId: string },
  ): Promise<(OnBranch & { readonly path: string }) | undefined>;
}
