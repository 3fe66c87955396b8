/** A reflected CRC whose start value and final xor are all ones. */
export interface CrcKind {
  readonly bits: 32 | 64;
  /** Reflected. */
  readonly polynomial: bigint;
}

export const crcKinds = {
  crc32: { bits: 32, polynomial: 0xedb88320n },
  crc32c: { bits: 32, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64, polynomial: 0x9a6c9329ac4bc9b5n },
} as const satisfies Record<string, CrcKind>;

export type CrcName = keyof typeof crcKinds;

export interface CrcPiece {
  /** Big-endian. */
  readonly crc: Buffer;
  readonly length: number;
}

/** The CRC of pieces one after the other, from the CRC and the length of each: the bytes are not needed again. */
export function combineCrcs(name: CrcName, pieces: Iterable<CrcPiece>): Buffer {
  const kind = crcKinds[name];
  const shifts = new Map<number, bigint>();
  let crc = 0n;
  for (const piece of pieces) {
    // Parts are mostly of one length.
    let shift = shifts.get(piece.length);
    if (shift === undefined) shifts.set(piece.length, (shift = shiftBy(kind, piece.length)));
    crc = multiply(kind, crc, shift) ^ BigInt(`0x${piece.crc.toString('hex')}`);
  }
  return Buffer.from(crc.toString(16).padStart(kind.bits / 4, '0'), 'hex');
}

/** What a CRC is multiplied with when `length` bytes come after it: x^(8·length) modulo the polynomial. */
function shiftBy(kind: CrcKind, length: number): bigint {
  const one = 1n << BigInt(kind.bits - 1);
  let power = one >> 8n;
  let result = one;
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(kind, result, power);
    power = multiply(kind, power, power);
  }
  return result;
}

/** Product of two polynomials modulo the kind's; the highest bit is x^0. */
function multiply({ bits, polynomial }: CrcKind, left: bigint, right: bigint): bigint {
  let product = 0n;
  let shifted = right;
  for (let bit = BigInt(bits) - 1n; bit >= 0n; bit--) {
    if (((left >> bit) & 1n) === 1n) product ^= shifted;
    shifted = (shifted & 1n) === 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
  }
  return product;
}
