import { crc32 } from 'node:zlib';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineCrcs, type CrcName } from './crc-combine.ts';
import { crc32c } from './crc32c.ts';
import { Crc64Nvme } from './crc64nvme.ts';

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

const direct: Readonly<Record<CrcName, (bytes: Uint8Array) => Buffer>> = {
  crc32: (bytes) => word(crc32(bytes)),
  crc32c: (bytes) => word(crc32c(bytes)),
  crc64nvme: (bytes) => new Crc64Nvme().update(bytes).digest(),
};

describe.each(['crc32', 'crc32c', 'crc64nvme'] as const)('combineCrcs of %s', (name) => {
  it('is the CRC of the whole, however it is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), (pieces) => {
        const combined = combineCrcs(
          name,
          pieces.map((bytes) => ({ crc: direct[name](bytes), length: bytes.length })),
        );
        expect(combined.toString('hex')).toBe(direct[name](Buffer.concat(pieces)).toString('hex'));
      }),
      { numRuns: 60 },
    );
  });

  it('knows lengths beyond 32 bits', () => {
    const empty = direct[name](Buffer.alloc(0));
    const piece = { crc: direct[name](Buffer.from('abc')), length: 6 * 1024 ** 3 };
    const twice = combineCrcs(name, [piece, { crc: empty, length: 0 }, piece]);
    expect(combineCrcs(name, [{ crc: twice, length: 2 * piece.length }, piece])).toEqual(
      combineCrcs(name, [piece, piece, piece]),
    );
  });
});
