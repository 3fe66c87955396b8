import { uvarintLength, WorkBuffer, writeUvarint } from '@svc/encoding';
import { type BlockHandle, blockSizeThreshold, targetBlockSize } from './table-format.ts';

/** True when a block must be finished before an entry of these sizes is added. */
export function mustCut(
  estimate: number,
  storedKeyLength: number,
  valueLength: number,
  startsRestart: boolean,
): boolean {
  if (estimate >= targetBlockSize) return true;
  if (estimate <= blockSizeThreshold) return false;
  const grown =
    estimate +
    storedKeyLength +
    valueLength +
    (startsRestart ? 4 : 0) +
    4 +
    uvarintLength(storedKeyLength) +
    uvarintLength(valueLength);
  return grown > targetBlockSize;
}

/** Builds the small blocks of a table: index, properties, metaindex. Data blocks are built by the table writer. */
export class BlockBuilder {
  readonly #buffer = new WorkBuffer(targetBlockSize);
  readonly #restartInterval: number;
  #length = 0;
  #restarts: number[] = [];
  #count = 0;
  #lastKey: Uint8Array = new Uint8Array(0);

  constructor(restartInterval: number) {
    this.#restartInterval = restartInterval;
  }

  get count(): number {
    return this.#count;
  }

  /** Length of the finished block, 4 while it is empty. */
  get estimate(): number {
    return this.#length + 4 * this.#restarts.length + 4;
  }

  /** `key` is kept, not copied. */
  add(key: Uint8Array, value: Uint8Array): void {
    let shared = 0;
    if (this.#count % this.#restartInterval === 0) {
      this.#restarts.push(this.#length);
    } else {
      const shorter = Math.min(key.length, this.#lastKey.length);
      while (shared < shorter && key[shared] === this.#lastKey[shared]) shared++;
    }
    this.#buffer.reserve(this.#length + 30 + key.length + value.length, this.#length);
    const { bytes } = this.#buffer;
    let at = writeUvarint(bytes, this.#length, shared);
    at = writeUvarint(bytes, at, key.length - shared);
    at = writeUvarint(bytes, at, value.length);
    bytes.set(key.subarray(shared), at);
    bytes.set(value, at + key.length - shared);
    this.#length = at + key.length - shared + value.length;
    this.#lastKey = key;
    this.#count++;
  }

  /** Adds an entry of an index, where every entry is a restart. `key` is kept, not copied. */
  addHandle(key: Uint8Array, { offset, length }: BlockHandle): void {
    const valueLength = uvarintLength(offset) + uvarintLength(length);
    this.#restarts.push(this.#length);
    this.#buffer.reserve(this.#length + 30 + key.length + valueLength, this.#length);
    const { bytes } = this.#buffer;
    bytes[this.#length] = 0;
    let at = writeUvarint(bytes, this.#length + 1, key.length);
    at = writeUvarint(bytes, at, valueLength);
    bytes.set(key, at);
    at = writeUvarint(bytes, at + key.length, offset);
    this.#length = writeUvarint(bytes, at, length);
    this.#lastKey = key;
    this.#count++;
  }

  /** The block's bytes; the builder starts over. */
  finish(): Buffer {
    const restarts = this.#restarts.length === 0 ? [0] : this.#restarts;
    const block = Buffer.allocUnsafe(this.#length + 4 * restarts.length + 4);
    this.#buffer.bytes.copy(block, 0, 0, this.#length);
    let at = this.#length;
    for (const restart of restarts) at = block.writeUInt32LE(restart, at);
    block.writeUInt32LE(restarts.length, at);
    this.#length = 0;
    this.#restarts = [];
    this.#count = 0;
    return block;
  }
}
