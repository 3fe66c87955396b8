import type { WorkBuffer } from './work-buffer.ts';
import { viewOf } from './work-buffer.ts';
import { writeUvarint } from './varint.ts';

const chunkSize = 65536;
const maxTableSize = 16384;
const minChunkToMatch = 17;
const inputMargin = 15;

/** An upper bound of the compressed length of `length` bytes. */
export function snappyMaxLength(length: number): number {
  return 32 + length + Math.floor(length / 6);
}

/** Compresses `source` into a new buffer. */
export function snappyCompress(source: Uint8Array): Buffer {
  const target = Buffer.allocUnsafe(snappyMaxLength(source.length));
  const end = new SnappyEncoder().encode(source, viewOf(source), 0, source.length, target, 0);
  return target.subarray(0, end);
}

/**
 * Snappy's block format, with exactly the choices of the reference encoder: compressed lengths are part of range
 * sizes, and range sizes are part of tree ids.
 */
export class SnappyEncoder {
  readonly #table = new Uint16Array(maxTableSize);

  /** Compresses a work buffer's bytes `[start, end)` to `target` at `at`; returns the position after them. */
  encodeFrom(source: WorkBuffer, start: number, end: number, target: Uint8Array, at: number): number {
    return this.encode(source.bytes, source.view, start, end, target, at);
  }

  /** `target` must have room for `snappyMaxLength(end - start)` bytes. */
  encode(
    source: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    target: Uint8Array,
    at: number,
  ): number {
    let position = writeUvarint(target, at, end - start);
    for (let chunk = start; chunk < end; chunk += chunkSize) {
      const chunkEnd = Math.min(chunk + chunkSize, end);
      position =
        chunkEnd - chunk < minChunkToMatch
          ? writeLiteral(source, chunk, chunkEnd, target, position)
          : this.#encodeChunk(source, view, chunk, chunkEnd, target, position);
    }
    return position;
  }

  #encodeChunk(
    source: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    target: Uint8Array,
    at: number,
  ): number {
    const length = end - start;
    let shift = 24;
    let tableSize = 256;
    while (tableSize < maxTableSize && tableSize < length) {
      tableSize *= 2;
      shift--;
    }
    const table = this.#table;
    table.fill(0, 0, tableSize);

    let position = at;
    const limit = end - inputMargin;
    let emitted = start;
    let s = start + 1;
    let nextHash = Math.imul(view.getInt32(s, true), 0x1e35a7bd) >>> shift;

    for (;;) {
      let skip = 32;
      let next = s;
      let candidate = 0;
      let word = 0;
      do {
        s = next;
        const step = skip >> 5;
        next = s + step;
        skip += step;
        if (next > limit) {
          return emitted < end ? writeLiteral(source, emitted, end, target, position) : position;
        }
        candidate = start + (table[nextHash] as number);
        table[nextHash] = s - start;
        nextHash = Math.imul(view.getInt32(next, true), 0x1e35a7bd) >>> shift;
        word = view.getInt32(s, true);
      } while (word !== view.getInt32(candidate, true));

      position = writeLiteral(source, emitted, s, target, position);

      do {
        const base = s;
        s += 4;
        let match = candidate + 4;
        while (s + 4 <= end && view.getInt32(s, true) === view.getInt32(match, true)) {
          s += 4;
          match += 4;
        }
        while (s < end && source[match] === source[s]) {
          s++;
          match++;
        }
        position = writeCopy(base - candidate, s - base, target, position);
        emitted = s;
        if (s >= limit) {
          return emitted < end ? writeLiteral(source, emitted, end, target, position) : position;
        }
        table[Math.imul(view.getInt32(s - 1, true), 0x1e35a7bd) >>> shift] = s - 1 - start;
        word = view.getInt32(s, true);
        const hash = Math.imul(word, 0x1e35a7bd) >>> shift;
        candidate = start + (table[hash] as number);
        table[hash] = s - start;
      } while (word === view.getInt32(candidate, true));

      nextHash = Math.imul(view.getInt32(s + 1, true), 0x1e35a7bd) >>> shift;
      s++;
    }
  }
}

function writeLiteral(
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  at: number,
): number {
  const count = end - start;
  const tag = count - 1;
  let position = at;
  if (tag < 60) {
    target[position++] = tag << 2;
  } else if (tag < 256) {
    target[position++] = 0xf0;
    target[position++] = tag;
  } else {
    target[position++] = 0xf4;
    target[position++] = tag & 0xff;
    target[position++] = tag >>> 8;
  }
  if (count > 48) {
    target.set(source.subarray(start, end), position);
    return position + count;
  }
  for (let i = start; i < end; i++) target[position++] = source[i] as number;
  return position;
}

function writeCopy(offset: number, length: number, target: Uint8Array, at: number): number {
  let position = at;
  let rest = length;
  while (rest >= 68) {
    target[position++] = 0xfe;
    target[position++] = offset & 0xff;
    target[position++] = offset >>> 8;
    rest -= 64;
  }
  if (rest > 64) {
    target[position++] = 0xee;
    target[position++] = offset & 0xff;
    target[position++] = offset >>> 8;
    rest -= 60;
  }
  if (rest >= 12 || offset >= 2048) {
    target[position++] = ((rest - 1) << 2) | 2;
    target[position++] = offset & 0xff;
    target[position++] = offset >>> 8;
  } else {
    target[position++] = ((offset >>> 8) << 5) | ((rest - 4) << 2) | 1;
    target[position++] = offset & 0xff;
  }
  return position;
}
