import type { StringMap } from '@svc/encoding';
import type { Actor, Commit, Forceable, InRepository } from './model.ts';

export interface MergeOptions extends InRepository, Forceable {
  /** Any commit-valued ref. */
  readonly source: string;
  /** A plain branch name. */
  readonly destination: string;
  readonly message?: string | undefined;
  readonly metadata?: StringMap | undefined;
  /** `dest-wins`, `source-wins`; absent or `""` is none. Others are refused. */
  readonly strategy?: string | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly squash?: boolean | undefined;
  readonly actor: Actor;
}

export interface MergeBase {
  readonly sourceCommitId: string;
  readonly destinationCommitId: string;
  readonly baseCommitId: string;
}

export interface Merges {
  /** `force` also implies `allowEmpty`. A conflict is an error of kind `conflict`. */
  merge(options: MergeOptions): Promise<Commit>;
  findBase(
    options: InRepository & { readonly source: string; readonly destination: string },
  ): Promise<MergeBase>;
}
