import type { StringMap } from '@svc/encoding';
import type { Actor, Commit, Forceable, InRepository, OnBranch, Page } from './model.ts';
import type { Steering } from './merges.ts';
import type { AddressRights } from './objects.ts';

export interface CommitOptions extends OnBranch, Forceable, AddressRights {
  readonly message: string;
  readonly metadata?: StringMap | undefined;
  /** Unix seconds; overrides the creation date. */
  readonly date?: number | undefined;
  readonly allowEmpty?: boolean | undefined;
  /** Takes this tree of the repository verbatim; the branch must be clean. Its addresses need `AddressRights`. */
  readonly sourceMetaRange?: string | undefined;
  readonly actor: Actor;
}

export interface LogOptions extends InRepository {
  readonly ref: string;
  /** Exclusive commit-valued ref. */
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
  /** Stop after `amount`; `hasMore` is then always false. */
  readonly limit?: boolean | undefined;
  readonly firstParent?: boolean | undefined;
  /** Milliseconds since 1970; older commits are neither shown nor followed. */
  readonly since?: number | undefined;
  readonly stopAt?: string | undefined;
  readonly objects?: readonly string[] | undefined;
  readonly prefixes?: readonly string[] | undefined;
}

export interface LastCommitsOptions extends InRepository {
  readonly ref: string;
  /** The folder, as a prefix. */
  readonly prefix: string;
  /** Entries of the folder; those that end with a slash are folders. */
  readonly paths: readonly string[];
}

export interface LastCommits {
  /** By path; what no commit was found for is absent. */
  readonly found: ReadonlyMap<string, Commit>;
  /** Whether the whole history was looked at where something was not found. */
  readonly complete: boolean;
}

/** How many commits each of two refs has that the other has not; 1001 stands for more than 1000. */
export interface Divergence {
  readonly left: number;
  readonly right: number;
}

/** A commit as another server computed it. */
export interface CommitRecord extends Omit<Commit, 'creationDate' | 'metadata'> {
  /** Unix seconds. */
  readonly creationDate: number;
  readonly metadata?: StringMap | undefined;
}

export interface CommitRecordOptions extends InRepository, Forceable, AddressRights {
  readonly commit: CommitRecord;
}

export interface CommitOverrides {
  /** `""` counts as none. */
  readonly message?: string | undefined;
  /** Replaces the whole map. */
  readonly metadata?: StringMap | undefined;
}

export interface CherryPickOptions extends OnBranch, Forceable, Steering {
  readonly ref: string;
  /** 1-based; required for merge commits. */
  readonly parentNumber?: number | undefined;
  readonly overrides?: CommitOverrides | undefined;
  readonly actor: Actor;
}

export interface RevertOptions extends OnBranch, Forceable, Steering {
  readonly ref: string;
  /** 1-based; 0 is unspecified. */
  readonly parentNumber?: number | undefined;
  readonly overrides?: CommitOverrides | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly actor: Actor;
}

export interface Commits {
  create(options: CommitOptions): Promise<Commit>;
  /** The commit of any commit-valued ref. */
  get(options: InRepository & { readonly ref: string }): Promise<Commit>;
  log(options: LogOptions): Promise<Page<Commit>>;
  /** The commit that brought each entry of a folder to where it is on this ref, along first parents. */
  last(options: LastCommitsOptions): Promise<LastCommits>;
  divergence(options: InRepository & { readonly left: string; readonly right: string }): Promise<Divergence>;
  /** Plumbing: stores a commit record whose id must match its content and whose tree must be the repository's. */
  createRecord(options: CommitRecordOptions): Promise<void>;
  cherryPick(options: CherryPickOptions): Promise<Commit>;
  revert(options: RevertOptions): Promise<Commit>;
}
