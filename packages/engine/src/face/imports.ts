import type { StringMap, Timestamp } from '@svc/encoding';
import type { Actor, Commit, Forceable, InRepository, OnBranch } from './model.ts';
import type { AddressRights } from './objects.ts';

export interface ImportPath {
  readonly type: 'common_prefix' | 'object';
  /** Source URI. */
  readonly path: string;
  readonly destination: string;
}

export interface StartImportOptions extends OnBranch, Forceable, AddressRights {
  readonly paths: readonly ImportPath[];
  readonly message?: string | undefined;
  readonly metadata?: StringMap | undefined;
  readonly actor: Actor;
}

export interface ImportStatus {
  readonly id: string;
  readonly completed: boolean;
  readonly updateTime: Timestamp;
  readonly ingestedObjects: number;
  readonly metaRangeId: string | undefined;
  readonly commit: Commit | undefined;
  /** Without the `import error: ` prefix. */
  readonly error: string | undefined;
}

export interface Imports {
  /** Returns the import's id at once; the work goes on. */
  start(options: StartImportOptions): Promise<string>;
  status(options: InRepository & { readonly id: string }): Promise<ImportStatus>;
  cancel(options: InRepository & { readonly id: string }): Promise<void>;
}
