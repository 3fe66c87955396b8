import type { Actor, Forceable, InRepository } from './model.ts';
import type { AddressRights } from './objects.ts';
import type { TaskState } from './tasks.ts';

export interface RefsManifest {
  readonly commitsMetaRangeId: string;
  readonly tagsMetaRangeId: string;
  readonly branchesMetaRangeId: string;
}

export interface RestoreOptions extends InRepository, Forceable, AddressRights {
  readonly manifest: RefsManifest;
  readonly actor: Actor;
}

export interface Dumps {
  dump(repository: string): Promise<RefsManifest>;
  restore(options: RestoreOptions): Promise<void>;
  /** Asynchronous forms return a task id. */
  submitDump(repository: string): Promise<string>;
  dumpStatus(
    options: InRepository & { readonly taskId: string },
  ): Promise<TaskState & { readonly refs: RefsManifest | undefined }>;
  submitRestore(options: RestoreOptions): Promise<string>;
  restoreStatus(options: InRepository & { readonly taskId: string }): Promise<TaskState>;
}
