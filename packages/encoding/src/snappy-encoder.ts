import { writeUvarint } from './varint.ts';
import { viewOf, WorkBuffer } from './work-buffer.ts';

const chunkSize = 65536;
const maxTableSize = 16384;
const minChunkToMatch = 17;
const inputMargin = 15;

/** Cleared for every chunk; encoding is synchronous, so one serves all encoders of a thread. */
const table = new Uint16Array(maxTableSize);

/** Room for the compressed form of `length` bytes, and for what is written past its end on the way. */
export function snappyMaxLength(length: number): number {
  return 48 + length + Math.floor(length / 6);
}

/** Compresses `source` into a new buffer. */
export function snappyCompress(source: Uint8Array): Buffer {
  const target = new WorkBuffer(snappyMaxLength(source.length));
  const end = new SnappyEncoder().encode(source, viewOf(source), 0, source.length, target, 0);
  return target.bytes.subarray(0, end);
}

/**
 * Snappy's block format, with exactly the choices of the reference encoder: compressed lengths are part of range
 * sizes, and range sizes are part of tree ids.
 */
export class SnappyEncoder {
  /** `target` must have room for `snappyMaxLength(end - start)` bytes. */
  encode(
    source: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    target: WorkBuffer,
    at: number,
  ): number {
    let position = writeUvarint(target.bytes, at, end - start);
    for (let chunk = start; chunk < end; chunk += chunkSize) {
      const chunkEnd = Math.min(chunk + chunkSize, end);
      position =
        chunkEnd - chunk < minChunkToMatch
          ? writeLiteral(source, view, chunk, chunkEnd, target.bytes, target.view, position)
          : this.#encodeChunk(source, view, chunk, chunkEnd, target.bytes, target.view, position);
    }
    return position;
  }

  #encodeChunk(
    source: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    target: Uint8Array,
    targetView: DataView,
    at: number,
  ): number {
    const length = end - start;
    let shift = 24;
    let tableSize = 256;
    while (tableSize < maxTableSize && tableSize < length) {
      tableSize *= 2;
      shift--;
    }
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
          return emitted < end
            ? writeLiteral(source, view, emitted, end, target, targetView, position)
            : position;
        }
        candidate = start + (table[nextHash] as number);
        table[nextHash] = s - start;
        nextHash = Math.imul(view.getInt32(next, true), 0x1e35a7bd) >>> shift;
        word = view.getInt32(s, true);
      } while (word !== view.getInt32(candidate, true));

      position = writeLiteral(source, view, emitted, s, target, targetView, position);

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
          return emitted < end
            ? writeLiteral(source, view, emitted, end, target, targetView, position)
            : position;
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
  view: DataView,
  start: number,
  end: number,
  target: Uint8Array,
  targetView: DataView,
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
  if (count <= 64 && end + 8 <= view.byteLength) {
    // Eight bytes a step; what is written past the literal is overwritten by what follows it.
    for (let i = 0; i < count; i += 8) {
      targetView.setBigInt64(position + i, view.getBigInt64(start + i, true), true);
    }
  } else {
    target.set(source.subarray(start, end), position);
  }
  return position + count;
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
