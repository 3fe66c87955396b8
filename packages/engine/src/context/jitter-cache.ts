import { LRUCache } from 'lru-cache';
import type { CacheSettings } from '../face/options.ts';

/** Keeps values for their lifetime plus a random part of it, so that entries made together do not expire together. */
export class JitterCache<V extends object> {
  /** Made on first use: its arrays of full size cost milliseconds, which a starting process does not have. */
  #cache: LRUCache<string, V> | undefined;
  readonly #size: number;
  readonly #ttlMs: number;
  readonly #jitterMs: number;

  constructor(settings: CacheSettings) {
    this.#size = Math.max(1, settings.size);
    this.#ttlMs = settings.ttlMs;
    this.#jitterMs = settings.jitterMs;
  }

  get(key: string): V | undefined {
    return this.#cache?.get(key);
  }

  set(key: string, value: V): void {
    const ttl = this.#ttlMs + Math.floor(Math.random() * this.#jitterMs);
    // The cache reads a zero lifetime as "for ever"; ours means "not at all".
    if (ttl <= 0) return;
    this.#cache ??= new LRUCache({ max: this.#size, ttlResolution: 100 });
    this.#cache.set(key, value, { ttl });
  }

  delete(key: string): void {
    this.#cache?.delete(key);
  }
}
