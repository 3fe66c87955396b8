import { compareBytes, decodeValue, type RecordValue } from '@svc/encoding';
import { sameIdentity } from '../format/identity.ts';
import type { DiffType } from '../tree.ts';
import type { LookUp } from './merge-diff.ts';
import type { TreeChanges } from './tree-diff.ts';

const nothing: Buffer = Buffer.alloc(0);

/** The differences of two trees that can differ in a few known keys only: those are looked up in both. */
export class KnownDiff implements TreeChanges {
  readonly #keys: readonly Buffer[];
  readonly #left: LookUp;
  readonly #right: LookUp;
  #next = 0;
  #closed = false;
  #decoded: RecordValue | undefined;
  type: DiffType = 'added';
  key: Buffer = nothing;
  leftValue: Buffer = nothing;
  rightValue: Buffer = nothing;

  /** `keys` are in order. */
  constructor(keys: readonly Buffer[], left: LookUp, right: LookUp) {
    this.#keys = keys;
    this.#left = left;
    this.#right = right;
  }

  get identity(): Buffer {
    return this.#record().identity;
  }

  get data(): Buffer {
    return this.#record().data;
  }

  next(): boolean | Promise<boolean> {
    for (;;) {
      if (this.#closed) throw new Error('the diff was closed');
      const key = this.#keys[this.#next++];
      if (key === undefined) return false;
      const left = this.#left(key);
      // Should the right side fail at once, nobody waits for the left one.
      if (left instanceof Promise) left.catch(() => undefined);
      const right = this.#right(key);
      if (left instanceof Promise || right instanceof Promise) return this.#wait(key, left, right);
      if (this.#show(key, left, right)) return true;
    }
  }

  async #wait(key: Buffer, left: ReturnType<LookUp>, right: ReturnType<LookUp>): Promise<boolean> {
    const [atLeft, atRight] = await Promise.all([left, right]);
    return this.#show(key, atLeft, atRight) ? true : this.next();
  }

  seek(key: Uint8Array): void {
    const first = this.#keys.findIndex((known) => compareBytes(known, key) >= 0);
    this.#next = first === -1 ? this.#keys.length : first;
  }

  close(): void {
    this.#closed = true;
  }

  /** False when both sides have the same there. */
  #show(key: Buffer, left: Buffer | undefined, right: Buffer | undefined): boolean {
    if (left === undefined && right === undefined) return false;
    if (left !== undefined && right !== undefined) {
      if (sameIdentity(left, 0, left.length, right, 0, right.length)) return false;
      this.type = 'changed';
    } else this.type = left === undefined ? 'added' : 'removed';
    this.key = key;
    this.leftValue = left ?? nothing;
    this.rightValue = right ?? nothing;
    this.#decoded = undefined;
    return true;
  }

  #record(): RecordValue {
    this.#decoded ??= decodeValue(this.type === 'removed' ? this.leftValue : this.rightValue);
    return this.#decoded;
  }
}
