import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { TableReader } from './table-reader.ts';
import { MemorySink } from './table-sink.ts';
import { MemorySource } from './table-source.ts';
import { TableWriter, type TableType } from './table-writer.ts';

interface Vector {
  name: string;
  type: TableType;
  properties: Record<string, string>;
  count: number;
  id: string;
  estimated_size: number;
  file_size: number;
  file_sha256: string;
}

const fixture = (name: string): Buffer => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const vectors = JSON.parse(fixture('index.json').toString()) as Vector[];

describe.each(vectors)('$name', (vector) => {
  const file = fixture(`${vector.name}.sst`);
  const records = readAll(file);

  test('reads every record', () => {
    expect(records).toHaveLength(vector.count);
    const reader = new TableReader(new MemorySource(file));
    expect(reader.properties().get('type')?.toString()).toBe(vector.type);
    expect(reader.properties().get('count')?.toString()).toBe(String(vector.count));
    for (let i = 1; i < records.length; i++) {
      expect(Buffer.compare(records[i - 1]!.key, records[i]!.key)).toBe(-1);
    }
  });

  test('finds every record by its key and nothing else', () => {
    const reader = new TableReader(new MemorySource(file));
    const keys = new Set(records.map(({ key }) => key.toString('latin1')));
    for (const { key, value } of records) {
      expect(reader.get(key)?.equals(value)).toBe(true);
      const longer = Buffer.concat([key, Buffer.of(0)]);
      if (!keys.has(longer.toString('latin1'))) expect(reader.get(longer)).toBeUndefined();
    }
  });

  test('is written again byte for byte', async () => {
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: vector.type, properties: vector.properties });
    for (const { key, value } of records) writer.add(key, 0, key.length, value, 0, value.length);
    const finished = await writer.finish();
    expect(finished.id).toBe(vector.id);
    expect(finished.estimatedSize).toBe(vector.estimated_size);
    expect(finished.fileSize).toBe(vector.file_size);
    expect(sink.bytes().equals(file)).toBe(true);
    expect(createHash('sha256').update(sink.bytes()).digest('hex')).toBe(vector.file_sha256);
  });

  test('is written again byte for byte when stored blocks are copied', async () => {
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: vector.type, properties: vector.properties });
    const cursor = new TableReader(new MemorySource(file)).scan();
    while (cursor.next()) {
      if (!cursor.startsBlock || !writer.addBlock(cursor))
        writer.add(cursor.key, 0, cursor.keyLength, cursor.block, cursor.valueStart, cursor.valueEnd);
    }
    expect((await writer.finish()).id).toBe(vector.id);
    expect(sink.bytes().equals(file)).toBe(true);
  });
});

test.each([
  'a-b',
  'empty-metarange',
  'empty-range',
  'ff-keys',
  'one',
  'shared-into-trailer',
  'tag-dump-properties',
])('%s holds the listed records', (name) => {
  const lines = fixture(`${name}.records.jsonl`).toString().trim();
  const expected = lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line) as unknown);
  const records = readAll(fixture(`${name}.sst`));
  const shown = records.map(({ key, value }) => ({ key: key.toString('hex'), value: value.toString('hex') }));
  expect(shown).toEqual(expected);
});

function readAll(file: Buffer): { key: Buffer; value: Buffer }[] {
  const cursor = new TableReader(new MemorySource(file)).scan();
  const records: { key: Buffer; value: Buffer }[] = [];
  while (cursor.next()) {
    records.push({
      key: Buffer.from(cursor.key.subarray(0, cursor.keyLength)),
      value: Buffer.from(cursor.block.subarray(cursor.valueStart, cursor.valueEnd)),
    });
  }
  return records;
}
