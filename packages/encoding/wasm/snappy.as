// Snappy's block format, in AssemblyScript. The encoder makes exactly the choices of the reference encoder.
// And CRC-32C, so that a block is checked where it is decoded.
// The caller lays out memory behind `heap`; both directions may read and write up to 16 bytes past an end.

/** Positions by hash, 16 bits each, of one chunk. */
const table: usize = 1024;
const maxTableSize: u32 = 16384;
const multiplier: u32 = 0x1e35a7bd;
const chunkSize: usize = 65536;
const minChunkToMatch: usize = 17;
const inputMargin: usize = 15;

/** Eight tables of 256 words, made when the first checksum is asked for. */
const crcTables: usize = 40960;
const crcPolynomial: u32 = 0x82f63b78;

/** Where the caller's memory begins. */
export function heap(): usize {
  return 65536;
}

/** Compresses `length` bytes at `source` to `target`; answers where the output ends. */
export function encode(source: usize, length: u32, target: usize): usize {
  let rest = length;
  let at = target;
  while (rest >= 0x80) {
    store<u8>(at++, rest | 0x80);
    rest >>= 7;
  }
  store<u8>(at++, rest);
  const end = source + length;
  for (let start = source; start < end; start += chunkSize) {
    const chunkEnd = min(start + chunkSize, end);
    at =
      chunkEnd - start < minChunkToMatch ? writeLiteral(start, chunkEnd, at) : encodeChunk(start, chunkEnd, at);
  }
  return at;
}

function encodeChunk(start: usize, end: usize, target: usize): usize {
  let at = target;
  let shift: u32 = 24;
  let tableSize: u32 = 256;
  while (tableSize < maxTableSize && tableSize < <u32>(end - start)) {
    tableSize *= 2;
    shift--;
  }
  memory.fill(table, 0, tableSize * 2);

  const limit = end - inputMargin;
  let emitted = start;
  let s = start + 1;
  let nextHash = (load<u32>(s) * multiplier) >> shift;
  for (;;) {
    let skip: u32 = 32;
    let next = s;
    let candidate: usize = 0;
    do {
      s = next;
      const step = skip >> 5;
      next = s + step;
      skip += step;
      if (next > limit) return emitted < end ? writeLiteral(emitted, end, at) : at;
      const slot = table + (nextHash << 1);
      candidate = start + load<u16>(slot);
      store<u16>(slot, <u32>(s - start));
      nextHash = (load<u32>(next) * multiplier) >> shift;
    } while (load<u32>(s) != load<u32>(candidate));

    at = writeLiteral(emitted, s, at);

    for (;;) {
      const base = s;
      s = matchEnd(s + 4, candidate + 4, end);
      at = writeCopy(<u32>(base - candidate), <u32>(s - base), at);
      emitted = s;
      if (s >= limit) return emitted < end ? writeLiteral(emitted, end, at) : at;
      const bytes = load<u64>(s - 1);
      store<u16>(table + (((<u32>bytes * multiplier) >> shift) << 1), <u32>(s - 1 - start));
      const word = <u32>(bytes >> 8);
      const slot = table + (((word * multiplier) >> shift) << 1);
      candidate = start + load<u16>(slot);
      store<u16>(slot, <u32>(s - start));
      if (word != load<u32>(candidate)) {
        nextHash = (<u32>(bytes >> 16) * multiplier) >> shift;
        s++;
        break;
      }
    }
  }
  return at;
}

/** Where the bytes from `s` stop being those from `match`, at most `end`. */
@inline
function matchEnd(s: usize, match: usize, end: usize): usize {
  while (s + 8 <= end) {
    const difference = load<u64>(s) ^ load<u64>(match);
    if (difference != 0) return s + <usize>(ctz(difference) >> 3);
    s += 8;
    match += 8;
  }
  while (s < end && load<u8>(match) == load<u8>(s)) {
    s++;
    match++;
  }
  return s;
}

@inline
function writeLiteral(start: usize, end: usize, at: usize): usize {
  const count = end - start;
  const tag = <u32>count - 1;
  if (tag < 60) {
    store<u8>(at++, tag << 2);
  } else if (tag < 256) {
    store<u8>(at, 0xf0);
    store<u8>(at, tag, 1);
    at += 2;
  } else {
    store<u8>(at, 0xf4);
    store<u16>(at, tag, 1);
    at += 3;
  }
  copySixteens(start, at, count);
  return at + count;
}

