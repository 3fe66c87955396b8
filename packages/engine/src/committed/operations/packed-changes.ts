import { writeSvarint } from '@svc/encoding';
import type { Pace } from '../pace.ts';
import type { RecordIterator } from '../tree.ts';

/** Bytes of one batch on its way to a worker. */
export const batchSize = 512 * 1024;

/** A batch starts with this and grows: most commits are small, and memory that is never touched still costs. */
const firstSize = 16 * 1024;

const lengths = 8;

/**
 * Changes packed one after the other: key length and value length (u32), key, value. The value is already in its
 * stored form, so that the worker copies it verbatim; a tombstone has none.
 */
export class PackedBatch {
  bytes: Buffer;
  length = 0;
  count = 0;

  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(firstSize)) {
    this.bytes = bytes;
  }

  /** False when the record must wait for the next batch; an empty batch takes a record of any size. */
  add(key: Uint8Array, identity: Uint8Array, data: Uint8Array, tombstone: boolean): boolean {
    const most = lengths + key.length + identity.length + data.length + 12;
    if (this.length + most > this.bytes.length && !this.#grow(most)) return false;
    const { bytes } = this;
    const keyStart = this.length + lengths;
    bytes.set(key, keyStart);
    const valueStart = keyStart + key.length;
    let at = valueStart;
    if (!tombstone) {
      at = writeSvarint(bytes, at, identity.length);
      bytes.set(identity, at);
      at = writeSvarint(bytes, at + identity.length, data.length);
      bytes.set(data, at);
      at += data.length;
    }
    writeUint32(bytes, this.length, key.length);
    writeUint32(bytes, this.length + 4, at - valueStart);
    this.length = at;
    this.count++;
    return true;
  }

  /** Makes room for `more` bytes unless the batch is large enough to go. */
  #grow(more: number): boolean {
    const needed = this.length + more;
    if (needed > batchSize && this.length > 0) return false;
    const grown = Buffer.allocUnsafeSlow(needed > firstSize ? Math.max(needed, batchSize) : firstSize);
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
    return true;
  }
}

/** Packed changes as they arrive; `nextBatch` answers undefined after the last one. */
export class PackedChanges {
  bytes: Buffer = Buffer.alloc(0);
  keyStart = 0;
  keyEnd = 0;
  valueStart = 0;
  valueEnd = 0;
  /** False before the first and after the last change. */
  live = false;
  readonly #nextBatch: () => Promise<Buffer | undefined>;
  #position = 0;

  constructor(nextBatch: () => Promise<Buffer | undefined>) {
    this.#nextBatch = nextBatch;
  }

  get isTombstone(): boolean {
    return this.valueEnd === this.valueStart;
  }

  next(): boolean | Promise<boolean> {
    if (this.#position >= this.bytes.length) return this.#load();
    const { bytes } = this;
    const keyLength = bytes.readUInt32LE(this.#position);
    const valueLength = bytes.readUInt32LE(this.#position + 4);
    this.keyStart = this.#position + lengths;
    this.keyEnd = this.keyStart + keyLength;
    this.valueStart = this.keyEnd;
    this.valueEnd = this.valueStart + valueLength;
    this.#position = this.valueEnd;
    this.live = true;
    return true;
  }

  /** Where the current change begins in `bytes`, with its lengths. */
  get start(): number {
    return this.keyStart - lengths;
  }

  /** The following `next()` yields the change that begins at `position` of `bytes`. */
  passTo(position: number): void {
    this.#position = position;
  }

  async #load(): Promise<boolean> {
    const batch = await this.#nextBatch();
    if (batch === undefined) {
      this.live = false;
      return false;
    }
    this.bytes = batch;
    this.#position = 0;
    return batch.length === 0 ? this.#load() : this.next();
  }
}

/** The keys of a batch, copied. */
export function keysOf({ bytes, length }: PackedBatch): Buffer[] {
  const keys: Buffer[] = [];
  for (let at = 0; at < length;) {
    const keyStart = at + lengths;
    const keyEnd = keyStart + bytes.readUInt32LE(at);
    keys.push(Buffer.from(bytes.subarray(keyStart, keyEnd)));
    at = keyEnd + bytes.readUInt32LE(at + 4);
  }
  return keys;
}

/** Packs records from an iterator. The iterator stays the caller's to close. */
export class Packer {
  readonly #records: RecordIterator;
  readonly #tombstones: boolean;
  #waiting = false;
  #ended = false;

  /** With `tombstones` an empty identity means the key was removed. */
  constructor(records: RecordIterator, tombstones: boolean) {
    this.#records = records;
    this.#tombstones = tombstones;
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Adds records until the batch is full, the end came, a pause is due or the source makes us wait. */
  fill(batch: PackedBatch, due: () => boolean): 'full' | 'ended' | 'paused' | Promise<void> {
    const records = this.#records;
    for (;;) {
      if (!this.#waiting) {
        const more = records.next();
        if (more instanceof Promise) {
          return more.then((got) => {
            this.#waiting = got;
            this.#ended = !got;
          });
        }
        if (!more) {
          this.#ended = true;
          return 'ended';
        }
      }
      const { identity } = records;
      const tombstone = this.#tombstones && identity.length === 0;
      this.#waiting = true;
      if (!batch.add(records.key, identity, tombstone ? identity : records.data, tombstone)) return 'full';
      this.#waiting = false;
      if (due()) return 'paused';
    }
  }

  /** Fills `batch` completely unless the records end before, or `stop` says so at a pause. */
  async fillAll(batch: PackedBatch, pace: Pace, stop: () => boolean = () => false): Promise<void> {
    const due = (): boolean => pace.due();
    while (!this.#ended && !stop()) {
      const filled = this.fill(batch, due);
      if (filled === 'full' || filled === 'ended') return;
      await (filled === 'paused' ? pace.pause() : filled);
    }
  }
}

function writeUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}
