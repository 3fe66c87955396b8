import { hash } from 'node:crypto';
import {
  blockedCommit,
  blockedStagingWrite,
  compareUtf8,
  protectionRulesMessage,
  type BranchProtectionRules,
} from '@svc/encoding';
import type { CacheBus, KvPredicate, KvStore, KvWrite } from '@svc/kv';
import { growingCache } from '../context/growing-cache.ts';
import { JitterCache } from '../context/jitter-cache.ts';
import { protectedBranchesKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { compileBranchPattern, type BranchPattern } from './glob.ts';

const topic = 'engine/protection';

export interface StoredRules {
  readonly rules: BranchProtectionRules;
  /** Digest of the stored bytes; `""` when there are none. */
  readonly etag: string;
  readonly predicate: KvPredicate | undefined;
}

export type BlockedAction = typeof blockedStagingWrite | typeof blockedCommit;

/** Protection rules per repository instance, cached for a few seconds; a change here is in force at once. */
export class ProtectionStore {
  readonly #kv: KvStore;
  readonly #bus: CacheBus;
  readonly #cache = new JitterCache<StoredRules>({ size: 100_000, ttlMs: 3000, jitterMs: 3000 });
  readonly #patterns = growingCache<BranchPattern>(10_000);
  readonly #unsubscribe: () => void;

  constructor(kv: KvStore, bus: CacheBus) {
    this.#kv = kv;
    this.#bus = bus;
    this.#unsubscribe = bus.subscribe(topic, (instanceUid) => this.#cache.delete(instanceUid));
  }

  /** The rules as they are now. */
  async read(scope: RepositoryScope): Promise<StoredRules> {
    const found = await this.#kv.get(scope.partition, protectedBranchesKey);
    // Without a prototype: `constructor` is a pattern like any other.
    if (found === undefined)
      return {
        rules: { patterns: Object.create(null) as Record<string, never> },
        etag: '',
        predicate: undefined,
      };
    const etag = found.value.length === 0 ? '' : hash('sha256', found.value, 'hex');
    return { rules: protectionRulesMessage.decode(found.value), etag, predicate: found.predicate };
  }

  /** False when the rules changed since `current`. */
  async replace(
    scope: RepositoryScope,
    current: StoredRules,
    patterns: readonly string[],
    told: KvWrite,
  ): Promise<boolean> {
    const value = encodeRules(patterns, current.rules);
    const key = protectedBranchesKey;
    const stored = await this.#kv.change(scope.partition, { key, condition: current.predicate ?? 'absent' }, [
      { type: 'put', key, value },
      told,
    ]);
    if (stored) {
      this.#cache.delete(scope.repository.instanceUid);
      await this.#bus.publish(topic, scope.repository.instanceUid);
    }
    return stored;
  }

  isBlocked(scope: RepositoryScope, branch: string, action: BlockedAction): boolean | Promise<boolean> {
    const known = this.#cache.get(scope.repository.instanceUid);
    if (known !== undefined) return this.#blocks(known, branch, action);
    return this.#load(scope).then((loaded) => this.#blocks(loaded, branch, action));
  }

  #blocks({ rules }: StoredRules, branch: string, action: BlockedAction): boolean {
    for (const pattern of Object.keys(rules.patterns)) {
      if (rules.patterns[pattern]?.value.includes(action) === true && this.#matches(pattern, branch))
        return true;
    }
    return false;
  }

  async #load(scope: RepositoryScope): Promise<StoredRules> {
    const rules = await this.read(scope);
    this.#cache.set(scope.repository.instanceUid, rules);
    return rules;
  }

  #matches(pattern: string, branch: string): boolean {
    let compiled = this.#patterns.get(pattern);
    if (compiled === undefined) {
      compiled = compileBranchPattern(pattern);
      this.#patterns.set(pattern, compiled);
    }
    return compiled.test(branch);
  }

  close(): void {
    this.#unsubscribe();
  }
}

/** Patterns kept from `previous` keep their actions; new ones block both. */
function encodeRules(patterns: readonly string[], previous: BranchProtectionRules): Buffer {
  const rules = Object.create(null) as Record<string, { value: readonly number[] }>;
  for (const pattern of [...new Set(patterns)].sort(compareUtf8)) {
    rules[pattern] = previous.patterns[pattern] ?? { value: [blockedStagingWrite, blockedCommit] };
  }
  return protectionRulesMessage.encode({ patterns: rules });
}
