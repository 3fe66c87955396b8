// The inner loop of a table writer, in AssemblyScript: records become entries of the data block being filled and
// input of the table's hash. One instance serves one writer; the caller flushes blocks and passes hash input on.

/** FNV-1a states after each of the first bytes of the last key: sorted keys share prefixes, so most are reused. */
const fnvStates: usize = 1024;
const maxFnvStates: u32 = 4096;
const fnvBasis: u64 = 0xcbf29ce484222325;
const fnvPrime: u64 = 0x100000001b3;

/** Restart offsets of the block being filled. */
const restartsAt: usize = 40960;
const hashAt: usize = 65536;
/** Hash input is passed on in pieces of this size; only a single larger record makes a larger piece. */
const pieceSize: u32 = 256 * 1024;
/** Copies go sixteen bytes at a time. */
const slack: u32 = 64;
/** The two lengths in decimal and the two separators of one record. */
const recordExtra: u32 = 40;
/** An open block is below its target size plus one record; entries add three lengths and a trailer. */
const blockExtra: u32 = 8192;

const targetBlockSize: u32 = 4096;
const blockSizeThreshold: u32 = 3687;
const restartInterval: u32 = 16;
const trailerLength: u32 = 8;
const recordTrailer: u64 = 1;

/** Everything was added. */
const done: i32 = 0;
/** The record was added, and the table may have to end with it. */
const due: i32 = 1;
/** The block must be flushed before the record is added. */
const mustCut: i32 = 2;
/** Hash input must be passed on before the record is added. */
const mustPass: i32 = 3;
/** The key is not above the last one. */
const disordered: i32 = 4;
/** The entry is unreadable, or not as this writer would have it; nothing of it was added. */
const unusual: i32 = 5;

/** The largest record, and the largest block body, there is room for. */
let room: u32 = 0;
let blockAt: usize = 0;
let stageAt: usize = 0;
let bodyAt: usize = 0;

let blockLength: u32 = 0;
let blockEntries: u32 = 0;
let restarts: u32 = 0;

/** Hash input not passed on yet. The last key always lies whole in memory, before its end. */
let hashStart: usize = hashAt;
let hashEnd: usize = hashAt;
let lastKey: usize = hashAt;
let lastLength: u32 = 0;
let lastHash: u64 = fnvBasis;

/** The key that waits while a block is cut. */
let nextKey: usize = 0;
let nextLength: u32 = 0;

/** Of the block body being added. */
let position: usize = 0;
let bodyEnd: usize = 0;

let divisor: u64 = 0;
let sizeLimit: u32 = u32.MAX_VALUE;

let count: u64 = 0;
let rawKeySize: u64 = 0;
let rawValueSize: u64 = 0;

/** Makes room for records and bodies of `size` bytes; what is there stays. */
export function reserve(size: u32): void {
  const oldBlock = blockAt;
  room = size;
  blockAt = hashAt + pieceSize + 2 * size + slack;
  stageAt = blockAt + blockExtra + size + slack;
  bodyAt = stageAt + size + slack;
  const missing = <i32>(bodyAt + size + slack) - (memory.size() << 16);
  if (missing > 0) memory.grow((missing + 0xffff) >> 16);
  if (blockLength > 0) memory.copy(blockAt, oldBlock, blockLength);
}

/** Starts a new table. */
export function reset(): void {
  startBlock();
  hashStart = hashAt;
  hashEnd = hashAt;
  lastKey = hashAt;
  lastLength = 0;
  lastHash = fnvBasis;
  store<u64>(fnvStates, fnvBasis);
  divisor = 0;
  sizeLimit = u32.MAX_VALUE;
  count = 0;
  rawKeySize = 0;
  rawValueSize = 0;
}

/** A record is `due` when its key's hash is a multiple of this; 0 for never. */
export function setDivisor(value: f64): void {
  divisor = <u64>value;
}

