import type { StringMap, Timestamp } from '@svc/encoding';

/** Who asks. `committer` is what commits and pull requests record; `userId` is handed to hook runners. */
export interface Actor {
  readonly committer: string;
  readonly userId?: string | undefined;
  /** Of the request, for the log of moves. */
  readonly requestId?: string | undefined;
}

export interface Repository {
  readonly id: string;
  readonly storageId: string;
  readonly storageNamespace: string;
  readonly defaultBranch: string;
  readonly creationDate: Timestamp;
  readonly state: 'active' | 'in_deletion';
  /** Fresh per creation: child records of a deleted namesake are never seen. */
  readonly instanceUid: string;
  readonly readOnly: boolean;
  /** `_svc` or, in an adopted namespace, `_lakefs`. */
  readonly metadataPrefix: string;
}

export interface Ref {
  readonly id: string;
  readonly commitId: string;
}

export interface BranchRef extends Ref {
  readonly hidden: boolean;
}

export interface Commit {
  readonly id: string;
  readonly committer: string;
  readonly message: string;
  readonly creationDate: Timestamp;
  /** `""` is the empty tree of a repository's first commit. */
  readonly metaRangeId: string;
  readonly parents: readonly string[];
  readonly metadata: StringMap;
  readonly version: number;
  readonly generation: number;
}

/** What a ref expression stands for. */
export interface ResolvedRef {
  readonly kind: 'branch' | 'tag' | 'commit';
  readonly commitId: string;
  /** Set when the ref is a plain branch name, `branch$` or `branch@`. */
  readonly branch: string | undefined;
  /** Reads see uncommitted changes of `branch`. */
  readonly staged: boolean;
  /** Of a time in a ref: the move that had put the ref there, if it was recorded. */
  readonly moveId?: string | undefined;
  /** Of a time in a ref: a time at which the ref stood there. */
  readonly time?: Timestamp | undefined;
}

export interface PageRequest {
  readonly prefix?: string | undefined;
  /** Exclusive. */
  readonly after?: string | undefined;
  /** Absent, 0 or -1 is 100; more than 1000 is cut to 1000 unless the operation says otherwise. */
  readonly amount?: number | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  /** Id of the last item when there is more, else `""`. */
  readonly nextOffset: string;
}

/** Bypasses the read-only flag of the repository, nothing else. */
export interface Forceable {
  readonly force?: boolean | undefined;
}

export interface InRepository {
  readonly repository: string;
}

export interface OnBranch extends InRepository {
  readonly branch: string;
}
