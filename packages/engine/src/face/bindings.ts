import type { MoveKind, Timestamp } from '@svc/encoding';
import type { JobRound } from './jobs.ts';
import type { Actor, Page, PageRequest, Repository } from './model.ts';

/** What a bucket name is to mean. */
export interface BindingTarget {
  readonly repository: string;
  /** Any ref expression; a plain branch name shows uncommitted changes too. */
  readonly ref: string;
  readonly prefix?: string | undefined;
  /** Resolves the ref now, once and for all. */
  readonly pin?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
  readonly description?: string | undefined;
}

export interface Binding {
  readonly bucket: string;
  readonly repository: string;
  readonly ref: string;
  /** What it shows now; absent when it dangles. */
  readonly commitId: string | undefined;
  readonly pinned: boolean;
  readonly prefix: string;
  readonly readOnly: boolean;
  readonly writable: boolean;
  /** The repository, or what the ref names, is not there. */
  readonly dangling: boolean;
  readonly description: string;
  readonly createdAt: Timestamp;
  readonly createdBy: string;
  readonly updatedAt: Timestamp;
  readonly updatedBy: string;
  readonly generation: number;
}

/** One move of an alias. */
export interface BindingMove {
  readonly id: string;
  readonly time: Timestamp;
  readonly kind: MoveKind;
  readonly user: string;
  readonly old: BoundPlace | undefined;
  readonly new: BoundPlace | undefined;
}

export interface BoundPlace {
  readonly repository: string;
  readonly ref: string;
  /** Set when it was pinned. */
  readonly commitId: string | undefined;
  readonly prefix: string;
}

/** Where a bucket leads. */
export interface Bucket {
  readonly repository: Repository;
  /** Absent: the bucket is the repository itself, and keys begin with a ref. */
  readonly bound: BoundBucket | undefined;
}

export interface BoundBucket {
  readonly bucket: string;
  /** The commit of a pinned one. */
  readonly ref: string;
  readonly prefix: string;
  readonly readOnly: boolean;
}

export interface ListAliasesOptions extends PageRequest {
  /** Only aliases of this repository. */
  readonly repository?: string | undefined;
  readonly visible?: ((name: string, repository: string) => boolean) | undefined;
}

interface NamedAlias {
  readonly name: string;
}

interface OfKey {
  readonly accessKeyId: string;
}

/** Names of buckets that stand for a ref, or for a folder of it. Who has moved one decides what its readers get. */
export interface Bindings {
  /** Reads the store each time: a swap holds for every request that begins after its answer. */
  findBucket(bucket: string): Promise<Bucket>;
  /** As `findBucket`, without waiting: undefined when one must wait to know, or when there is none. */
  findBucketAtOnce(bucket: string): Bucket | undefined;
  /** As `findBucket`, for an access key that knows one bucket only. */
  findBucketOfKey(options: OfKey & { readonly bucket: string }): Promise<Bucket>;
  listAliases(options: ListAliasesOptions): Promise<Page<Binding>>;
  getAlias(name: string): Promise<Binding>;
  createAlias(
    options: NamedAlias & { readonly target: BindingTarget; readonly actor: Actor },
  ): Promise<Binding>;
  setAlias(
    options: NamedAlias & {
      readonly target: BindingTarget;
      readonly actor: Actor;
      /** Refused when it was moved since. */
      readonly ifGeneration?: number | undefined;
    },
  ): Promise<{ readonly before: Binding; readonly after: Binding }>;
  /** To what it meant before the move; before the last one when absent. */
  rollbackAlias(
    options: NamedAlias & { readonly moveId?: string | undefined; readonly actor: Actor },
  ): Promise<Binding>;
  deleteAlias(options: NamedAlias & { readonly actor: Actor }): Promise<void>;
  /** Newest first. */
  aliasLog(
    options: NamedAlias & { readonly after?: string | undefined; readonly amount?: number | undefined },
  ): Promise<Page<BindingMove>>;
  getView(accessKeyId: string): Promise<Binding | undefined>;
  setView(
    options: OfKey & {
      /** The name of the repository when absent. */
      readonly bucket?: string | undefined;
      readonly target: BindingTarget;
      readonly actor: Actor;
    },
  ): Promise<Binding>;
  deleteView(options: OfKey & { readonly actor: Actor }): Promise<void>;
  /** Removes views of keys that are gone or bound no more: what crashes left. Young ones may still get their key. */
  removeUnusedViews(options: {
    readonly isUsed: (accessKeyId: string) => Promise<boolean>;
    readonly round: JobRound;
  }): Promise<void>;
}
