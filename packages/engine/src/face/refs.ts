import type { StringMap, Timestamp } from '@svc/encoding';
import type { InRepository, OnBranch, ResolvedRef } from './model.ts';

export type DiffItemType = 'added' | 'removed' | 'changed' | 'conflict' | 'prefix_changed';

export interface DiffItem {
  readonly type: DiffItemType;
  readonly kind: 'object' | 'common_prefix';
  readonly path: string;
  /** Absent for common prefixes. */
  readonly size: number | undefined;
  /** Stats of the shown side; absent for common prefixes. */
  readonly stats: DiffStats | undefined;
}

export interface DiffStats {
  readonly etag: string;
  readonly mtime: Timestamp;
  readonly contentType: string;
  readonly metadata: StringMap;
}

export interface DiffPageRequest {
  readonly prefix?: string | undefined;
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
  readonly delimiter?: string | undefined;
}

export interface DiffPage {
  readonly items: readonly DiffItem[];
  readonly hasMore: boolean;
  readonly nextOffset: string;
}

export interface DiffRefsOptions extends InRepository, DiffPageRequest {
  readonly left: string;
  readonly right: string;
  /** `three_dot` when absent: the changes that merging right into left would make. */
  readonly type?: 'two_dot' | 'three_dot' | undefined;
}

export interface Refs {
  resolve(options: InRepository & { readonly ref: string }): Promise<ResolvedRef>;
  diff(options: DiffRefsOptions): Promise<DiffPage>;
  /** Uncommitted changes of a branch. */
  diffUncommitted(options: OnBranch & DiffPageRequest): Promise<DiffPage>;
}
