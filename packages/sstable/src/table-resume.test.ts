import { createHash, type Hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { CorruptTableError } from './corrupt-table-error.ts';
import { LocalRecordHash, type RecordHash, type TableCheckpoint } from './record-hash.ts';
import { TableReader } from './table-reader.ts';
import { MemorySink } from './table-sink.ts';
import { MemorySource } from './table-source.ts';
import { TableWriter } from './table-writer.ts';

/** Keeps the states it is told to keep. */
class KeepingHash implements RecordHash {
  readonly kept: { checkpoint: TableCheckpoint; state: Hash }[] = [];
  readonly #hash: Hash;

  constructor(hash: Hash = createHash('sha256')) {
    this.#hash = hash;
  }

  update(input: Buffer, checkpoint: TableCheckpoint | undefined): void {
    this.#hash.update(input);
    if (checkpoint !== undefined) this.kept.push({ checkpoint, state: this.#hash.copy() });
  }

  digest(last: Buffer): string {
    return this.#hash.update(last).digest('hex');
  }

  discard(): void {}
}

const count = 12_000;

/** Sizes change from record to record, so that block borders come and go. */
function record(i: number, suffix = ''): { key: Buffer; value: Buffer } {
  const key = Buffer.from(`folder-${Math.floor(i / 500)}/${String(i).padStart(7, '0')}${suffix}`);
  return { key, value: Buffer.alloc(20 + ((i * 7919) % 97), i) };
}

const sorted = Array.from({ length: count }, (_, i) => record(i)).sort((a, b) => a.key.compare(b.key));

function addAll(writer: TableWriter, records: readonly { key: Buffer; value: Buffer }[]): void {
  for (const { key, value } of records) writer.add(key, 0, key.length, value, 0, value.length);
}

async function write(records: readonly { key: Buffer; value: Buffer }[], hash: RecordHash) {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges', hash });
  addAll(writer, records);
  return { ...(await writer.finish()), file: sink.bytes() };
}

test('a table that goes on from a checkpoint of another is the table made of records', async () => {
  const hash = new KeepingHash();
  const base = await write(sorted, hash);
  expect(hash.kept.length).toBeGreaterThan(3);
  const reader = new TableReader(new MemorySource(base.file));
  for (const { checkpoint, state } of hash.kept) {
    const before = sorted.slice(0, checkpoint.count);
    const after = sorted.slice(checkpoint.count);
    const last = sorted[checkpoint.count - 1]!.key.toString();
    // The key right behind the checkpoint may still belong into its last block.
    const behind = { key: Buffer.from(`${last}+`), value: Buffer.alloc(3) };
    for (const rest of [
      after,
      after.slice(1),
      [behind, ...after],
      [{ ...behind, value: Buffer.alloc(500) }],
    ]) {
      const sink = new MemorySink();
      const resumed = new KeepingHash(state.copy());
      const writer = new TableWriter(sink, { type: 'ranges', hash: resumed });
      writer.resume(reader, checkpoint);
      expect([writer.count, writer.lastKey.toString()]).toEqual([checkpoint.count, last]);
      addAll(writer, rest);
      const finished = await writer.finish();
      const { file, ...expected } = await write([...before, ...rest], new LocalRecordHash());
      expect(finished).toEqual(expected);
      expect(sink.bytes().equals(file)).toBe(true);
    }
  }
});

test('blocks taken over unread are compared with their checksums', async () => {
  const hash = new KeepingHash();
  const { file } = await write(sorted, hash);
  file[file.length >> 3]! ^= 1;
  const reader = new TableReader(new MemorySource(file));
  const { checkpoint, state } = hash.kept.at(-1)!;
  const writer = new TableWriter(new MemorySink(), { type: 'ranges', hash: new KeepingHash(state.copy()) });
  expect(() => writer.resume(reader, checkpoint)).toThrow(CorruptTableError);
});
