// Writes listed objects as JSON, in AssemblyScript. Texts are copied sixteen bytes at a time, so everything may read
// and write up to sixteen bytes past an end; the caller leaves that room.

/** Fixed texts as (start, length), both 32 bits. */
const parts: usize = 0;
/** One byte for each byte that may stand in the name of an address as it is. */
const plain: usize = 256;
const quote: u8 = 0x22;
const backslash: u8 = 0x5c;
const firstPrintable: u8 = 0x20;
const slash: u8 = 0x2f;
const dot: u8 = 0x2e;

/** How the folder at [folder, folderEnd) of an address is shown. */
let folder: usize = 0;
let folderEnd: usize = 0;
let shown: usize = 0;
let shownLength: usize = 0;

/** Where the caller's texts begin. */
export function heap(): usize {
  return 1024;
}

export function setFolder(start: usize, end: usize, text: usize, length: usize): void {
  folder = start;
  folderEnd = end;
  shown = text;
  shownLength = length;
}

/**
 * Writes an object at `at` and answers where it ends. Answers 0, and what it wrote does not count, when a text needs
 * escapes or the address is not a plain name in the folder that is set.
 */
export function object(
  at: usize,
  key: usize,
  keyEnd: usize,
  address: usize,
  addressEnd: usize,
  etag: usize,
  etagEnd: usize,
  type: usize,
  typeEnd: usize,
  size: f64,
  time: f64,
): usize {
  const name = nameStart(address, addressEnd);
  if (name == 0 || !sameFolder(address, name)) return 0;
  let to = text(key, keyEnd, part(0, at));
  if (to == 0) return 0;
  to = copy(shown, shown + shownLength, part(1, to));
  to = copy(name, addressEnd, to);
  to = text(etag, etagEnd, part(2, to));
  if (to == 0) return 0;
  to = integer(<u64>size, part(3, to));
  to = integer(<u64>time, part(4, to));
  if (typeEnd == type) return part(6, to);
  to = text(type, typeEnd, part(5, to));
  return to == 0 ? 0 : part(7, to);
}

function part(index: usize, to: usize): usize {
  const start = <usize>load<u32>(parts + index * 8);
  return copy(start, start + <usize>load<u32>(parts + index * 8 + 4), to);
}

// @ts-ignore: decorator
@inline
function copy(from: usize, end: usize, to: usize): usize {
  const last = to + (end - from);
  while (from < end) {
    v128.store(to, v128.load(from));
    from += 16;
    to += 16;
  }
  return last;
}

/** As `copy`; 0 when a byte must not stand in a JSON string as it is. */
function text(from: usize, end: usize, to: usize): usize {
  const last = to + (end - from);
  while (from < end) {
    const bytes = v128.load(from);
    const odd = v128.or(
      v128.or(i8x16.eq(bytes, i8x16.splat(quote)), i8x16.eq(bytes, i8x16.splat(backslash))),
      i8x16.lt_u(bytes, i8x16.splat(firstPrintable)),
    );
    if (v128.any_true(odd)) {
      const left = end - from;
      const mask = i8x16.bitmask(odd);
      if (left >= 16 || (mask & ((1 << <i32>left) - 1)) != 0) return 0;
    }
    v128.store(to, bytes);
    from += 16;
    to += 16;
  }
  return last;
}

/** Where the last element of an address begins; 0 unless all its bytes are plain and it is no step in a path. */
function nameStart(start: usize, end: usize): usize {
  let at = end;
  while (at > start) {
    const byte = load<u8>(at - 1);
    if (byte == slash) break;
    if (load<u8>(plain + byte) == 0) return 0;
    at--;
  }
  return at < end && load<u8>(at) != dot ? at : 0;
}

function sameFolder(start: usize, end: usize): bool {
  const length = end - start;
  if (length != folderEnd - folder) return false;
  let at: usize = 0;
  for (; at + 16 <= length; at += 16) {
    if (!i8x16.all_true(i8x16.eq(v128.load(start + at), v128.load(folder + at)))) return false;
  }
  for (; at < length; at++) {
    if (load<u8>(start + at) != load<u8>(folder + at)) return false;
  }
  return true;
}

function integer(value: u64, to: usize): usize {
  let length: usize = 1;
  for (let rest = value; rest >= 10; rest /= 10) length++;
  let at = to + length;
  do {
    at--;
    store<u8>(at, 0x30 + <u8>(value % 10));
    value /= 10;
  } while (value != 0);
  return to + length;
}
