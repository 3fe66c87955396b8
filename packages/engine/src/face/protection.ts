import type { InRepository } from './model.ts';

export interface ProtectionRules {
  /** Glob patterns, sorted. */
  readonly patterns: readonly string[];
  /** Opaque digest without quotes; `""` when there are no rules. */
  readonly etag: string;
}

export interface Protection {
  get(repository: string): Promise<ProtectionRules>;
  /** Replaces all rules. `ifMatch` absent is unconditional, `""` only when there are none. */
  set(
    options: InRepository & { readonly patterns: readonly string[]; readonly ifMatch?: string | undefined },
  ): Promise<void>;
  add(options: InRepository & { readonly pattern: string }): Promise<void>;
  remove(options: InRepository & { readonly pattern: string }): Promise<void>;
}
