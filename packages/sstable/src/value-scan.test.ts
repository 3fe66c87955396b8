import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CorruptTableError } from './corrupt-table-error.ts';
import { TableReader } from './table-reader.ts';
import { MemorySource } from './table-source.ts';
import { ValueScan } from './value-scan.ts';

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const vectors = JSON.parse(fixture('index.json').toString()) as { name: string }[];

function valuesOf(reader: TableReader): string[] {
  const values: string[] = [];
  const scan = new ValueScan(reader);
  while (scan.nextBlock((bytes, start, end) => values.push(bytes.toString('latin1', start, end))));
  return values;
}

test.each(vectors)('the values of $name are those a cursor shows', ({ name }) => {
  const reader = new TableReader(new MemorySource(fixture(`${name}.sst`)));
  const cursor = reader.scan();
  const expected: string[] = [];
  while (cursor.next()) expected.push(cursor.block.toString('latin1', cursor.valueStart, cursor.valueEnd));
  expect(valuesOf(reader)).toEqual(expected);
});

test('damage is an error, never an end', () => {
  const bytes = fixture('two-level-index.sst');
  const reader = new TableReader(new MemorySource(bytes));
  bytes[reader.index.offset(3) + 3]! ^= 1;
  expect(() => valuesOf(reader)).toThrow(CorruptTableError);
});
