import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareBytes, keySuccessor, prefixSuccessor, startsWithBytes } from './byte-order.ts';
import { crc32c, maskedCrc32c } from './crc32c.ts';
import { uvarintLength, VarintReader, writeSvarint, writeUvarint } from './varint.ts';

describe('varint', () => {
  test('round trip of every size, with its length', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const bytes = Buffer.alloc(10);
        const end = writeUvarint(bytes, 0, value);
        expect(end).toBe(uvarintLength(value));
        expect(new VarintReader(bytes, 0, end).uvarint()).toBe(value);
      }),
    );
    for (const value of [0, 127, 128, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 35, 2 ** 53 - 1]) {
      const bytes = Buffer.alloc(10);
      const end = writeUvarint(bytes, 0, value);
      expect([end, new VarintReader(bytes, 0, end).uvarint()]).toEqual([uvarintLength(value), value]);
    }
  });

  test('signed numbers zig-zag', () => {
    const bytes = Buffer.alloc(10);
    expect([bytes.subarray(0, writeSvarint(bytes, 0, 32)).toString('hex')]).toEqual(['40']);
    expect(bytes.subarray(0, writeSvarint(bytes, 0, 64)).toString('hex')).toBe('8001');
    expect(bytes.subarray(0, writeSvarint(bytes, 0, -1)).toString('hex')).toBe('01');
    fc.assert(
      fc.property(fc.integer(), (value) => {
        writeSvarint(bytes, 0, value);
        expect(new VarintReader(bytes).svarint()).toBe(value);
      }),
    );
  });

  test('a cut or oversized number is NaN', () => {
    expect(new VarintReader(Buffer.from([0x80, 0x80])).uvarint()).toBeNaN();
    expect(new VarintReader(Buffer.alloc(20, 0xff)).uvarint()).toBeNaN();
    expect(new VarintReader(Buffer.alloc(0)).svarint()).toBeNaN();
  });
});

describe('byte order', () => {
  test('agrees with Buffer.compare', () => {
    const bytes = fc.uint8Array({ maxLength: 6 });
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(Math.sign(compareBytes(a, b))).toBe(Buffer.compare(a, b));
      }),
    );
  });

  test('the successor of a prefix is above all its keys and below every other greater key', () => {
    const bytes = fc.uint8Array({ maxLength: 4 });
    fc.assert(
      fc.property(bytes, bytes, (prefix, key) => {
        const successor = prefixSuccessor(prefix);
        const above = successor !== undefined && Buffer.compare(key, successor) >= 0;
        const expected = Buffer.compare(key, prefix) > 0 && !startsWithBytes(key, prefix);
        expect(above).toBe(expected);
      }),
    );
    expect(prefixSuccessor(Buffer.from([0xff, 0xff]))).toBeUndefined();
    expect(keySuccessor(Buffer.from('a'))).toEqual(Buffer.from('a\0'));
  });
});

describe('hashes', () => {
  test('crc-32c, plain and masked', () => {
    expect(crc32c(Buffer.from('123456789')).toString(16)).toBe('e3069283');
    expect(maskedCrc32c(Buffer.from('123456789')).toString(16)).toBe('c78ab0e5');
  });
});