/** A record is `due` when the open block reaches this size. */
export function setSizeLimit(value: u32): void {
  sizeLimit = value;
}

/** Adds the staged record: the key, then the value. */
export function add(keyLength: u32, valueLength: u32): i32 {
  if (needsPass(keyLength + valueLength)) return mustPass;
  const key = writeDecimal(hashEnd, keyLength);
  copyBytes(stageAt, key, keyLength);
  return append(key, keyLength, 0, stageAt + keyLength, valueLength);
}

/** What is at `body()` is the next to be added: entries, or packed records, of `length` bytes. */
export function openBody(length: u32): void {
  position = bodyAt;
  bodyEnd = bodyAt + length;
}

/** Adds the records of the open body, from the one that could not be added before. */
export function addBody(): i32 {
  while (position < bodyEnd) {
    let at = position;
    const shared = readVarint(at);
    at = varintEnd;
    const unshared = readVarint(at);
    at = varintEnd;
    const valueLength = readVarint(at);
    at = varintEnd;
    // A length that is too long reads as the greatest number.
    if (at > bodyEnd || unshared < trailerLength) return unusual;
    if (<u64>unshared + <u64>valueLength > <u64>(bodyEnd - at)) return unusual;
    if (shared > lastLength || (shared > 0 && position == bodyAt)) return unusual;
    const rest = unshared - trailerLength;
    const keyLength = shared + rest;
    if (keyLength + valueLength > room) return unusual;
    const value = at + unshared;
    if (load<u64>(value - trailerLength) != recordTrailer) return unusual;
    if (needsPass(keyLength + valueLength)) return mustPass;
    const key = writeDecimal(hashEnd, keyLength);
    copyBytes(lastKey, key, shared);
    copyBytes(at, key + shared, rest);
    const status = append(key, keyLength, shared, value, valueLength);
    if (status > due) return status;
    position = value + valueLength;
    if (status == due) return due;
  }
  return done;
}

/**
 * Adds the records of the open body when it holds packed ones: key length and value length (four bytes each), key,
 * value. Stops before one without a value, and before one that is not there whole.
 */
export function addPacked(): i32 {
  while (bodyEnd - position > 8) {
    const keyLength = load<u32>(position);
    const valueLength = load<u32>(position, 4);
    const key = position + 8;
    if (<u64>keyLength + <u64>valueLength > <u64>(bodyEnd - key)) return done;
    if (valueLength == 0) return unusual;
    if (needsPass(keyLength + valueLength)) return mustPass;
    const to = writeDecimal(hashEnd, keyLength);
    copyBytes(key, to, keyLength);
    const status = append(to, keyLength, 0, key + keyLength, valueLength);
    if (status > due) return status;
    position = key + keyLength + valueLength;
    if (status == due) return due;
  }
  return done;
}

/** Whether the block being filled is the open body, of `length` bytes with its restarts. */
export function isBody(length: u32): bool {
  if (finishBlock() != length) return false;
  let i: u32 = 0;
  for (; i + 8 <= length; i += 8) if (load<u64>(blockAt + i) != load<u64>(bodyAt + i)) return false;
  for (; i < length; i++) if (load<u8>(blockAt + i) != load<u8>(bodyAt + i)) return false;
  return true;
}

/** Makes the body the block being filled. */
export function takeBody(entriesLength: u32, entries: u32, restartCount: u32): void {
  memory.copy(blockAt, bodyAt, entriesLength);
  memory.copy(restartsAt, bodyAt + entriesLength, 4 * restartCount);
  blockLength = entriesLength;
  blockEntries = entries;
  restarts = restartCount;
}

/** Goes on after records that the hash has taken already; the last of their keys is staged. */
export function resume(keyLength: u32, records: f64, keyBytes: f64, valueBytes: f64): void {
  memory.copy(hashAt, stageAt, keyLength);
  lastKey = hashAt;
  lastLength = keyLength;
  hashStart = hashAt + keyLength;
  hashEnd = hashStart;
  hashKey(0);
  count = <u64>records;
  rawKeySize = <u64>keyBytes;
  rawValueSize = <u64>valueBytes;
}

