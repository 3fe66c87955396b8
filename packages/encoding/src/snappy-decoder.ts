import { VarintReader } from './varint.ts';
import { viewOf, WorkBuffer } from './work-buffer.ts';

/** Bytes a decoder may write past the decoded length, so that short runs are copied eight bytes at a time. */
const slack = 16;

export class SnappyError extends Error {
  override readonly name = 'SnappyError';
}

/** Decompresses a whole Snappy block. `maxLength` bounds the memory a hostile length could ask for. */
export function snappyDecompress(source: Uint8Array, maxLength = 0x7fffffff): Buffer {
  const target = new WorkBuffer(0);
  const length = snappyDecode(source, viewOf(source), 0, source.length, target, maxLength);
  return target.bytes.subarray(0, length);
}

/** Decodes `source[start, end)` into `target` from 0 and returns the decoded length. */
export function snappyDecode(
  source: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  target: WorkBuffer,
  maxLength: number,
): number {
  const header = new VarintReader(source, start, end);
  const length = header.uvarint();
  if (Number.isNaN(length)) throw new SnappyError('snappy: the length is unreadable');
  // A copy of 64 bytes takes three, so no honest block grows more than this.
  if (length > maxLength || length > (end - start) * 22 + 64) {
    throw new SnappyError(`snappy: a length of ${length} is impossible for ${end - start} bytes`);
  }
  target.reserve(length + slack);
  const out = target.bytes;
  const outView = target.view;
  let s = header.position;
  let d = 0;
  // Eight-byte reads may pass `end` but never the buffer.
  const wideEnd = source.length - slack;

  while (s < end) {
    const tag = source[s++] as number;
    let count = 0;
    let offset = 0;
    switch (tag & 3) {
      case 0: {
        count = tag >>> 2;
        if (count >= 60) {
          const extra = count - 59;
          if (s + extra > end) throw truncated();
          count = 0;
          for (let i = extra - 1; i >= 0; i--) count = count * 256 + (source[s + i] as number);
          s += extra;
        }
        count++;
        if (count > end - s || count > length - d) throw overrun();
        if (count <= 16 && s <= wideEnd) {
          outView.setBigInt64(d, view.getBigInt64(s, true), true);
          outView.setBigInt64(d + 8, view.getBigInt64(s + 8, true), true);
        } else if (count <= 64 && s + count <= wideEnd) {
          for (let i = 0; i < count; i += 8) {
            outView.setBigInt64(d + i, view.getBigInt64(s + i, true), true);
          }
        } else {
          out.set(source.subarray(s, s + count), d);
        }
        s += count;
        d += count;
        continue;
      }
      case 1:
        if (s >= end) throw truncated();
        count = ((tag >>> 2) & 7) + 4;
        offset = ((tag >>> 5) << 8) | (source[s++] as number);
        break;
      case 2:
        if (s + 2 > end) throw truncated();
        count = (tag >>> 2) + 1;
        offset = (source[s] as number) | ((source[s + 1] as number) << 8);
        s += 2;
        break;
      default:
        if (s + 4 > end) throw truncated();
        count = (tag >>> 2) + 1;
        offset = view.getUint32(s, true);
        s += 4;
    }
    if (offset === 0 || offset > d) throw new SnappyError('snappy: a copy reaches before the start');
    if (count > length - d) throw overrun();
    let from = d - offset;
    if (offset >= 8) {
      for (let i = 0; i < count; i += 8) {
        outView.setBigInt64(d + i, outView.getBigInt64(from + i, true), true);
      }
      d += count;
    } else {
      for (const stop = d + count; d < stop;) out[d++] = out[from++] as number;
    }
  }
  if (d !== length) throw truncated();
  return length;
}

function truncated(): SnappyError {
  return new SnappyError('snappy: the data ends early');
}

function overrun(): SnappyError {
  return new SnappyError('snappy: the data is longer than it says');
}
