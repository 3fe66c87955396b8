import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { compressSync } from 'snappy';
import { describe, expect, test } from 'vitest';
import { snappyCompress, snappyDecompress } from './snappy.ts';
import { snappySource } from './snappy-wasm.ts';

interface Vector {
  raw: string;
  compressed: string;
}

const vectors = readFileSync(new URL('../fixtures/snappy.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Vector);

describe('snappy', () => {
  test('was compiled from the source beside it', () => {
    const source = readFileSync(new URL('../wasm/snappy.as', import.meta.url));
    expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(snappySource);
  });

  test('reproduces every vector of the reference encoder and reads it back', () => {
    expect(vectors.length).toBeGreaterThan(100);
    for (const { raw, compressed } of vectors) {
      const input = Buffer.from(raw, 'hex');
      expect(snappyCompress(input).toString('hex')).toBe(compressed);
      expect(snappyDecompress(Buffer.from(compressed, 'hex')).equals(input)).toBe(true);
    }
  });

  test('the two short examples of the format', () => {
    expect(snappyCompress(Buffer.alloc(32, 'a')).toString('hex')).toBe('2000617a0100');
    expect(snappyCompress(Buffer.from('abcdefgh'.repeat(4))).toString('hex')).toBe(
      '201c61626364656667685e0800',
    );
  });

  test('equals another encoder of the same algorithm on repetitive inputs of all sizes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 24 }), fc.nat(40)), { maxLength: 60 }),
        (runs) => {
          const input = Buffer.concat(runs.flatMap(([run, times]) => Array<Uint8Array>(times).fill(run)));
          const compressed = snappyCompress(input);
          expect(compressed.equals(compressSync(input))).toBe(true);
          expect(snappyDecompress(compressed).equals(input)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('crosses the 64 KiB chunk border', () => {
    const input = Buffer.alloc(200_000);
    for (let i = 0; i < input.length; i++) input[i] = (i * i * 31) >> (i & 15);
    expect(snappyDecompress(snappyCompress(input)).equals(input)).toBe(true);
    expect(snappyCompress(input).equals(compressSync(input))).toBe(true);
  });

  test('reads every kind of tag', () => {
    const literal = Buffer.alloc(70_000, 1).map((_, i) => (i * 7919) >> 5);
    for (const extra of [3, 4]) {
      const header = Buffer.from([0xf0, 0xa2, 0x04, (59 + extra) << 2]);
      const length = Buffer.alloc(extra);
      length.writeUIntLE(literal.length - 1, 0, extra);
      const stream = Buffer.concat([header, length, literal]);
      expect(snappyDecompress(stream).equals(literal)).toBe(true);
    }
    const copy4 = Buffer.from([8, 0x0c, 1, 2, 3, 4, 0x0f, 4, 0, 0, 0]);
    expect([...snappyDecompress(copy4)]).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
  });

  test.each([
    ['an unreadable length', [0xff]],
    ['a hostile length', [0xff, 0xff, 0xff, 0xff, 0x07, 0]],
    ['a copy before the start', [8, 0x0c, 1, 2, 3, 4, 0x0e, 5, 0]],
    ['a zero offset', [8, 0x0c, 1, 2, 3, 4, 0x0e, 0, 0]],
    ['more data than announced', [2, 0x0c, 1, 2, 3, 4]],
    ['less data than announced', [9, 0x0c, 1, 2, 3, 4]],
    ['a cut literal', [4, 0x0c, 1, 2]],
    ['a cut copy', [8, 0x0c, 1, 2, 3, 4, 0x0e, 4]],
  ])('refuses %s', (_, bytes) => {
    expect(() => snappyDecompress(Buffer.from(bytes))).toThrow(/^snappy: /);
  });
});
