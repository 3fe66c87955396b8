import type { BlockAdapter } from '@svc/block';

/**
 * Which buckets tell the right MD5 of what is written to them: a large body that goes there need not be hashed here, too.
 * Each is believed once it has told an MD5 that was computed here as well, and never again after a wrong one.
 */
export class StoreHashes {
  readonly #right = new Map<string, boolean>();

  isTrusted(adapter: BlockAdapter, namespace: string): boolean {
    return this.#right.size > 0 && this.#right.get(bucketOf(adapter, namespace)) === true;
  }

  /** After a write that was hashed here. */
  compare(adapter: BlockAdapter, namespace: string, told: string | undefined, md5: Buffer): void {
    if (told === undefined && this.#right.size === 0) return;
    const bucket = bucketOf(adapter, namespace);
    if (told === undefined) this.#right.delete(bucket);
    else if (told !== md5.toString('hex')) this.#right.set(bucket, false);
    else if (!this.#right.has(bucket)) this.#right.set(bucket, true);
  }

  /** After a write that was not, and of which the store told nothing. */
  forget(adapter: BlockAdapter, namespace: string): void {
    this.#right.delete(bucketOf(adapter, namespace));
  }
}

function bucketOf({ info }: BlockAdapter, namespace: string): string {
  const end = namespace.indexOf('/', namespace.indexOf('://') + 3);
  return `${info.storageId} ${end < 0 ? namespace : namespace.slice(0, end)}`;
}
