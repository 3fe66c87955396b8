import { fnvBasisHigh, fnvBasisLow, fnvIsMultiple, fnvNextHigh, viewOf } from '@svc/encoding';
import { mustCut } from './block-builder.ts';
import { entriesEnd, readUint32 } from './block-codec.ts';
import type { RecordHash, TableCheckpoint } from './record-hash.ts';
import {
  blockSizeThreshold,
  dataRestartInterval,
  internalTrailerLength,
  recordTrailer,
} from './table-format.ts';

/** Hash input is passed on in pieces of this size; small tables never grow their buffer so far. */
export const hashBufferSize = 256 * 1024;
/** Hash input between states worth keeping, less what is left of the buffer for one block. */
const keptInterval = 160 * 1024;
const firstBufferSize = 16 * 1024;
/** The two lengths in decimal and the two separators of one record. */
const recordRoom = 40;
/** Keys are stored shortened, so a block's hash input is longer than the block; few need more than this. */
const blockRoom = 32 * 1024;

/** The records of a table as its id hashes them. The last key always lies whole in the buffer. */
export class HashInput {
  bytes: Buffer = Buffer.allocUnsafeSlow(firstBufferSize);
  #view: DataView = viewOf(this.bytes);
  lastKeyStart = 0;
  lastKeyLength = 0;
  readonly #hash: RecordHash;
  /** Not passed on yet: `bytes[start, end)`. */
  #start = 0;
  #end = 0;
  #empty = true;
  /**
   * The low half of the FNV state after each byte of the last key: sorted keys share prefixes, so most of it is
   * reused. It alone rules out most keys; the other half is computed for the rest.
   */
  #fnvLow = new Int32Array(256);

  constructor(hash: RecordHash) {
    this.#hash = hash;
    this.#fnvLow[0] = fnvBasisLow;
  }

  get lastKey(): Buffer {
    return this.bytes.subarray(this.lastKeyStart, this.lastKeyStart + this.lastKeyLength);
  }

