/** The 64-bit FNV-1a offset basis, as two 32-bit halves. */
export const fnvBasisHigh = 0xcbf29ce4 | 0;
export const fnvBasisLow = 0x84222325 | 0;

/** FNV-1a, 64 bits. */
export function fnv1a64(bytes: Uint8Array): bigint {
  let high = fnvBasisHigh;
  let low = fnvBasisLow;
  for (const byte of bytes) {
    low ^= byte;
    high = fnvNextHigh(high, low);
    low = Math.imul(low, 0x1b3);
  }
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/**
 * The high half after multiplying by the prime 2^40 + 0x1b3; `low` already holds the new byte. The low half is
 * `Math.imul(low, 0x1b3)`. Two halves keep the hash out of BigInt where it runs once per byte of every key.
 */
export function fnvNextHigh(high: number, low: number): number {
  const carry = ((low >>> 16) * 0x1b3 + (((low & 0xffff) * 0x1b3) >>> 16)) >>> 16;
  return (Math.imul(high, 0x1b3) + carry + (low << 8)) | 0;
}

/** True when the hash is a multiple of `divisor`. Most hashes fail already at the divisor's powers of two. */
export function fnvIsMultiple(high: number, low: number, divisor: number): boolean {
  const evenPart = divisor & -divisor;
  if (divisor < 0x80000000 && (low & (evenPart - 1)) !== 0) return false;
  return fnvModulo(high, low, divisor) === 0;
}

/** The hash modulo `divisor`, which must be an integer below 2^53. */
export function fnvModulo(high: number, low: number, divisor: number): number {
  if (divisor <= 0x200000) {
    return (
      (((((high >>> 0) % divisor) * (0x100000000 % divisor)) % divisor) + ((low >>> 0) % divisor)) % divisor
    );
  }
  return Number(((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)) % BigInt(divisor));
}