/** Completes the block being filled with its restarts, and answers its length; it may still grow. */
export function finishBlock(): u32 {
  const at = blockAt + blockLength;
  if (restarts == 0) {
    store<u64>(at, 0x100000000);
    return blockLength + 8;
  }
  memory.copy(at, restartsAt, 4 * restarts);
  store<u32>(at + 4 * restarts, restarts);
  return blockLength + 4 * restarts + 4;
}

export function startBlock(): void {
  blockLength = 0;
  blockEntries = 0;
  restarts = 0;
}

/** The hash input was passed on. */
export function passed(): void {
  memory.copy(hashAt, lastKey, lastLength);
  lastKey = hashAt;
  hashStart = hashAt + lastLength;
  hashEnd = hashStart;
}

export function lastKeyIsMultiple(value: f64): bool {
  const whole = <u64>value;
  return whole != 0 && lastHash % whole == 0;
}

export function stage(): usize {
  return stageAt;
}

export function body(): usize {
  return bodyAt;
}

export function block(): usize {
  return blockAt;
}

/** Length of the block being filled, once finished; 4 while it is empty. */
export function estimate(): u32 {
  return blockLength + 4 * restarts + 4;
}

export function entries(): u32 {
  return blockEntries;
}

/** How many bytes of the open body's entries are added. */
export function bodyPosition(): u32 {
  return <u32>(position - bodyAt);
}

export function inputStart(): usize {
  return hashStart;
}

export function inputEnd(): usize {
  return hashEnd;
}

export function lastKeyStart(): usize {
  return lastKey;
}

export function lastKeyLength(): u32 {
  return lastLength;
}

export function nextKeyStart(): usize {
  return nextKey;
}

export function nextKeyLength(): u32 {
  return nextLength;
}

export function recordCount(): f64 {
  return <f64>count;
}

export function keyBytes(): f64 {
  return <f64>rawKeySize;
}

export function valueBytes(): f64 {
  return <f64>rawValueSize;
}

/** Adds a record whose key lies where its hash input wants it, with at least `known` bytes of the last key's. */
function append(key: usize, keyLength: u32, known: u32, value: usize, valueLength: u32): i32 {
  const shorter = min(lastLength, keyLength);
  const common = commonLength(lastKey, key, known, shorter);
  if (count > 0) {
    const ascends =
      common == shorter ? keyLength > lastLength : load<u8>(key + common) > load<u8>(lastKey + common);
    if (!ascends) return disordered;
  }
  const storedLength = keyLength + trailerLength;
  const isRestart = blockEntries % restartInterval == 0;
  if (blockEntries > 0) {
    const size = estimate();
    if (size > blockSizeThreshold) {
      const grown =
        size +
        storedLength +
        valueLength +
        (isRestart ? 4 : 0) +
        4 +
        varintLength(storedLength) +
        varintLength(valueLength);
      if (size >= targetBlockSize || grown > targetBlockSize) {
        nextKey = key;
        nextLength = keyLength;
        return mustCut;
      }
    }
  }

  let shared: u32 = 0;
  if (isRestart) {
    store<u32>(restartsAt + 4 * restarts, blockLength);
    restarts++;
  } else {
    shared = common;
    // The previous stored key goes on with its trailer, which a longer key may share.
    if (common == lastLength) {
      while (
        shared < keyLength &&
        shared - lastLength < trailerLength &&
        load<u8>(key + shared) == <u8>(recordTrailer >> (<u64>(shared - lastLength) << 3))
      ) {
        shared++;
      }
    }
  }

  const unshared = keyLength - shared;
  let at = blockAt + blockLength;
  at = writeVarint(at, shared);
  at = writeVarint(at, unshared + trailerLength);
  at = writeVarint(at, valueLength);
  copyBytes(key + shared, at, unshared);
  at += unshared;
  store<u64>(at, recordTrailer);
  at += trailerLength;
  copyBytes(value, at, valueLength);
  blockLength = <u32>(at + valueLength - blockAt);
  blockEntries++;

  let to = key + keyLength;
  store<u8>(to, 0x7c);
  to = writeDecimal(to + 1, valueLength);
  copyBytes(value, to, valueLength);
  to += valueLength;
  store<u8>(to, 0x7c);
  hashEnd = to + 1;
  lastKey = key;
  lastLength = keyLength;
  hashKey(common);

  count++;
  rawKeySize += storedLength;
  rawValueSize += valueLength;
  if (estimate() >= sizeLimit) return due;
  // Most hashes fail already at the divisor's powers of two.
  if (divisor == 0 || (lastHash & ((divisor & (0 - divisor)) - 1)) != 0) return done;
  return lastHash % divisor == 0 ? due : done;
}

