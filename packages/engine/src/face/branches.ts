import type { Actor, BranchRef, Forceable, InRepository, OnBranch, Page, PageRequest } from './model.ts';

export interface CreateBranchOptions extends InRepository, Forceable {
  readonly name: string;
  /** Any commit-valued ref. */
  readonly source: string;
  readonly hidden?: boolean | undefined;
  readonly actor: Actor;
}

export interface ListBranchesOptions extends InRepository, PageRequest {
  /** Only names that contain it. */
  readonly search?: string | undefined;
  readonly showHidden?: boolean | undefined;
}

export interface ResetBranchOptions extends OnBranch, Forceable {
  readonly type: 'reset' | 'common_prefix' | 'object';
  /** Prefix or key; required for `object`. */
  readonly path?: string | undefined;
  readonly actor?: Actor | undefined;
}

export interface Branches {
  create(options: CreateBranchOptions): Promise<BranchRef>;
  get(options: OnBranch): Promise<BranchRef>;
  list(options: ListBranchesOptions): Promise<Page<BranchRef>>;
  delete(options: OnBranch & Forceable & { readonly actor: Actor }): Promise<void>;
  /** Discards uncommitted changes. */
  reset(options: ResetBranchOptions): Promise<void>;
  /** Moves the head; refused while the branch has uncommitted changes. */
  hardReset(options: OnBranch & Forceable & { readonly ref: string; readonly actor: Actor }): Promise<void>;
}
