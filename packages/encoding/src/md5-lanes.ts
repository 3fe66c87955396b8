import { md5Wasm } from './md5-wasm.ts';
import { instantiateWasm, type WasmMemory } from './wasm.ts';

/** `wasm/md5.as` says what each of them does, and where its memory is. */
interface Md5Exports {
  readonly memory: WasmMemory;
  heap(): number;
  update(blocks: number): void;
}

const constantsAt = 1024;
const statesAt = 1280;
const sourcesAt = 1408;
const start = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];

const block = 64;
/** So much of a message is read at a time. */
const windowBytes = 64 * 1024;
/** What ends a message: a bit, zeros, and its length. */
const roomToEnd = 2 * block;
const wasmPage = 65_536;

/** How many messages are digested at once. */
export const md5Lanes = 8;

export interface Md5Message {
  readonly size: number;
  /** Fills all of `target` with the bytes from `position` on, or throws. */
  read(target: Buffer, position: number): void;
  /** Gets the digest in hex, or what reading threw. */
  done(md5: string | undefined, error?: unknown): void;
}

interface Lane {
  readonly index: number;
  /** Where its window is in the memory. */
  readonly address: number;
  message: Md5Message | undefined;
  /** How much of the message was read. */
  read: number;
  /** What of the window is still to be digested, from where on, in bytes. */
  at: number;
  left: number;
  isLast: boolean;
}

/**
 * Digests messages side by side. Eight take little longer than one would, for the steps of an MD5 keep a processor
 * waiting most of the time; for one alone `node:crypto` is faster.
 */
export class Md5Lanes {
  readonly #run = instantiateWasm(md5Wasm) as Md5Exports;
  readonly #memory: Buffer;
  readonly #words: Uint32Array;
  readonly #lanes: readonly Lane[];

  constructor() {
    const heap = this.#run.heap();
    const needed = heap + md5Lanes * (windowBytes + roomToEnd);
    const missing = needed - this.#run.memory.buffer.byteLength;
    if (missing > 0) this.#run.memory.grow(Math.ceil(missing / wasmPage));
    this.#memory = Buffer.from(this.#run.memory.buffer);
    this.#words = new Uint32Array(this.#run.memory.buffer);
    for (let n = 0; n < 64; n += 1) {
      this.#words[constantsAt / 4 + n] = Math.floor(Math.abs(Math.sin(n + 1)) * 2 ** 32);
    }
    this.#lanes = Array.from({ length: md5Lanes }, (_, index) => ({
      index,
      address: heap + index * (windowBytes + roomToEnd),
      message: undefined,
      read: 0,
      at: 0,
      left: 0,
      isLast: false,
    }));
  }

  /** Goes on until all messages are done that `next` gives. It is asked again as long as any is not. */
  digest(next: () => Md5Message | undefined): void {
    for (;;) {
      let bytes = Number.POSITIVE_INFINITY;
      let isEmpty = false;
      const nextHere = (): Md5Message | undefined => {
        const message = isEmpty ? undefined : next();
        isEmpty = message === undefined;
        return message;
      };
      for (const lane of this.#lanes) if (this.#hasWork(lane, nextHere)) bytes = Math.min(bytes, lane.left);
      if (bytes === Number.POSITIVE_INFINITY) return;
      // A lane without a message works on what is in its window, and nobody asks for the result.
      for (const { index, address, at } of this.#lanes) this.#words[sourcesAt / 4 + index] = address + at;
      this.#run.update(bytes / block);
      for (const lane of this.#lanes) if (lane.message !== undefined) this.#advance(lane, bytes);
    }
  }

  #hasWork(lane: Lane, next: () => Md5Message | undefined): boolean {
    while (lane.left === 0) {
      if (lane.message === undefined) {
        lane.at = 0;
        lane.message = next();
        if (lane.message === undefined) return false;
        lane.read = 0;
        for (let n = 0; n < start.length; n += 1) this.#words[this.#stateAt(lane, n)] = start[n] ?? 0;
      }
      this.#fill(lane, lane.message);
    }
    return true;
  }

  #fill(lane: Lane, message: Md5Message): void {
    const { address } = lane;
    const { size } = message;
    const count = Math.min(windowBytes, size - lane.read);
    try {
      if (count > 0) message.read(this.#memory.subarray(address, address + count), lane.read);
    } catch (error) {
      lane.message = undefined;
      message.done(undefined, error);
      return;
    }
    lane.read += count;
    lane.at = 0;
    lane.left = count;
    lane.isLast = lane.read === size;
    if (!lane.isLast) return;
    // A set bit, then the length in bits at the end of a block.
    lane.left = Math.ceil((count + 9) / block) * block;
    this.#memory.fill(0, address + count, address + lane.left);
    this.#memory[address + count] = 0x80;
    this.#memory.writeUInt32LE((size << 3) >>> 0, address + lane.left - 8);
    this.#memory.writeUInt32LE(Math.floor(size / 2 ** 29), address + lane.left - 4);
  }

  #advance(lane: Lane, bytes: number): void {
    lane.at += bytes;
    lane.left -= bytes;
    const { message } = lane;
    if (lane.left > 0 || !lane.isLast) return;
    lane.message = undefined;
    const digest = Buffer.allocUnsafe(16);
    for (let n = 0; n < 4; n += 1) digest.writeUInt32LE(this.#words[this.#stateAt(lane, n)] ?? 0, n * 4);
    message?.done(digest.toString('hex'));
  }

  #stateAt({ index }: Lane, word: number): number {
    return statesAt / 4 + Math.floor(index / 4) * 16 + word * 4 + (index % 4);
  }
}
