import { hash } from 'node:crypto';
import { sortedKeys } from './fields.ts';
import type { StringMap } from './string-map.ts';
import type { Timestamp } from './timestamp.ts';

/** Gathers type-tagged values and hashes them with SHA-256. */
export class IdentityHasher {
  #buffer = Buffer.allocUnsafe(512);
  #length = 0;

  /** Forgets what was gathered. */
  restart(): void {
    this.#length = 0;
  }

  /** A safe integer, written as int64. */
  integer(value: number): void {
    this.#reserve(10);
    const at = this.#length;
    this.#buffer[at] = 2;
    this.#buffer[at + 1] = 8;
    const high = Math.floor(value / 0x1_0000_0000);
    this.#buffer.writeInt32BE(high, at + 2);
    this.#buffer.writeUInt32BE(value - high * 0x1_0000_0000, at + 6);
    this.#length = at + 10;
  }

  bytes(value: Uint8Array): void {
    this.#tag(0);
    this.integer(value.length);
    this.#raw(value);
  }

  string(value: string): void {
    this.#tag(1);
    const length = Buffer.byteLength(value);
    this.integer(length);
    this.#reserve(length);
    this.#length += this.#buffer.write(value, this.#length);
  }

  list(values: readonly string[]): void {
    this.#tag(3);
    this.integer(values.length);
    for (const value of values) this.string(value);
  }

  map(value: StringMap): void {
    const keys = sortedKeys(value);
    this.#tag(4);
    this.integer(keys.length);
    for (const key of keys) {
      this.string(key);
      this.string(value[key] ?? '');
    }
  }

  /** Another value's identity inside this one. */
  embed(digest: Uint8Array): void {
    this.#tag(5);
    this.bytes(digest);
  }

  /** What was gathered, unhashed (for hashers that feed more themselves). */
  gathered(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  digest(): Buffer {
    return hash('sha256', this.gathered(), 'buffer');
  }

  #tag(tag: number): void {
    this.#reserve(1);
    this.#buffer[this.#length] = tag;
    this.#length += 1;
  }

  #raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** The fields of a commit that its id covers. */
export interface CommitIdentity {
  readonly committer: string;
  readonly message: string;
  readonly metaRangeId: string;
  readonly creationDate: Timestamp;
  readonly metadata: StringMap;
  readonly parents: readonly string[];
}

export function commitId(commit: CommitIdentity): string {
  const parents = new IdentityHasher();
  parents.list(commit.parents);
  const hasher = new IdentityHasher();
  hasher.string('commit:v1');
  hasher.string(commit.committer);
  hasher.string(commit.message);
  hasher.string(commit.metaRangeId);
  hasher.integer(commit.creationDate.seconds);
  hasher.map(commit.metadata);
  hasher.embed(parents.digest());
  return hasher.digest().toString('hex');
}
