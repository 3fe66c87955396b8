import { expect, test } from 'vitest';
import { BlockCache, CachedBlocks } from './block-cache.ts';

const length = 4000;
const capacity = 1024 * 1024;

function filled(): { cache: BlockCache; blocks: CachedBlocks; kept: number[] } {
  const cache = new BlockCache(capacity);
  const blocks = new CachedBlocks(10_000);
  for (let number = 0; number < 1000; number++) add(cache, blocks, number);
  return { cache, blocks, kept: keptOf(blocks) };
}

function add(cache: BlockCache, blocks: CachedBlocks, number: number): void {
  cache.add(blocks, number, Buffer.alloc(length, number), 0, length);
}

function keptOf(blocks: CachedBlocks): number[] {
  return blocks.slabs.flatMap((slab, number) => (slab === undefined ? [] : [number]));
}

test('while there is room, every block is kept', () => {
  const { kept } = filled();
  expect(kept.length).toBeGreaterThan(150);
  expect(kept).toEqual(Array.from(kept.keys()));
});

test('a full cache keeps what it has when others are asked for once', () => {
  const { cache, blocks, kept } = filled();
  const other = new CachedBlocks(10_000);
  for (let number = 0; number < 10_000; number++) add(cache, other, number);
  expect(keptOf(blocks)).toEqual(kept);
  expect(keptOf(other)).toEqual([]);
});

test('a full cache takes what is asked for again, and stays within its bytes', () => {
  const { cache, blocks, kept } = filled();
  const other = new CachedBlocks(10_000);
  for (let number = 0; number < 5000; number++) {
    add(cache, other, number);
    add(cache, other, number);
    expect(other.slabs[number]).toBeDefined();
    expect(cache.size).toBeLessThanOrEqual(capacity);
  }
  expect(keptOf(other).length).toBeGreaterThan(150);
  expect(keptOf(blocks).length).toBeLessThan(kept.length);
});

test('a block of another table with the same number is another block', () => {
  const { cache } = filled();
  const [one, other] = [new CachedBlocks(10), new CachedBlocks(10)];
  add(cache, one, 3);
  add(cache, other, 3);
  expect([keptOf(one), keptOf(other)]).toEqual([[], []]);
});
