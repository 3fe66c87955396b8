import { maskedCrc32c } from '@svc/encoding';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CorruptTableError } from './corrupt-table-error.ts';
import { TableReader } from './table-reader.ts';
import { MemorySource } from './table-source.ts';

const names = [
  'a-b',
  'one',
  'binary-keys',
  'long-keys',
  'two-level-index',
  'shared-into-trailer',
  'empty-range',
];
const files = names.map((name) => readFileSync(new URL(`../fixtures/${name}.sst`, import.meta.url)));

/** Everything a table says, or `corrupt`. Any other error, and any hang, fails the test. */
function read(bytes: Buffer): string[] | 'corrupt' {
  try {
    const reader = new TableReader(new MemorySource(bytes));
    const cursor = reader.scan();
    const shown: string[] = [];
    while (cursor.next()) {
      const key = cursor.key.subarray(0, cursor.keyLength);
      shown.push(
        `${key.toString('latin1')}=${cursor.block.subarray(cursor.valueStart, cursor.valueEnd).toString('latin1')}`,
      );
      if (shown.length > 100_000) throw new Error('more records than any fixture has');
    }
    const look = reader.cursor();
    for (const target of ['', 'a', 'b', 'm', '\xff']) {
      look.seek(Buffer.from(target, 'latin1'));
      look.next();
      reader.find(Buffer.from(target, 'latin1'));
    }
    return shown;
  } catch (error) {
    if (error instanceof CorruptTableError) return 'corrupt';
    throw error;
  }
}

function random(seed: number): (limit: number) => number {
  let state = (seed * 2654435761 + 1) | 0;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

describe.each(files.map((file, i) => [names[i]!, file] as const))('%s', (_, file) => {
  const sound = read(file);
  const below = random(file.length);

  test('a flipped bit is noticed, or lies where nothing is read', () => {
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(file);
      bytes[below(bytes.length)]! ^= 1 << below(8);
      const outcome = read(bytes);
      if (outcome !== 'corrupt') expect(outcome).toEqual(sound);
    }
  });

  test('a cut file is noticed', () => {
    for (let i = 0; i < 60; i++) expect(read(file.subarray(0, below(file.length)))).toBe('corrupt');
    expect(read(file.subarray(0, file.length - 1))).toBe('corrupt');
    expect(read(Buffer.alloc(0))).toBe('corrupt');
  });

  test('bytes put in or taken out are noticed', () => {
    for (let i = 0; i < 60; i++) {
      const at = below(file.length - 60);
      const gone = 1 + below(5);
      expect(read(Buffer.concat([file.subarray(0, at), file.subarray(at + gone)]))).toBe('corrupt');
      const outcome = read(
        Buffer.concat([file.subarray(0, at), Buffer.alloc(gone, below(256)), file.subarray(at)]),
      );
      if (outcome !== 'corrupt') expect(outcome).toEqual(sound);
    }
  });

  test('hostile lengths under a correct checksum end in a clear error, quickly and in little memory', () => {
    const started = performance.now();
    const blocks = blocksOf(file);
    for (let i = 0; i < 250; i++) {
      const bytes = Buffer.from(file);
      const { offset, length } = blocks[below(blocks.length)]!;
      const at = offset + below(Math.max(1, length));
      const hostile = [0xff, 0x80, 0x7f, 0x00, below(256)];
      for (let n = 1 + below(4); n > 0; n--) {
        if (at + n - 1 < offset + length) bytes[at + n - 1] = hostile[below(hostile.length)]!;
      }
      // Half of the time also the block's type.
      if (below(2) === 0) bytes[offset + length] = below(3);
      bytes.writeUInt32LE(maskedCrc32c(bytes.subarray(offset, offset + length + 1)), offset + length + 1);
      read(bytes);
    }
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(process.memoryUsage().arrayBuffers).toBeLessThan(500_000_000);
  });

  test('a hostile footer is refused', () => {
    for (let i = 0; i < 150; i++) {
      const bytes = Buffer.from(file);
      for (let n = 1 + below(6); n > 0; n--) bytes[bytes.length - 53 + below(45)] = below(256);
      const outcome = read(bytes);
      if (outcome !== 'corrupt') expect(outcome).toEqual(sound);
    }
  });
});

test('a damaged block does not keep the others from being read', () => {
  const bytes = Buffer.from(files[names.indexOf('two-level-index')]!);
  const reader = new TableReader(new MemorySource(bytes));
  const damaged = 3;
  bytes[reader.index.offset(damaged) + 5]! ^= 1;
  const cursor = reader.scan();
  let failed = 0;
  for (let block = 0; block < reader.index.count; block++) {
    cursor.seekBlock(block);
    try {
      expect(cursor.next()).toBe(true);
    } catch (error) {
      expect(error).toBeInstanceOf(CorruptTableError);
      expect((error as Error).message).toMatch(/checksum/);
      expect(block).toBe(damaged);
      failed++;
    }
  }
  expect(failed).toBe(1);
});

/** Every block of the file: what the index names, and the blocks between the data and the footer. */
function blocksOf(file: Buffer): { offset: number; length: number }[] {
  const { index } = new TableReader(new MemorySource(file));
  const blocks = Array.from({ length: index.count }, (_, i) => ({
    offset: index.offset(i),
    length: index.length(i),
  }));
  const last = blocks.at(-1)!;
  // The blocks behind the data lie without gaps: each end is where a checksum fits.
  let offset = last.offset + last.length + 5;
  for (let end = offset; end + 5 <= file.length - 53; end++) {
    if (file.readUInt32LE(end + 1) !== maskedCrc32c(file.subarray(offset, end + 1))) continue;
    blocks.push({ offset, length: end - offset });
    offset = end + 5;
    end = offset - 1;
  }
  return blocks;
}
