import { LRUCache } from 'lru-cache';

/**
 * The last `count` entries used. Grows with what is in it: told the number of entries, the cache would make room for
 * all of them at once, and a process has many that stay nearly empty.
 */
export function growingCache<V extends {}>(
  count: number,
  options: { readonly ttl?: number; readonly ttlResolution?: number } = {},
): LRUCache<string, V> {
  return new LRUCache({ maxSize: count, sizeCalculation: () => 1, ...options });
}
