import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskedCrc32c } from './crc32c.ts';
import { snappyCompress } from './snappy.ts';
import { SnappyArea } from './snappy-area.ts';

function put(area: SnappyArea, bytes: Uint8Array): void {
  area.reserve(bytes.length);
  area.bytes.set(bytes, area.start);
}

test('the checksum is that of the library, for every length up to some hundreds', () => {
  const area = new SnappyArea();
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      put(area, bytes);
      expect(area.maskedCrc32c(bytes.length)).toBe(maskedCrc32c(bytes));
    }),
    { numRuns: 500 },
  );
});

test('checks, decodes and encodes in place, one after the other', () => {
  const area = new SnappyArea();
  const raw = Buffer.from('a block, a block, a block of some length '.repeat(100));
  const compressed = snappyCompress(raw);
  put(area, compressed);
  const length = area.decode(compressed.length, raw.length);
  expect(area.bytes.subarray(area.outputStart, area.outputStart + length).equals(raw)).toBe(true);
  put(area, raw);
  const encoded = area.encode(raw.length);
  expect(area.bytes.subarray(area.outputStart, area.outputStart + encoded).equals(compressed)).toBe(true);
  expect(area.maskedCrc32c(raw.length)).toBe(maskedCrc32c(raw));
});

test('memory that grew for something unusual is let go', () => {
  const area = new SnappyArea();
  area.reserve(5 * 1024 * 1024);
  expect(area.bytes.length).toBeGreaterThan(5 * 1024 * 1024);
  area.reserve(100);
  expect(area.bytes.length).toBeLessThan(1024 * 1024);
  put(area, Buffer.from('123456789'));
  expect(area.maskedCrc32c(9).toString(16)).toBe('c78ab0e5');
});
