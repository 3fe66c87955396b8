// CRC-64/NVME: reflected polynomial 0x9A6C9329AC4BC9B5, init and final xor all ones. Eight bytes a step; 64-bit
// values are kept as two 32-bit halves because BigInt arithmetic is a hundred times slower.
const polynomialHigh = 0x9a6c9329 | 0;
const polynomialLow = 0xac4bc9b5 | 0;
const tableHigh = new Int32Array(8 * 256);
const tableLow = new Int32Array(8 * 256);

for (let byte = 0; byte < 256; byte++) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit++) {
    const carry = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (carry === 1) {
      high ^= polynomialHigh;
      low ^= polynomialLow;
    }
  }
  tableHigh[byte] = high;
  tableLow[byte] = low;
}
for (let slice = 1; slice < 8; slice++) {
  for (let byte = 0; byte < 256; byte++) {
    const previous = (slice - 1) * 256 + byte;
    const high = tableHigh[previous] as number;
    const low = tableLow[previous] as number;
    const index = low & 0xff;
    tableHigh[slice * 256 + byte] = (high >>> 8) ^ (tableHigh[index] as number);
    tableLow[slice * 256 + byte] = ((low >>> 8) | (high << 24)) ^ (tableLow[index] as number);
  }
}

/** Incremental CRC-64/NVME, the checksum behind `x-amz-checksum-crc64nvme`. */
export class Crc64Nvme {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): this {
    let high = this.#high;
    let low = this.#low;
    let i = 0;
    for (const end = bytes.length - 7; i < end; i += 8) {
      low ^=
        (bytes[i] as number) |
        ((bytes[i + 1] as number) << 8) |
        ((bytes[i + 2] as number) << 16) |
        ((bytes[i + 3] as number) << 24);
      high ^=
        (bytes[i + 4] as number) |
        ((bytes[i + 5] as number) << 8) |
        ((bytes[i + 6] as number) << 16) |
        ((bytes[i + 7] as number) << 24);
      const a = 1792 + (low & 0xff);
      const b = 1536 + ((low >>> 8) & 0xff);
      const c = 1280 + ((low >>> 16) & 0xff);
      const d = 1024 + (low >>> 24);
      const e = 768 + (high & 0xff);
      const f = 512 + ((high >>> 8) & 0xff);
      const g = 256 + ((high >>> 16) & 0xff);
      const h = high >>> 24;
      high =
        (tableHigh[a] as number) ^
        (tableHigh[b] as number) ^
        (tableHigh[c] as number) ^
        (tableHigh[d] as number) ^
        (tableHigh[e] as number) ^
        (tableHigh[f] as number) ^
        (tableHigh[g] as number) ^
        (tableHigh[h] as number);
      low =
        (tableLow[a] as number) ^
        (tableLow[b] as number) ^
        (tableLow[c] as number) ^
        (tableLow[d] as number) ^
        (tableLow[e] as number) ^
        (tableLow[f] as number) ^
        (tableLow[g] as number) ^
        (tableLow[h] as number);
    }
    for (; i < bytes.length; i++) {
      const index = (low ^ (bytes[i] as number)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (tableLow[index] as number);
      high = (high >>> 8) ^ (tableHigh[index] as number);
    }
    this.#high = high;
    this.#low = low;
    return this;
  }

  /** The eight bytes in network order. */
  digest(): Buffer {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeInt32BE(~this.#high, 0);
    bytes.writeInt32BE(~this.#low, 4);
    return bytes;
  }
}
