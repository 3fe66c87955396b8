import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';

const utf8NameAndDescriptor = 0x0808;
const deflated = 8;
const version = 45;
const tooLarge = 0xffff_ffff;
const tooMany = 0xffff;
/** Objects from here on are described with 64-bit sizes; framing adds a little to what is stored. */
const large = 4_000_000_000;

export interface ZipEntry {
  readonly name: string;
  readonly modified: Date;
  readonly size: number;
}

/** Bytes that an entry adds to the directory at the end, which stays in memory until then. */
export function directoryBytes(name: string): number {
  return 46 + Buffer.byteLength(name) + 28;
}

/**
 * Writes a zip archive as its entries come. What is stored is usually compressed already, so the entries are only
 * framed: that costs next to nothing, and readers that stream can tell where each ends.
 */
export class ZipStream {
  readonly #sink: Writable;
  readonly #directory: Buffer[] = [];
  #offset = 0;

  constructor(sink: Writable) {
    this.#sink = sink;
  }

  async add(entry: ZipEntry, content: Buffer | Readable): Promise<void> {
    const name = Buffer.from(entry.name);
    const is64 = entry.size >= large;
    const start = this.#offset;
    const [time, date] = dosTime(entry.modified);
    const local = Buffer.alloc(30);
    local.write('PK\x03\x04', 'latin1');
    local.writeUInt16LE(is64 ? version : 20, 4);
    local.writeUInt16LE(utf8NameAndDescriptor, 6);
    local.writeUInt16LE(deflated, 8);
    local.writeUInt16LE(time, 10);
    local.writeUInt16LE(date, 12);
    if (is64) local.fill(0xff, 18, 26);
    local.writeUInt16LE(name.length, 26);
    local.writeUInt16LE(is64 ? 20 : 0, 28);
    await this.#write(Buffer.concat([local, name, is64 ? extra64([0n, 0n]) : Buffer.alloc(0)]));
    const before = this.#offset;
    const { crc, size } = await this.#frame(content);
    const stored = this.#offset - before;
    const descriptor = Buffer.alloc(is64 ? 24 : 16);
    descriptor.write('PK\x07\x08', 'latin1');
    descriptor.writeUInt32LE(crc, 4);
    if (is64) {
      descriptor.writeBigUInt64LE(BigInt(stored), 8);
      descriptor.writeBigUInt64LE(BigInt(size), 16);
    } else {
      descriptor.writeUInt32LE(stored, 8);
      descriptor.writeUInt32LE(size, 12);
    }
    await this.#write(descriptor);
    this.#directory.push(directoryRecord(name, { time, date, crc, stored, size, start }));
  }

  async end(): Promise<void> {
    const start = this.#offset;
    for (const record of this.#directory) await this.#write(record);
    const length = this.#offset - start;
    const count = this.#directory.length;
    if (start >= tooLarge || length >= tooLarge || count >= tooMany) {
      const end64 = Buffer.alloc(76);
      end64.write('PK\x06\x06', 'latin1');
      end64.writeBigUInt64LE(44n, 4);
      end64.writeUInt16LE(version, 12);
      end64.writeUInt16LE(version, 14);
      end64.writeBigUInt64LE(BigInt(count), 24);
      end64.writeBigUInt64LE(BigInt(count), 32);
      end64.writeBigUInt64LE(BigInt(length), 40);
      end64.writeBigUInt64LE(BigInt(start), 48);
      end64.write('PK\x06\x07', 56, 'latin1');
      end64.writeBigUInt64LE(BigInt(start + length), 64);
      end64.writeUInt32LE(1, 72);
      await this.#write(end64);
    }
    const end = Buffer.alloc(22);
    end.write('PK\x05\x06', 'latin1');
    end.writeUInt16LE(Math.min(count, tooMany), 8);
    end.writeUInt16LE(Math.min(count, tooMany), 10);
    end.writeUInt32LE(Math.min(length, tooLarge), 12);
    end.writeUInt32LE(Math.min(start, tooLarge), 16);
    await this.#write(end);
  }

  async #frame(content: Buffer | Readable): Promise<{ crc: number; size: number }> {
    const framing = createDeflateRaw({ level: 0 });
    let crc = 0;
    let size = 0;
    const feed = async (): Promise<void> => {
      for await (const chunk of content instanceof Buffer ? [content] : content) {
        const bytes = chunk as Buffer;
        crc = crc32(bytes, crc);
        size += bytes.length;
        if (!framing.write(bytes)) await once(framing, 'drain');
      }
      framing.end();
    };
    const fed = feed().catch((error: unknown) => {
      framing.destroy(error as Error);
      throw error;
    });
    // Whoever waits below hears of it first.
    fed.catch(() => undefined);
    for await (const framed of framing) await this.#write(framed as Buffer);
    await fed;
    return { crc, size };
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#sink.destroyed) throw new Error('the reader of the archive went away');
    this.#offset += bytes.length;
    if (this.#sink.write(bytes)) return;
    const waiting = new AbortController();
    try {
      // A reader that goes away never drains.
      await Promise.race(
        ['drain', 'close'].map((event) => once(this.#sink, event, { signal: waiting.signal })),
      );
    } finally {
      waiting.abort();
    }
  }
}

function directoryRecord(
  name: Buffer,
  facts: {
    readonly time: number;
    readonly date: number;
    readonly crc: number;
    readonly stored: number;
    readonly size: number;
    readonly start: number;
  },
): Buffer {
  const { stored, size, start } = facts;
  const is64 = Math.max(stored, size, start) >= tooLarge;
  const record = Buffer.alloc(46);
  record.write('PK\x01\x02', 'latin1');
  record.writeUInt16LE((3 << 8) | version, 4);
  record.writeUInt16LE(is64 ? version : 20, 6);
  record.writeUInt16LE(utf8NameAndDescriptor, 8);
  record.writeUInt16LE(deflated, 10);
  record.writeUInt16LE(facts.time, 12);
  record.writeUInt16LE(facts.date, 14);
  record.writeUInt32LE(facts.crc, 16);
  record.writeUInt32LE(is64 ? tooLarge : stored, 20);
  record.writeUInt32LE(is64 ? tooLarge : size, 24);
  record.writeUInt16LE(name.length, 28);
  record.writeUInt16LE(is64 ? 28 : 0, 30);
  record.writeUInt32LE((0o100_644 << 16) >>> 0, 38);
  record.writeUInt32LE(is64 ? tooLarge : start, 42);
  const extra = is64 ? extra64([BigInt(size), BigInt(stored), BigInt(start)]) : Buffer.alloc(0);
  return Buffer.concat([record, name, extra]);
}

function extra64(values: readonly bigint[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(value, 4 + index * 8);
  return extra;
}

/** Two-second steps since 1980, without a zone: UTC. */
function dosTime(when: Date): [time: number, date: number] {
  const year = Math.min(Math.max(when.getUTCFullYear(), 1980), 2107);
  return [
    (when.getUTCHours() << 11) | (when.getUTCMinutes() << 5) | (when.getUTCSeconds() >> 1),
    ((year - 1980) << 9) | ((when.getUTCMonth() + 1) << 5) | when.getUTCDate(),
  ];
}
