import { crc32c as castagnoli } from '@node-rs/crc32';

/** CRC-32C (Castagnoli). `state` continues an earlier call. */
export function crc32c(bytes: Uint8Array, state?: number): number {
  return castagnoli(bytes, state);
}

/** The masked form stored in tables, so that a checksum of bytes that hold checksums stays strong. */
export function maskedCrc32c(bytes: Uint8Array): number {
  return maskCrc32c(castagnoli(bytes));
}

export function maskCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
