import type { StringMap, Timestamp } from '@svc/encoding';
import type { Take, TakeCounts } from '../committed/tree.ts';
import type { Actor, Commit, Forceable, InRepository, OnBranch, Page } from './model.ts';

/** Data written for a resolution, at an address signed for the destination branch and path. */
export interface ResolutionObject {
  readonly physicalAddress: string;
  readonly checksum: string;
  readonly size: number;
  readonly contentType?: string | undefined;
  readonly metadata?: StringMap | undefined;
  /** Unix seconds; absent is now. */
  readonly mtime?: number | undefined;
}

/** Settles the conflict of one path, or those of all paths with a prefix or that match a glob. */
export interface Resolution {
  readonly path?: string | undefined;
  readonly prefix?: string | undefined;
  readonly glob?: string | undefined;
  /** `fail`, of a prefix or glob, leaves conflicts unresolved whatever the strategy. */
  readonly take: Take | 'fail';
  /** Of a path: only while these very versions are in conflict. */
  readonly conflictId?: string | undefined;
  /** With `object`, of a path. */
  readonly object?: ResolutionObject | undefined;
}

/** Written by a merge beside what it merges, at a path that none of the sides holds. */
export interface Addition {
  readonly path: string;
  readonly object: ResolutionObject;
}

/** How conflicts are settled, and what must not have moved meanwhile. */
export interface Steering {
  /** `dest-wins`, `source-wins`; absent or `""` is none. Others are refused. */
  readonly strategy?: string | undefined;
  /** The commit the branch must stand at. */
  readonly expectedDestination?: string | undefined;
  /** Before the strategy: the one of the path, else the first that matches. */
  readonly resolutions?: readonly Resolution[] | undefined;
}

export interface MergeSteering extends Steering {
  /** The commit the source must stand for. */
  readonly expectedSource?: string | undefined;
}

export interface MergeOptions extends InRepository, Forceable, MergeSteering {
  /** Any commit-valued ref. */
  readonly source: string;
  /** A plain branch name. */
  readonly destination: string;
  readonly message?: string | undefined;
  readonly metadata?: StringMap | undefined;
  /** Of the engine itself, beside the caller's. */
  readonly ownMetadata?: ((sourceCommitId: string) => StringMap) | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly squash?: boolean | undefined;
  /** What objects of resolutions need beside them. */
  readonly additions?: readonly Addition[] | undefined;
  readonly actor: Actor;
}

export interface MergeBase {
  readonly sourceCommitId: string;
  readonly destinationCommitId: string;
  readonly baseCommitId: string;
}

export type ConflictKind = 'both_added' | 'both_changed' | 'source_removed' | 'destination_removed';

export interface ConflictEntry {
  readonly etag: string;
  readonly size: number;
  readonly mtime: Timestamp;
  readonly contentType: string;
  readonly metadata: StringMap;
}

export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** 32 hexadecimal digits; another as soon as one of the three versions is another. */
  readonly conflictId: string;
  readonly base: ConflictEntry | undefined;
  readonly source: ConflictEntry | undefined;
  readonly destination: ConflictEntry | undefined;
  /** In the conflicts of a commit: what it holds. */
  readonly taken?: Take | undefined;
}

/** A page may hold fewer than asked, also none, when looking took long; the next one goes on behind it. */
export interface ConflictPage extends Page<Conflict>, MergeBase {}

export interface ConflictQuery {
  readonly prefix?: string | undefined;
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
}

export interface BetweenRefs extends InRepository {
  readonly source: string;
  readonly destination: string;
}

/** Which change of one commit is to be applied to a branch. */
export interface ChangeOfCommit extends OnBranch {
  readonly ref: string;
  readonly parentNumber?: number | undefined;
}

export interface ObjectTotals {
  readonly objects: number;
  readonly bytes: number;
}

/** The counts cover the paths looked at: behind `after`, up to `nextOffset`. */
export interface MergePreview extends MergeBase {
  readonly outcome: 'clean' | 'conflicts' | 'no_changes' | 'dirty';
  readonly added: ObjectTotals;
  readonly changed: ObjectTotals;
  readonly removed: ObjectTotals;
  readonly conflicts: TakeCounts & { readonly total: number; readonly unresolved: number };
  /** The first that nothing settles. */
  readonly unresolved: readonly Conflict[];
  readonly hasMore: boolean;
  readonly nextOffset: string;
}

export interface PreviewOptions extends BetweenRefs, MergeSteering {
  readonly after?: string | undefined;
}

export interface Merges {
  /**
   * `force` also implies `allowEmpty`. A conflict that nothing settles is an error of kind `conflict`; something that
   * moved, or a resolution for other versions than those that meet, one of kind `precondition_failed`.
   */
  merge(options: MergeOptions): Promise<Commit>;
  findBase(options: BetweenRefs): Promise<MergeBase>;
  conflicts(options: BetweenRefs & ConflictQuery): Promise<ConflictPage>;
  /** All of them, in the order of their paths. */
  everyConflict(options: BetweenRefs & ConflictQuery): Promise<AsyncIterable<Conflict>>;
  preview(options: PreviewOptions): Promise<MergePreview>;
  cherryPickConflicts(options: ChangeOfCommit & ConflictQuery): Promise<ConflictPage>;
  revertConflicts(options: ChangeOfCommit & ConflictQuery): Promise<ConflictPage>;
  /** The conflicts that a commit settled by resolutions, with what it took; not found for any other commit. */
  resolvedBy(options: InRepository & ConflictQuery & { readonly commit: string }): Promise<ConflictPage>;
}
