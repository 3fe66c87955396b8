import { expect, test } from 'vitest';
import { WireReader, WireWriter, wireBytes } from './wire.ts';

test.each([0, 1, 127, 128, 255, 16_383, 16_384, 2_097_152])(
  'a message of %i bytes, inside another, has its length in front wherever the buffer ends',
  (size) => {
    const content = Buffer.alloc(size, 'x');
    for (let before = 0; before < 12; before += 1) {
      const writer = new WireWriter(8);
      writer.raw(Buffer.alloc(before, 'b'));
      writer.message(1, (outer) => {
        outer.message(2, (inner) => inner.raw(content));
        outer.string(3, 'after');
      });
      writer.string(4, 'last');
      const reader = new WireReader(writer.finish().subarray(before));
      expect(reader.varint()).toBe((1 << 3) | wireBytes);
      const outer = new WireReader(reader.bytes());
      expect(outer.varint()).toBe((2 << 3) | wireBytes);
      expect(outer.bytes().equals(content)).toBe(true);
      expect(outer.varint()).toBe((3 << 3) | wireBytes);
      expect(outer.string()).toBe('after');
      expect(outer.done).toBe(true);
      expect(reader.varint()).toBe((4 << 3) | wireBytes);
      expect(reader.string()).toBe('last');
      expect(reader.done).toBe(true);
    }
  },
);
