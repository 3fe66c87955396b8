import { appendFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { AddressHash } from './address-hash.ts';

const shards = 256;
const markBytes = 8;
/** Marks of a shard that wait in memory. */
const waiting = 2048;

/**
 * What is in use, as 64 bits per address in 256 files by partition, so that memory does not grow with the number of
 * objects. Two objects with equal marks keep each other alive: an error can only keep garbage.
 */
export class Marks {
  readonly #folder: string;
  readonly #buffers: (Buffer | undefined)[] = Array.from({ length: shards });
  readonly #filled = new Uint32Array(shards);
  readonly #hash = new AddressHash();
  readonly #counts = new Uint32Array(shards);
  count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** `numbers` are marks, two for each. */
  addAll(numbers: Uint32Array, isActive: boolean): void {
    for (let at = 0; at < numbers.length; at += 2) {
      this.#add(numbers[at] as number, numbers[at + 1] as number, isActive);
    }
  }

  #add(high: number, low: number, isActive: boolean): void {
    const shard = high >>> 24;
    const buffer = (this.#buffers[shard] ??= Buffer.allocUnsafeSlow(waiting * markBytes));
    const at = (this.#filled[shard] ?? 0) * markBytes;
    buffer.writeUInt32LE(high, at);
    buffer.writeUInt32LE(((low & 0xffff_fffe) | (isActive ? 0 : 1)) >>> 0, at + 4);
    this.#filled[shard] = (this.#filled[shard] ?? 0) + 1;
    this.#counts[shard] = (this.#counts[shard] ?? 0) + 1;
    this.count += 1;
    if (this.#filled[shard] === waiting) this.#flush(shard);
  }

  /** Marks the data an address ends in, however its namespace is spelled; other addresses need none. */
  addText(address: string, isActive = true): void {
    const bytes = Buffer.from(address);
    if (this.#hash.read(bytes, 0, bytes.length)) this.#add(this.#hash.high, this.#hash.low, isActive);
  }

  /** The marks of one shard, ready to be asked. */
  load(shard: number): MarkSet {
    this.#flush(shard);
    try {
      return new MarkSet(readFileSync(this.#path(shard)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new MarkSet(Buffer.alloc(0));
      throw error;
    }
  }

  /** Bytes that the largest of the sets takes. */
  get largestSet(): number {
    return setBytes(Math.max(...this.#counts));
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #flush(shard: number): void {
    const filled = this.#filled[shard] ?? 0;
    if (filled === 0) return;
    appendFileSync(
      this.#path(shard),
      this.#buffers[shard]?.subarray(0, filled * markBytes) ?? Buffer.alloc(0),
    );
    this.#filled[shard] = 0;
  }

  #path(shard: number): string {
    return join(this.#folder, String(shard));
  }
}

function slotsFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(8, count * 2)));
}

/** With the file it is made from. */
function setBytes(count: number): number {
  return (count + slotsFor(count)) * markBytes;
}

export type Use = 'active' | 'inactive' | 'none';

/** A set of marks in one table of numbers. */
export class MarkSet {
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #hash = new AddressHash();

  constructor(marks: Buffer) {
    const count = marks.length / markBytes;
    const size = slotsFor(count);
    this.#mask = size - 1;
    this.#slots = new Uint32Array(2 * size);
    for (let at = 0; at < marks.length; at += markBytes) {
      this.#insert(marks.readUInt32LE(at), marks.readUInt32LE(at + 4));
    }
  }

  /** How the data of a key is used. */
  use(key: string): Use {
    const bytes = Buffer.from(key);
    if (!this.#hash.read(bytes, 0, bytes.length)) return 'active';
    const slot = this.#find(this.#hash.high, this.#hash.low);
    if (this.#slots[slot] === 0 && this.#slots[slot + 1] === 0) return 'none';
    return ((this.#slots[slot + 1] ?? 0) & 1) === 0 ? 'active' : 'inactive';
  }

  #insert(high: number, low: number): void {
    const slot = this.#find(high, low);
    const isNew = this.#slots[slot] === 0 && this.#slots[slot + 1] === 0;
    this.#slots[slot] = high;
    // One use by an active commit makes it active.
    if (isNew || (low & 1) === 0) this.#slots[slot + 1] = low;
  }

  #find(high: number, low: number): number {
    const wanted = (low & 0xffff_fffe) >>> 0;
    for (let at = (low >>> 1) & this.#mask; ; at = (at + 1) & this.#mask) {
      const [foundHigh = 0, foundLow = 0] = [this.#slots[2 * at], this.#slots[2 * at + 1]];
      if (foundHigh === 0 && foundLow === 0) return 2 * at;
      if (foundHigh === high && (foundLow & 0xffff_fffe) >>> 0 === wanted) return 2 * at;
    }
  }
}
