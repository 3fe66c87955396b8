import { bytesBody, smallObjectSize, type BlockAdapter, type ObjectBody } from '@svc/block';
import { LRUCache } from 'lru-cache';
import { growingCache } from '../context/growing-cache.ts';
import type { ObjectEntry } from '../face/objects.ts';

const capacity = 8 * 1024 * 1024;
/** Besides an object's bytes. */
const overhead = 512;
/** What was removed from the store by hand is gone after this. */
const lifetimeMs = 30_000;
const rememberedNames = 4096;

interface Kept {
  readonly store: BlockAdapter;
  readonly etag: string;
  readonly bytes: Buffer;
}

/**
 * Small objects that were asked for again, in memory. Under one address and checksum the data never changes: each
 * of our writes goes to a new address. Data kept by others (full addresses) is always read from its store.
 */
export class SmallObjects {
  readonly #kept: LRUCache<string, Kept>;
  /** Asked for once. Most objects never are again: they would only push out others. */
  readonly #asked = growingCache<true>(rememberedNames);

  constructor(now: () => number = () => performance.now()) {
    this.#kept = new LRUCache({
      maxSize: capacity,
      sizeCalculation: ({ bytes }) => bytes.length + overhead,
      ttl: lifetimeMs,
      ttlResolution: 0,
      perf: { now },
    });
  }

  find(store: BlockAdapter, entry: ObjectEntry): ObjectBody | undefined {
    const kept = this.#kept.get(entry.physicalAddress);
    if (kept === undefined || kept.store !== store || kept.etag !== entry.etag) return undefined;
    return kept.bytes.length === entry.size ? bytesBody(kept.bytes) : undefined;
  }

  /** Tells what was read for `entry`; it is kept the second time. */
  read(store: BlockAdapter, entry: ObjectEntry, body: ObjectBody): void {
    const { bytes } = body;
    if (entry.addressType !== 'relative' || bytes === undefined || bytes.length > smallObjectSize) return;
    if (bytes.length !== entry.size) return;
    const name = entry.physicalAddress;
    if (!this.#asked.has(name)) {
      this.#asked.set(name, true);
      return;
    }
    // A copy of its own: the bytes may be a small part of a larger allocation.
    const copy = Buffer.allocUnsafeSlow(bytes.length);
    bytes.copy(copy);
    this.#kept.set(name, { store, etag: entry.etag, bytes: copy });
  }
}