@inline
function writeCopy(offset: u32, length: u32, at: usize): usize {
  while (length >= 68) {
    store<u8>(at, 0xfe);
    store<u16>(at, offset, 1);
    at += 3;
    length -= 64;
  }
  if (length > 64) {
    store<u8>(at, 0xee);
    store<u16>(at, offset, 1);
    at += 3;
    length -= 60;
  }
  if (length >= 12 || offset >= 2048) {
    store<u8>(at, ((length - 1) << 2) | 2);
    store<u16>(at, offset, 1);
    return at + 3;
  }
  store<u8>(at, ((offset >> 8) << 5) | ((length - 4) << 2) | 1);
  store<u8>(at, offset, 1);
  return at + 2;
}

const truncated: i32 = -1;
const overrun: i32 = -2;
const beforeStart: i32 = -3;

/** Decodes the tags in `[source, end)` to exactly `length` bytes at `target`; answers 0, or what is wrong. */
export function decode(source: usize, end: usize, target: usize, length: u32): i32 {
  let s = source;
  let d = target;
  const targetEnd = target + length;
  while (s < end) {
    const tag: u32 = load<u8>(s++);
    let count: u32 = 0;
    let offset: u32 = 0;
    const kind = tag & 3;
    if (kind == 0) {
      count = tag >> 2;
      if (count >= 60) {
        const extra = count - 59;
        if (s + extra > end) return truncated;
        count = load<u32>(s) & (0xffffffff >> ((4 - extra) << 3));
        s += extra;
      }
      count++;
      // A length of 2^32 wraps to 0.
      if (count == 0 || count > <u32>(end - s) || count > <u32>(targetEnd - d)) return overrun;
      copySixteens(s, d, count);
      s += count;
      d += count;
      continue;
    }
    if (kind == 1) {
      if (s >= end) return truncated;
      count = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | load<u8>(s);
      s += 1;
    } else if (kind == 2) {
      if (s + 2 > end) return truncated;
      count = (tag >> 2) + 1;
      offset = load<u16>(s);
      s += 2;
    } else {
      if (s + 4 > end) return truncated;
      count = (tag >> 2) + 1;
      offset = load<u32>(s);
      s += 4;
    }
    if (offset == 0 || offset > <u32>(d - target)) return beforeStart;
    if (count > <u32>(targetEnd - d)) return overrun;
    const from = d - offset;
    if (offset >= 16) {
      copySixteens(from, d, count);
    } else if (offset >= 8) {
      for (let i: u32 = 0; i < count; i += 8) store<u64>(d + i, load<u64>(from + i));
    } else {
      for (let i: u32 = 0; i < count; i++) store<u8>(d + i, load<u8>(from + i));
    }
    d += count;
  }
  return d == targetEnd ? 0 : truncated;
}

@inline
function copySixteens(from: usize, to: usize, count: usize): void {
  v128.store(to, v128.load(from));
  for (let i: usize = 16; i < count; i += 16) v128.store(to + i, v128.load(from + i));
}

/** CRC-32C of `length` bytes at `source`, eight at a time. */
export function crc32c(source: usize, length: u32): u32 {
  // The entry of 1 is never 0 in a table that was made.
  if (load<u32>(crcTables, 4) == 0) makeCrcTables();
  let crc: u32 = 0xffffffff;
  let s = source;
  const end = source + length;
  while (s + 8 <= end) {
    const low = load<u32>(s) ^ crc;
    const high = load<u32>(s, 4);
    crc =
      crcEntry(7, low & 0xff) ^
      crcEntry(6, (low >> 8) & 0xff) ^
      crcEntry(5, (low >> 16) & 0xff) ^
      crcEntry(4, low >> 24) ^
      crcEntry(3, high & 0xff) ^
      crcEntry(2, (high >> 8) & 0xff) ^
      crcEntry(1, (high >> 16) & 0xff) ^
      crcEntry(0, high >> 24);
    s += 8;
  }
  while (s < end) crc = crcEntry(0, (crc ^ load<u8>(s++)) & 0xff) ^ (crc >> 8);
  return ~crc;
}

@inline
function crcEntry(table: u32, index: u32): u32 {
  return load<u32>(crcTables + (table << 10) + (index << 2));
}

function makeCrcTables(): void {
  for (let i: u32 = 0; i < 256; i++) {
    let crc = i;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ crcPolynomial : crc >> 1;
    store<u32>(crcTables + (i << 2), crc);
  }
  for (let table: u32 = 1; table < 8; table++) {
    for (let i: u32 = 0; i < 256; i++) {
      const before = crcEntry(table - 1, i);
      store<u32>(crcTables + (table << 10) + (i << 2), crcEntry(0, before & 0xff) ^ (before >> 8));
    }
  }
}
