import type { BlockErrorKind } from '@svc/block';
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

/** An import that passed its checks, as plain data: any process on the same stores may run it. */
export interface AcceptedImport extends OnBranch, Forceable {
  readonly id: string;
  /** Milliseconds since 1970; who runs the import changes it in its record. */
  readonly acceptedAt: number;
  readonly sources: readonly {
    readonly type: ImportPath['type'];
    readonly uri: string;
    readonly destination: string;
    readonly failure?: { readonly kind: BlockErrorKind; readonly message: string } | undefined;
  }[];
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
  /** The first half of `start`: checks and records the import. Somebody has to `run` it next. */
  accept(options: StartImportOptions): Promise<AcceptedImport>;
  /** The second half; true once the import runs here, false when another process has taken it. */
  run(accepted: AcceptedImport): Promise<boolean>;
  status(options: InRepository & { readonly id: string }): Promise<ImportStatus>;
  cancel(options: InRepository & { readonly id: string }): Promise<void>;
}
