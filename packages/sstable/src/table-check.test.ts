import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CorruptTableError } from './corrupt-table-error.ts';
import { checkTable } from './table-check.ts';
import { TableReader } from './table-reader.ts';
import { MemorySource } from './table-source.ts';
import type { TableType } from './table-writer.ts';

interface Vector {
  name: string;
  type: TableType;
  count: number;
  id: string;
  estimated_size: number;
}

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const vectors = JSON.parse(fixture('index.json').toString()) as Vector[];

test.each(vectors)(
  'the id of $name follows from its records',
  ({ name, type, count, id, estimated_size }) => {
    const seen: string[] = [];
    const reader = new TableReader(new MemorySource(fixture(`${name}.sst`)));
    const check = checkTable(reader, type, (key) => seen.push(key.toString('latin1')));
    expect(check).toMatchObject({ id, count, estimatedSize: estimated_size, lost: [] });
    expect(check.minKey.toString('latin1')).toBe(seen[0] ?? '');
    expect(check.maxKey.toString('latin1')).toBe(seen.at(-1) ?? '');
  },
);

test('what lies in damaged blocks is named, the rest is read', () => {
  const bytes = fixture('two-level-index.sst');
  const whole = checkTable(new TableReader(new MemorySource(Buffer.from(bytes))), 'ranges');
  const reader = new TableReader(new MemorySource(bytes));
  for (const block of [0, 7]) bytes[reader.index.offset(block) + 3]! ^= 1;
  const kept: Buffer[] = [];
  const { lost, count } = checkTable(reader, 'ranges', (key) => kept.push(key));
  expect(lost).toHaveLength(2);
  expect(count).toBe(kept.length);
  expect(count).toBeLessThan(whole.count);
  expect(lost[0]).toMatchObject({ after: undefined, reason: expect.stringMatching(/checksum/) });
  expect(Buffer.compare(lost[0]!.upTo, kept[0]!)).toBe(-1);
  const before = kept.findIndex((key) => key.equals(lost[1]!.after!));
  expect(Buffer.compare(lost[1]!.upTo, kept[before + 1]!)).toBe(-1);
  expect(Buffer.compare(lost[1]!.upTo, kept[before]!)).toBe(1);
});

test('what its visitor cannot understand is lost, too', () => {
  const reader = new TableReader(new MemorySource(fixture('a-b.sst')));
  const { lost } = checkTable(reader, 'ranges', (key) => {
    if (key.toString() === 'b') throw new CorruptTableError('no value');
  });
  expect(lost).toMatchObject([{ after: Buffer.from('a') }]);
});
