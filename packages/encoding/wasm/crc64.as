// CRC-64/NVME, sixteen bytes a step, in AssemblyScript. The caller lays out memory behind `heap`.

const polynomial: u64 = 0x9a6c9329ac4bc9b5;
const tables: usize = 1024;
const slices: usize = 16;

/** Where the caller's memory begins. */
export function heap(): usize {
  return 65536;
}

/** Makes the tables; to be called once. */
export function prepare(): void {
  for (let byte: u64 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) == 1 ? (crc >> 1) ^ polynomial : crc >> 1;
    store<u64>(tables + <usize>byte * 8, crc);
  }
  for (let slice: usize = 1; slice < slices; slice++) {
    for (let byte: usize = 0; byte < 256; byte++) {
      const before = load<u64>(tables + ((slice - 1) * 256 + byte) * 8);
      store<u64>(tables + (slice * 256 + byte) * 8, (before >> 8) ^ entry(0, before));
    }
  }
}

@inline
function entry(slice: usize, word: u64): u64 {
  return load<u64>(tables + slice * 2048 + ((<usize>word & 0xff) << 3));
}

/** Continues `state` with `length` bytes at `source`. */
export function update(state: u64, source: usize, length: usize): u64 {
  let crc = state;
  let at = source;
  const end = source + length;
  for (const last = end - 16; length >= 16 && at <= last; at += 16) {
    const low = crc ^ load<u64>(at);
    const high = load<u64>(at + 8);
    crc =
      entry(15, low) ^
      entry(14, low >> 8) ^
      entry(13, low >> 16) ^
      entry(12, low >> 24) ^
      entry(11, low >> 32) ^
      entry(10, low >> 40) ^
      entry(9, low >> 48) ^
      entry(8, low >> 56) ^
      entry(7, high) ^
      entry(6, high >> 8) ^
      entry(5, high >> 16) ^
      entry(4, high >> 24) ^
      entry(3, high >> 32) ^
      entry(2, high >> 40) ^
      entry(1, high >> 48) ^
      entry(0, high >> 56);
  }
  for (; at < end; at++) crc = (crc >> 8) ^ entry(0, crc ^ load<u8>(at));
  return crc;
}