  /** True when the FNV-1a hash of the last key is a multiple of `divisor`. */
  lastKeyHashIsMultiple(divisor: number): boolean {
    const low = this.#fnvLow[this.lastKeyLength] as number;
    if (divisor < 0x80000000 && (low & ((divisor & -divisor) - 1)) !== 0) return false;
    return fnvIsMultiple(this.#fnvHigh(), low, divisor);
  }

  /** Makes room for a record of these sizes; the last key may move. */
  reserve(keyLength: number, valueLength: number): void {
    const room = keyLength + valueLength + recordRoom;
    if (this.#end + room > this.bytes.length) this.#makeRoom(room);
  }

  /** Adds a record that there is room for; its key has `shared` bytes in common with the last one. */
  add(
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    shared: number,
    value: Buffer,
    valueStart: number,
    valueEnd: number,
  ): void {
    const { bytes } = this;
    const keyLength = keyEnd - keyStart;
    let at = writeDecimal(bytes, this.#end, keyLength);
    this.lastKeyStart = at;
    this.lastKeyLength = keyLength;
    key.copy(bytes, at, keyStart, keyEnd);
    at += keyLength;
    bytes[at++] = 0x7c;
    at = writeDecimal(bytes, at, valueEnd - valueStart);
    value.copy(bytes, at, valueStart, valueEnd);
    at += valueEnd - valueStart;
    bytes[at++] = 0x7c;
    this.#end = at;
    this.#empty = false;
    this.#hashKey(shared);
  }

  /**
   * Adds all records of a decoded data block. False, with nothing added, when a table writer that starts a block
   * with its first record would not write this very block, or when the hash of a key before its last is a multiple
   * of `divisor`.
   */
  addBlock(body: Buffer, length: number, divisor: number, sizes: BlockSizes): boolean {
    this.reserve(blockRoom, length);
    const start = this.#end;
    const keyStart = this.lastKeyStart;
    const keyLength = this.lastKeyLength;
    const empty = this.#empty;
    if (this.#addEntries(body, length, divisor, sizes)) return true;
    this.#end = start;
    this.lastKeyStart = keyStart;
    this.lastKeyLength = keyLength;
    this.#empty = empty;
    this.#hashKey(0);
    return false;
  }

  /** So much waits that its hash is worth a checkpoint. */
  get isWorthKeeping(): boolean {
    return this.#end - this.#start >= keptInterval;
  }

  /** Passes everything on, up to a checkpoint. */
  passUntil(checkpoint: TableCheckpoint): void {
    this.#pass(0, checkpoint);
  }

  /** Goes on after records that the hash has taken already, the last of them with this key. */
  resumeAfter(key: Uint8Array): void {
    this.#empty = false;
    this.lastKeyStart = 0;
    this.lastKeyLength = key.length;
    this.#start = 0;
    this.#end = 0;
    this.reserve(key.length, 0);
    this.bytes.set(key);
    this.#start = key.length;
    this.#end = key.length;
    this.#hashKey(0);
  }

  digest(last: Buffer, fileSize: number): string | Promise<string> {
    return this.#hash.digest(Buffer.concat([this.bytes.subarray(this.#start, this.#end), last]), fileSize);
  }

  discard(): void {
    this.#hash.discard();
  }

  #addEntries(body: Buffer, length: number, divisor: number, sizes: BlockSizes): boolean {
    const { bytes } = this;
    const view = this.#view;
    const bodyView = viewOf(body);
    const end = entriesEnd(body, length);
    const restarts = (length - 4 - end) / 4;
    let entries = 0;
    let keyBytes = 0;
    let valueBytes = 0;
    for (let entry = 0; entry < end; entries++) {
      let at = entry;
      let shared = body[at++] as number;
      if (shared >= 0x80) {
        const second = body[at++] as number;
        if (second >= 0x80 || second === 0) return false;
        shared = (shared & 0x7f) | (second << 7);
      }
      let unshared = body[at++] as number;
      if (unshared >= 0x80) {
        const second = body[at++] as number;
        if (second >= 0x80 || second === 0) return false;
        unshared = (unshared & 0x7f) | (second << 7);
      }
      let valueLength = body[at++] as number;
      if (valueLength >= 0x80) {
        const second = body[at++] as number;
        if (second >= 0x80 || second === 0) return false;
        valueLength = (valueLength & 0x7f) | (second << 7);
      }
      const rest = unshared - internalTrailerLength;
      const keyLength = shared + rest;
      if (rest < 0 || unshared + valueLength > end - at) return false;
      if (this.#end + keyLength + valueLength + recordRoom > bytes.length) return false;

      const last = this.lastKeyStart;
      const lastLength = this.lastKeyLength;
      const restartsBefore = ((entries + dataRestartInterval - 1) / dataRestartInterval) | 0;
      const isRestart = entries % dataRestartInterval === 0;
      if (entries > 0) {
        const estimate = entry + 4 * restartsBefore + 4;
        if (
          estimate > blockSizeThreshold &&
          mustCut(estimate, keyLength + internalTrailerLength, valueLength, isRestart)
        ) {
          return false;
        }
      }
      // The bytes in common with the key before, wherever they are stored.
      let common = shared;
      if (isRestart) {
        if (
          shared !== 0 ||
          restartsBefore >= restarts ||
          readUint32(body, end + 4 * restartsBefore) !== entry
        )
          return false;
        const shorter = lastLength < keyLength ? lastLength : keyLength;
        while (common < shorter && bytes[last + common] === body[at + common]) common++;
      } else if (shared > lastLength) {
        return false;
      }
      if (!this.#empty || entries > 0) {
        const next = body[at + common - shared] as number;
        if (common >= keyLength) return false;
        if (
          common < lastLength
            ? next <= (bytes[last + common] as number)
            : !isRestart && next === recordTrailer[0]
        )
          return false;
      }

      let to = writeDecimal(bytes, this.#end, keyLength);
      this.lastKeyStart = to;
      this.lastKeyLength = keyLength;
      copyEights(view, last, view, to, shared);
      to += shared;
      for (let i = 0; i < rest; i++) bytes[to + i] = body[at + i] as number;
      to += rest;
      at += rest;
      if (bodyView.getInt32(at, true) !== 1 || bodyView.getInt32(at + 4, true) !== 0) return false;
      at += internalTrailerLength;
      bytes[to++] = 0x7c;
      to = writeDecimal(bytes, to, valueLength);
      // The entries are followed by eight bytes at least: a restart and the number of restarts.
      copyEights(bodyView, at, view, to, valueLength);
      to += valueLength;
      bytes[to++] = 0x7c;
      this.#end = to;
      entry = at + valueLength;
      keyBytes += keyLength;
      valueBytes += valueLength;
      this.#hashKey(common);
      if (entry < end && this.lastKeyHashIsMultiple(divisor)) return false;
    }
    if (entries === 0 || restarts !== (((entries + dataRestartInterval - 1) / dataRestartInterval) | 0))
      return false;
    this.#empty = false;
    sizes.entries = entries;
    sizes.keyBytes = keyBytes;
    sizes.valueBytes = valueBytes;
    return true;
  }

  /** Brings the FNV states up to the last key, whose first `from` bytes they cover. */
  #hashKey(from: number): void {
    const length = this.lastKeyLength;
    if (length >= this.#fnvLow.length) {
      const grown = new Int32Array(2 * length + 1);
      grown.set(this.#fnvLow);
      this.#fnvLow = grown;
    }
    const { bytes } = this;
    const start = this.lastKeyStart;
    const states = this.#fnvLow;
    let low = states[from] as number;
    for (let i = from; i < length; i++) {
      low = Math.imul(low ^ (bytes[start + i] as number), 0x1b3);
      states[i + 1] = low;
    }
  }

  /** The high half of the FNV state after the last key. */
  #fnvHigh(): number {
    const start = this.lastKeyStart;
    let high = fnvBasisHigh;
    for (let i = 0; i < this.lastKeyLength; i++) {
      high = fnvNextHigh(high, (this.#fnvLow[i] as number) ^ (this.bytes[start + i] as number));
    }
    return high;
  }

  #makeRoom(room: number): void {
    if (this.#end + room <= hashBufferSize) {
      const grown = Buffer.allocUnsafeSlow(Math.min(hashBufferSize, 4 * (this.#end + room)));
      this.bytes.copy(grown, 0, 0, this.#end);
      this.bytes = grown;
      this.#view = viewOf(grown);
      return;
    }
    this.#pass(room, undefined);
  }

  #pass(room: number, checkpoint: TableCheckpoint | undefined): void {
    const lastKey = Buffer.from(this.lastKey);
    let next = this.bytes;
    if (this.#end > this.#start) next = this.#hash.update(next, this.#start, this.#end, checkpoint);
    if (next.length < lastKey.length + room) next = Buffer.allocUnsafeSlow(2 * (lastKey.length + room));
    lastKey.copy(next);
    if (next !== this.bytes) this.#view = viewOf(next);
    this.bytes = next;
    this.lastKeyStart = 0;
    this.#start = lastKey.length;
    this.#end = lastKey.length;
  }
}

/** What a block added whole consists of. */
export interface BlockSizes {
  entries: number;
  keyBytes: number;
  valueBytes: number;
}

/** Copies eight bytes at a time, up to seven more than `length`. */
function copyEights(from: DataView, start: number, to: DataView, at: number, length: number): void {
  for (let i = 0; i < length; i += 8) to.setBigInt64(at + i, from.getBigInt64(start + i, true), true);
}

function writeDecimal(target: Uint8Array, at: number, value: number): number {
  if (value < 10) {
    target[at] = 0x30 + value;
    return at + 1;
  }
  let digits = 2;
  for (let power = 100; power <= value; power *= 10) digits++;
  let rest = value;
  for (let i = at + digits - 1; i >= at; i--) {
    const quotient = (rest / 10) | 0;
    target[i] = 0x30 + rest - quotient * 10;
    rest = quotient;
  }
  return at + digits;
}