@inline
function needsPass(recordLength: u32): bool {
  return hashEnd > hashStart && <u32>(hashEnd - hashStart) + recordLength + recordExtra > pieceSize;
}

/** Brings the FNV states up to the last key, whose first `from` bytes they cover. */
@inline
function hashKey(from: u32): void {
  const stored = min(lastLength, maxFnvStates);
  let i = min(from, maxFnvStates);
  let hash = load<u64>(fnvStates + (i << 3));
  for (; i < stored; i++) {
    hash = (hash ^ load<u8>(lastKey + i)) * fnvPrime;
    store<u64>(fnvStates + (i << 3), hash, 8);
  }
  for (; i < lastLength; i++) hash = (hash ^ load<u8>(lastKey + i)) * fnvPrime;
  lastHash = hash;
}

@inline
function commonLength(a: usize, b: usize, from: u32, end: u32): u32 {
  let i = from;
  for (; i + 8 <= end; i += 8) {
    const difference = load<u64>(a + i) ^ load<u64>(b + i);
    if (difference != 0) return i + <u32>(ctz(difference) >> 3);
  }
  while (i < end && load<u8>(a + i) == load<u8>(b + i)) i++;
  return i;
}

/** Up to fifteen bytes more than `length` are written; whatever is written next covers them. */
@inline
function copyBytes(from: usize, to: usize, length: u32): void {
  if (length > 512) {
    memory.copy(to, from, length);
    return;
  }
  for (let i: u32 = 0; i < length; i += 16) v128.store(to + i, v128.load(from + i));
}

let varintEnd: usize = 0;

@inline
function readVarint(at: usize): u32 {
  const first: u32 = load<u8>(at);
  if (first < 0x80) {
    varintEnd = at + 1;
    return first;
  }
  let value: u32 = first & 0x7f;
  for (let i: u32 = 1; i < 4; i++) {
    const byte: u32 = load<u8>(at + i);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      varintEnd = at + i + 1;
      return value;
    }
  }
  varintEnd = at;
  return u32.MAX_VALUE;
}

@inline
function varintLength(value: u32): u32 {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

@inline
function writeVarint(at: usize, value: u32): usize {
  while (value >= 0x80) {
    store<u8>(at++, value | 0x80);
    value >>= 7;
  }
  store<u8>(at, value);
  return at + 1;
}

@inline
function writeDecimal(at: usize, value: u32): usize {
  if (value < 10) {
    store<u8>(at, 0x30 + value);
    return at + 1;
  }
  let digits: u32 = 2;
  for (let power: u64 = 100; power <= value; power *= 10) digits++;
  let rest = value;
  for (let i: i32 = <i32>digits - 1; i >= 0; i--) {
    const quotient = rest / 10;
    store<u8>(at + i, 0x30 + rest - quotient * 10);
    rest = quotient;
  }
  return at + digits;
}
