import { describe, expect, it } from 'vitest';
import { AddressHash, shardOf } from './address-hash.ts';
import { freshMarks, MarkList } from './mark-list.ts';

const [partition, name] = ['gk3f7ctl8q3s73frlr8g', 'gk3f7ctl8q3s73frlr80'];

function hashOf(address: string): readonly [number, number] | undefined {
  const hash = new AddressHash();
  const bytes = Buffer.from(address);
  return hash.read(bytes, 0, bytes.length) ? [hash.high, hash.low] : undefined;
}

function listOf(marks: readonly number[]): Uint32Array<ArrayBuffer> {
  const list = new MarkList();
  for (const mark of marks) list.add(mark, 2 * mark);
  return list.numbers;
}

const marksIn = (numbers: Uint32Array): number[] => [...numbers].filter((_, index) => index % 2 === 0);
const upTo = (count: number, from = 1): number[] => Array.from({ length: count }, (_, index) => from + index);

describe('the mark of an address', () => {
  it('is that of the data, however the address is spelled and whoever signed it', () => {
    const mark = hashOf(`data/${partition}/${name}`);
    expect(mark).toBeDefined();
    expect(hashOf(`s3://bucket/repo/data/${partition}/${name}`)).toEqual(mark);
    expect(hashOf(`data/${partition}/${name},${'Z'.repeat(43)}`)).toEqual(mark);
    expect(hashOf(`data/${partition}/${name.replace('k', 'j')}`)).not.toEqual(mark);
    expect(hashOf(`data/${partition.replace('k', 'j')}/${name}`)).not.toEqual(mark);
    expect((mark?.[0] ?? 0) >>> 24).toBe(shardOf(partition));
  });

  it('is only given to names of ours', () => {
    for (const other of ['', 'a', 'data/x/y', `x${partition}/${name}`, `${partition}-${name}`]) {
      expect(hashOf(other)).toBeUndefined();
    }
  });

  it('differs from name to name', () => {
    const seen = new Set<string>();
    for (let index = 0; index < 100_000; index += 1) {
      seen.add(String(hashOf(`data/${partition}/${String(index).padStart(20, '0')}`)));
    }
    expect(seen.size).toBe(100_000);
  });
});

describe('marks that others do not have', () => {
  it('are found where keys were changed, added and removed', () => {
    const before = listOf(upTo(1000));
    expect(marksIn(freshMarks(listOf(upTo(1000)), [before]))).toEqual([]);
    const changed = upTo(1000).map((mark) => (mark % 100 === 50 ? mark + 5000 : mark));
    expect(marksIn(freshMarks(listOf(changed), [before]))).toEqual(changed.filter((mark) => mark > 1000));
    const added = [7001, ...upTo(500), 7002, 7003, ...upTo(500, 501), 7004];
    expect(marksIn(freshMarks(listOf(added), [before]))).toEqual([7001, 7002, 7003, 7004]);
    const removed = [...upTo(10), ...upTo(500, 401)];
    expect(marksIn(freshMarks(listOf(removed), [before])).length).toBeLessThanOrEqual(64);
  });

  it('are never missing, and come from every list', () => {
    expect(marksIn(freshMarks(listOf([9, 1, 2, 8]), [listOf([1]), listOf([2, 3])]))).toEqual([9, 8]);
    expect(marksIn(freshMarks(listOf([1, 2]), []))).toEqual([1, 2]);
  });
});
