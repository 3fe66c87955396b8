// Takes the marks of all values of a block, as AddressHash, ValueAddress and MarkList do one by one, in AssemblyScript.
// A block that holds anything unusual is left to them. The caller leaves room before the block: a name may be looked for
// where none is.

const nameBytes: usize = 20;
const signatureBytes: usize = 44;
const slash: u8 = 0x2f;
const comma: u8 = 0x2c;
const keyTrailer: u32 = 8;
const addressTag: u8 = 10;
const sizeTag: u8 = 24;

/** What the blocks held since `begin`, and the one that is being read. */
let values: u32 = 0;
let bytes: f64 = 0;
let blockBytes: f64 = 0;
/** Where the last varint ended; 0: it is none. */
let after: usize = 0;

/** The partition that was hashed last, and what came of it. */
let partition: usize = 0;
let partitionHigh: u32 = 0;
let partitionLow: u32 = 0;

/** Where the caller's blocks may begin. */
export function heap(): usize {
  return 1024;
}

export function begin(): void {
  values = 0;
  bytes = 0;
}

export function valueCount(): u32 {
  return values;
}

export function valueBytes(): f64 {
  return bytes;
}

/** Writes the marks of the entries in [start, end) to `output`, and answers where they end; 0: something is unusual. */
export function marks(start: usize, end: usize, output: usize): usize {
  let blockValues: u32 = 0;
  blockBytes = 0;
  // The block it lay in is gone.
  partition = 0;
  let to = output;
  let at = start;
  while (at < end) {
    const shared = varint(at, end);
    if (after == 0) return 0;
    const unshared = varint(after, end);
    if (after == 0) return 0;
    const length = varint(after, end);
    if (after == 0) return 0;
    if (<u64>unshared + <u64>length > <u64>(end - after) || shared + unshared < keyTrailer) return 0;
    const value = after + unshared;
    at = value + length;
    to = mark(value, at, to);
    if (to == 0) return 0;
    blockValues += 1;
  }
  values += blockValues;
  bytes += blockBytes;
  return to;
}

/** Up to four bytes; longer ones do not occur. */
function varint(start: usize, end: usize): u32 {
  let value: u32 = 0;
  let at = start;
  for (let shift: u32 = 0; shift < 28; shift += 7) {
    if (at >= end) break;
    const byte = load<u8>(at++);
    value |= <u32>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      after = at;
      return value;
    }
  }
  after = 0;
  return 0;
}

/** The lengths of the parts are signed, so twice as large. */
function partLength(start: usize, end: usize): u32 {
  const doubled = varint(start, end);
  if ((doubled & 1) != 0) after = 0;
  return doubled >> 1;
}

function mark(start: usize, end: usize, to: usize): usize {
  const identity = partLength(start, end);
  if (after == 0 || identity > end - after) return 0;
  const length = partLength(after + identity, end);
  if (after == 0 || length > end - after) return 0;
  let at = after;
  const last = at + length;
  let address: usize = 0;
  let addressEnd: usize = 0;
  let size: f64 = 0;
  while (at < last) {
    const tag = load<u8>(at++);
    if (tag >= 0x80) return 0;
    if ((tag & 7) == 0) {
      const first = at;
      while (at < last && load<u8>(at) >= 0x80) at++;
      at++;
      if (tag == sizeTag) for (let b = at - 1; b >= first; b--) size = size * 128 + <f64>(load<u8>(b) & 0x7f);
      continue;
    }
    if ((tag & 7) != 2) return 0;
    let field: usize = load<u8>(at++);
    if (field >= 0x80) {
      const second = load<u8>(at++);
      if (second >= 0x80) return 0;
      field = (field & 0x7f) | (<usize>second << 7);
    }
    if (tag == addressTag) {
      address = at;
      addressEnd = at + field;
    }
    at += field;
  }
  if (at != last) return 0;
  blockBytes += size;
  return hash(address, addressEnd, to);
}

/** The same `to` when the address is none of ours. */
function hash(start: usize, end: usize, to: usize): usize {
  if (end - start < 2 * nameBytes + 1) return to;
  let nameEnd = end;
  if (load<u8>(end - nameBytes - 1) != slash) {
    for (let at = end - 1; at >= start && at >= end - signatureBytes; at--) {
      if (load<u8>(at) != comma) continue;
      nameEnd = at;
      break;
    }
  }
  if (nameEnd - start < 2 * nameBytes + 1) return to;
  const nameStart = nameEnd - nameBytes;
  const folder = nameStart - 1 - nameBytes;
  if (load<u8>(nameStart - 1) != slash) return to;
  if (folder > start && load<u8>(folder - 1) != slash) return to;
  if (partition == 0 || !sameName(partition, folder)) {
    high = 0x811c9dc5;
    low = 0x9e3779b9;
    mix(folder);
    partition = folder;
    partitionHigh = high;
    partitionLow = low;
  } else {
    high = partitionHigh;
    low = partitionLow;
  }
  const shard = finish(high ^ (low >>> 7)) >>> 24;
  mix(nameStart);
  let lowBits = finish(low ^ (high >>> 5)) & 0xfffffffe;
  const highBits = (shard << 24) | (finish(high) >>> 8);
  if (highBits == 0 && lowBits == 0) lowBits = 2;
  store<u32>(to, highBits);
  store<u32>(to + 4, lowBits);
  return to + 8;
}

let high: u32 = 0;
let low: u32 = 0;

function mix(start: usize): void {
  let a = high;
  let b = low;
  for (let at = start; at < start + nameBytes; at += 4) {
    const word = load<u32>(at);
    a = (a ^ word) * 0xcc9e2d51;
    a = (a ^ (a >>> 15)) * 0x1b873593;
    b = (b + word) * 0x85ebca6b;
    b = (b ^ (b >>> 13)) * 0xc2b2ae35;
  }
  high = a;
  low = b;
}

function finish(value: u32): u32 {
  let mixed = value;
  mixed = (mixed ^ (mixed >>> 16)) * 0x85ebca6b;
  mixed = (mixed ^ (mixed >>> 13)) * 0xc2b2ae35;
  return mixed ^ (mixed >>> 16);
}

function sameName(left: usize, right: usize): bool {
  return (
    load<u64>(left) == load<u64>(right) &&
    load<u64>(left + 8) == load<u64>(right + 8) &&
    load<u32>(left + 16) == load<u32>(right + 16)
  );
}
