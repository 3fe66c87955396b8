import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { tempDir } from '@svc/testing';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { AddressFile } from './address-file.ts';

async function read(path: string): Promise<{ buffer: ArrayBuffer; rows: Record<string, unknown>[] }> {
  const bytes = await readFile(path);
  const buffer = Uint8Array.from(bytes).buffer;
  const rows = await parquetReadObjects({
    file: buffer,
    compressors: { GZIP: (input: Uint8Array) => new Uint8Array(gunzipSync(input)) },
  });
  return { buffer, rows };
}

describe('AddressFile', () => {
  it('writes both columns as required, compressed, and reads back', async () => {
    const path = join(tempDir(), 'addresses');
    const file = new AddressFile(path);
    await file.add('data/a/b', 1_700_000_000);
    await file.add('data/ä/c,sig', 1);
    await file.finish();

    const { buffer, rows } = await read(path);
    expect(rows).toEqual([
      { physical_address: 'data/a/b', creation_date: 1_700_000_000n },
      { physical_address: 'data/ä/c,sig', creation_date: 1n },
    ]);
    const metadata = parquetMetadata(buffer);
    expect(
      metadata.schema
        .slice(1)
        .map((column) => [column.name, column.type, column.converted_type, column.repetition_type]),
    ).toEqual([
      ['physical_address', 'BYTE_ARRAY', 'UTF8', 'REQUIRED'],
      ['creation_date', 'INT64', 'INT_64', 'REQUIRED'],
    ]);
    expect(metadata.row_groups[0]?.columns.map((column) => column.meta_data?.codec)).toEqual([
      'GZIP',
      'GZIP',
    ]);
  });

  it('tells its size after each group and keeps every row across groups', async () => {
    const path = join(tempDir(), 'addresses');
    const file = new AddressFile(path);
    const sizes: number[] = [];
    for (let row = 0; row < 200_001; row += 1) {
      const size = await file.add(`data/partition/${row}`, row);
      if (size !== undefined) sizes.push(size);
    }
    await file.finish();

    expect(file.rows).toBe(200_001);
    expect(sizes).toHaveLength(2);
    expect(sizes[1]).toBeGreaterThan(sizes[0] ?? 0);
    const { rows } = await read(path);
    expect(rows).toHaveLength(200_001);
    expect(rows.at(-1)).toEqual({ physical_address: 'data/partition/200000', creation_date: 200_000n });
  });
});
