import type { PresignedUrl } from '@svc/block';
import type { InRepository } from './model.ts';
import type { TaskState } from './tasks.ts';

export interface GcRules {
  readonly defaultRetentionDays: number;
  readonly branches: readonly { readonly branch: string; readonly retentionDays: number }[];
}

export interface GcCommits {
  readonly runId: string;
  readonly commitsLocation: string;
  readonly addressesLocation: string;
  readonly presigned: PresignedUrl | undefined;
}

export interface GcUncommitted {
  readonly runId: string;
  /** The folder of the run's files, the same on every page; after the last one it holds at least one file. */
  readonly location: string;
  readonly continuationToken: string | undefined;
}

export interface Gc {
  /** Data younger than this is never collected. */
  readonly graceSeconds: number;
  getRules(repository: string): Promise<GcRules>;
  setRules(options: InRepository & { readonly rules: GcRules }): Promise<void>;
  deleteRules(repository: string): Promise<void>;
  prepareCommits(repository: string): Promise<GcCommits>;
  submitPrepareCommits(repository: string): Promise<string>;
  prepareCommitsStatus(
    options: InRepository & { readonly taskId: string },
  ): Promise<TaskState & { readonly result: Omit<GcCommits, 'presigned'> | undefined }>;
  prepareUncommitted(
    options: InRepository & { readonly continuationToken?: string | undefined },
  ): Promise<GcUncommitted>;
  /** Writes one `symlink.txt` per directory; returns their common location. */
  createSymlinks(
    options: InRepository & { readonly branch: string; readonly location?: string | undefined },
  ): Promise<string>;
}
