import { decodeValue, type RecordValue } from '@svc/encoding';
import { sameIdentity } from '../format/identity.ts';
import type { TreeChanges } from './tree-diff.ts';
import type { DiffType, MergeDiffIterator, MergeSides } from '../tree.ts';

/** Looks a key up in a tree: its value in stored form. */
export type LookUp = (key: Buffer) => Buffer | undefined | Promise<Buffer | undefined>;

/**
 * What merging would change in the destination: the changes from base to source, less those the destination has
 * already, with those it contradicts marked as conflicts.
 */
export class MergeDiff implements MergeDiffIterator {
  readonly #changes: TreeChanges;
  readonly #destination: LookUp;
  #type: DiffType = 'added';
  #value: Buffer = Buffer.alloc(0);
  #decoded: RecordValue | undefined;
  #atDestination: Buffer | undefined;

  /** `changes` leads from base to source. */
  constructor(changes: TreeChanges, destination: LookUp) {
    this.#changes = changes;
    this.#destination = destination;
  }

  get type(): DiffType {
    return this.#type;
  }

  get key(): Buffer {
    return this.#changes.key;
  }

  get identity(): Buffer {
    return this.#record().identity;
  }

  get data(): Buffer {
    return this.#record().data;
  }

  get sides(): MergeSides {
    const { type } = this.#changes;
    return {
      base: type === 'added' ? undefined : this.#changes.leftValue,
      source: type === 'removed' ? undefined : this.#changes.rightValue,
      destination: this.#atDestination,
    };
  }

  next(): boolean | Promise<boolean> {
    for (;;) {
      const more = this.#changes.next();
      if (more instanceof Promise) return this.#continue(more);
      if (!more) return false;
      const found = this.#destination(this.#changes.key);
      if (found instanceof Promise) return this.#continue(true, found);
      if (this.#classify(found)) return true;
    }
  }

  seek(key: Uint8Array): void {
    this.#changes.seek(key);
  }

  close(): void {
    this.#changes.close();
  }

  async #continue(
    first: boolean | Promise<boolean>,
    pending?: Promise<Buffer | undefined>,
  ): Promise<boolean> {
    let more = await first;
    let lookUp = pending;
    while (more) {
      const found = await (lookUp ?? this.#destination(this.#changes.key));
      lookUp = undefined;
      if (this.#classify(found)) return true;
      more = await this.#changes.next();
    }
    return false;
  }

  /** False when the destination already agrees with the source. */
  #classify(destination: Buffer | undefined): boolean {
    const { type } = this.#changes;
    const base = type === 'added' ? undefined : this.#changes.leftValue;
    const source = type === 'removed' ? undefined : this.#changes.rightValue;
    if (same(source, destination)) return false;
    this.#atDestination = destination;
    this.#type = same(base, destination) ? type : 'conflict';
    this.#value = (this.#type === 'removed' ? destination : (source ?? destination)) ?? this.#value;
    this.#decoded = undefined;
    return true;
  }

  #record(): RecordValue {
    this.#decoded ??= decodeValue(this.#value);
    return this.#decoded;
  }
}

function same(a: Buffer | undefined, b: Buffer | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameIdentity(a, 0, a.length, b, 0, b.length);
}
