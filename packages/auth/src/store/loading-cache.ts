import { LRUCache } from 'lru-cache';
import type { CacheSettings } from '../auth.ts';

/**
 * Keeps what was loaded for `ttl` plus a random share of `jitter`. Concurrent loads of a key are one load;
 * failures and absences are not kept. Dropping a key also disowns a load under way, so that nothing read before
 * a change is kept after it.
 */
export class LoadingCache<V extends object> {
  readonly #settings: CacheSettings;
  readonly #load: (key: string) => Promise<V | undefined>;
  readonly #kept: LRUCache<string, V>;
  readonly #loading = new Map<string, Promise<V | undefined>>();

  constructor(settings: CacheSettings, clock: () => number, load: (key: string) => Promise<V | undefined>) {
    this.#settings = settings;
    this.#load = load;
    this.#kept = new LRUCache({
      max: Math.max(1, settings.size),
      ttl: Math.max(1, settings.ttlMs),
      ttlResolution: 0,
      perf: { now: clock },
    });
  }

  /** What is in memory, without waiting. */
  getAtOnce(key: string): V | undefined {
    return this.#settings.enabled ? this.#kept.get(key) : undefined;
  }

  async get(key: string): Promise<V | undefined> {
    if (!this.#settings.enabled) return this.#load(key);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const running = this.#loading.get(key);
    if (running !== undefined) return running;
    const loading = this.#loadAndKeep(key);
    this.#loading.set(key, loading);
    try {
      return await loading;
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    }
  }

  async #loadAndKeep(key: string): Promise<V | undefined> {
    // The load starts in a later turn, once it can be found in `#loading`.
    await Promise.resolve();
    const own = this.#loading.get(key);
    const value = await this.#load(key);
    if (value !== undefined && own !== undefined && this.#loading.get(key) === own) {
      this.#kept.set(key, value, {
        ttl: Math.max(1, this.#settings.ttlMs + Math.random() * this.#settings.jitterMs),
      });
    }
    return value;
  }

  drop(key: string): void {
    this.#kept.delete(key);
    this.#loading.delete(key);
  }

  clear(): void {
    this.#kept.clear();
    this.#loading.clear();
  }
}
