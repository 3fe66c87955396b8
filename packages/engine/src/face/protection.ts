import type { Actor, InRepository, OnBranch } from './model.ts';

interface ByActor {
  readonly actor?: Actor | undefined;
}

export interface ProtectionRules {
  /** Glob patterns, sorted. */
  readonly patterns: readonly string[];
  /** Opaque digest without quotes; `""` when there are no rules. */
  readonly etag: string;
}

export interface Protection {
  get(repository: string): Promise<ProtectionRules>;
  /** Whether a rule refuses writes to a branch or commits on it. */
  covers(options: OnBranch): Promise<boolean>;
  /** Replaces all rules. `ifMatch` absent is unconditional, `""` only when there are none. */
  set(
    options: InRepository &
      ByActor & { readonly patterns: readonly string[]; readonly ifMatch?: string | undefined },
  ): Promise<void>;
  add(options: InRepository & ByActor & { readonly pattern: string }): Promise<void>;
  remove(options: InRepository & ByActor & { readonly pattern: string }): Promise<void>;
}
