import { hash, randomInt } from 'node:crypto';
import { hostname } from 'node:os';

const alphabet = '0123456789abcdefghijklmnopqrstuv';
const values = new Map(Array.from(alphabet, (char, index) => [char, index]));

/** Time bases of ids that sort newest first: the time field is base minus now. */
export const partitionTimeBase = 64_060_588_800;
export const runTimeBase = 32_500_915_200;

// The three-byte counter is shared by the whole process, as the process id is.
let counter = randomInt(0x100_0000);

export interface XidParts {
  readonly seconds: number;
  /** Three bytes. */
  readonly machine: number;
  readonly pid: number;
  readonly counter: number;
}

/** Makes unique 20-character ids that sort by time. */
export class XidGenerator {
  readonly #machine: number;
  readonly #pid: number;
  readonly #clock: () => number;

  constructor(options: { clock?: () => number; machine?: number; pid?: number } = {}) {
    this.#clock = options.clock ?? Date.now;
    this.#machine = options.machine ?? hash('sha256', hostname(), 'buffer').readUIntBE(0, 3);
    this.#pid = (options.pid ?? process.pid) & 0xffff;
  }

  /** Sorts oldest first. */
  next(): string {
    return encodeXid(this.nextBytes());
  }

  /** The bytes of `next`. */
  nextBytes(): Buffer {
    return this.#bytes(Math.floor(this.#clock() / 1000));
  }

  /** Sorts newest first. */
  nextDescending(timeBase: number): string {
    return encodeXid(this.#bytes(timeBase - Math.floor(this.#clock() / 1000)));
  }

  #bytes(seconds: number): Buffer {
    counter = (counter + 1) & 0xff_ffff;
    return xidBytes({ seconds, machine: this.#machine, pid: this.#pid, counter });
  }
}

export function formatXid(parts: XidParts): string {
  return encodeXid(xidBytes(parts));
}

function xidBytes({ seconds, machine, pid, counter: count }: XidParts): Buffer {
  const bytes = Buffer.allocUnsafe(12);
  bytes.writeUInt32BE(((seconds % 0x1_0000_0000) + 0x1_0000_0000) % 0x1_0000_0000, 0);
  bytes.writeUInt32BE((((machine & 0xff_ffff) << 8) | ((pid >> 8) & 0xff)) >>> 0, 4);
  bytes.writeUInt32BE((((pid & 0xff) << 24) | (count & 0xff_ffff)) >>> 0, 8);
  return bytes;
}

export function encodeXid(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let pending = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(pending >> bits) & 31] ?? '';
      pending &= (1 << bits) - 1;
    }
  }
  return text + (alphabet[(pending << (5 - bits)) & 31] ?? '');
}

/** The twelve bytes of an id, or undefined when the text is not one. */
export function parseXid(text: string): Buffer | undefined {
  return decodeXid(text, 12);
}

/** What `encodeXid` made of so many bytes, or undefined when the text is not that. */
export function decodeXid(text: string, length: number): Buffer | undefined {
  if (text.length !== Math.ceil((length * 8) / 5)) return undefined;
  const bytes = Buffer.allocUnsafe(length);
  let bits = 0;
  let pending = 0;
  let at = 0;
  for (const char of text) {
    const value = values.get(char);
    if (value === undefined) return undefined;
    pending = (pending << 5) | value;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at] = pending >> bits;
      at += 1;
      pending &= (1 << bits) - 1;
    }
  }
  return pending === 0 && at === length ? bytes : undefined;
}

/** Seconds since 1970 of an id that sorts oldest first. */
export function xidSeconds(text: string): number | undefined {
  return parseXid(text)?.readUInt32BE(0);
}
