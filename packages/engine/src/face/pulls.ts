import type { StringMap, Timestamp } from '@svc/encoding';
import type { MergeOptions, MergeSteering } from './merges.ts';
import type { Actor, Commit, Forceable, InRepository, Page, PageRequest } from './model.ts';

export type PullStatus = 'open' | 'closed' | 'merged';

export interface PullRequest {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly author: string;
  readonly source: string;
  readonly destination: string;
  readonly status: PullStatus;
  readonly creationDate: Timestamp;
  readonly closedDate: Timestamp | undefined;
  readonly mergedCommitId: string | undefined;
}

export interface InPull extends InRepository {
  readonly id: string;
}

export interface CreatePullOptions extends InRepository {
  readonly title: string;
  readonly description?: string | undefined;
  readonly source: string;
  readonly destination: string;
  readonly actor: Actor;
}

export interface UpdatePullOptions extends InPull {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: string | undefined;
  readonly actor?: Actor | undefined;
}

export interface MergePullOptions extends InPull, Forceable, MergeSteering {
  readonly actor: Actor;
  readonly message?: string | undefined;
  readonly metadata?: StringMap | undefined;
  /** One commit without the source as a parent. */
  readonly squash?: boolean | undefined;
  readonly additions?: MergeOptions['additions'];
}

export interface Pulls {
  create(options: CreatePullOptions): Promise<PullRequest>;
  get(options: InPull): Promise<PullRequest>;
  /** Newest first; `closed` includes merged. */
  list(
    options: InRepository & PageRequest & { readonly status?: 'open' | 'closed' | 'all' | undefined },
  ): Promise<Page<PullRequest>>;
  update(options: UpdatePullOptions): Promise<PullRequest>;
  merge(options: MergePullOptions): Promise<Commit>;
}
