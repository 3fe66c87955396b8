import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BlockBuilder } from './block-builder.ts';
import { recordsSource } from './records-wasm.ts';
import { MemorySink } from './table-sink.ts';
import { MemorySource } from './table-source.ts';
import type { TableCursor } from './table-cursor.ts';
import { TableReader } from './table-reader.ts';
import { TableWriter } from './table-writer.ts';
import { recordTrailer } from './table-format.ts';
import { expect, test } from 'vitest';

interface TestRecord {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** A small generator, so that a failure can be repeated. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
}

function randomRecords(random: (below: number) => number, count: number): TestRecord[] {
  const keyTail = [1, 6, 40, 300][random(4)] as number;
  const valueLength = [20, 150, 600, 20_000][random(4)] as number;
  const sameLength = random(2) === 0;
  const alphabet = random(3) === 0 ? [0, 1, 0xff] : [97, 98, 99, 100, 101, 47];
  const records = new Map<string, TestRecord>();
  for (let i = 0; i < count; i++) {
    const tail = Buffer.alloc(1 + (sameLength ? keyTail : random(keyTail)));
    for (let at = 0; at < tail.length; at++) tail[at] = alphabet[random(alphabet.length)] as number;
    const key = Buffer.concat([Buffer.from(`p/${String(random(50))}/`), tail]);
    const value = Buffer.alloc(sameLength ? valueLength : random(valueLength), random(256));
    records.set(key.toString('latin1'), { key, value });
  }
  return [...records.values()].sort((a, b) => a.key.compare(b.key));
}

function fnv1a64(key: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of key) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

test('the hash that decides where tables end is FNV-1a, also of keys longer than what is kept of it', async () => {
  expect(fnv1a64(Buffer.from('foobar')).toString(16)).toBe('85944171f73967e8');
  const writer = new TableWriter(new MemorySink(), { type: 'ranges' });
  for (const length of [1, 40, 4095, 4096, 4097, 9000, 100_000]) {
    const key = Buffer.alloc(length, 'a');
    writer.add(key, 0, length, key, 0, 1);
    const hash = fnv1a64(key);
    for (let divisor = 1n; divisor < 300n; divisor++) {
      expect(writer.lastKeyHashIsMultiple(Number(divisor))).toBe(hash % divisor === 0n);
    }
  }
  writer.discard();
});

async function write(records: readonly TestRecord[]): Promise<{ file: Buffer; id: string }> {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  for (const { key, value } of records) writer.add(key, 0, key.length, value, 0, value.length);
  const { id } = await writer.finish();
  return { file: sink.bytes(), id };
}

test('a table made of whole blocks of another and of changes is the table made of records', async () => {
  let copied = 0;
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomNumbers(seed);
    const records = randomRecords(random, 1 + random(600));
    const base = await write(records);
    const changes = new Map<string, Buffer | undefined>();
    for (let i = random(4); i >= 0; i--) {
      const at = random(records.length);
      const { key, value } = records[at] as TestRecord;
      const kind = random(3);
      if (kind === 0) changes.set(key.toString('latin1'), undefined);
      else if (kind === 1) changes.set(key.toString('latin1'), Buffer.alloc(value.length, 7));
      else changes.set(`${key.toString('latin1')}\u0001`, Buffer.alloc(random(200), 9));
    }
    const changed = new Map(records.map(({ key, value }) => [key.toString('latin1'), value]));
    for (const [key, value] of changes) {
      if (value === undefined) changed.delete(key);
      else changed.set(key, value);
    }
    const expected = [...changed]
      .map(([key, value]) => ({ key: Buffer.from(key, 'latin1'), value }))
      .sort((a, b) => a.key.compare(b.key));
    const changedKeys = [...changes.keys()]
      .map((key) => Buffer.from(key, 'latin1'))
      .sort((a, b) => a.compare(b));

    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: 'ranges' });
    const reader = new TableReader(new MemorySource(base.file));
    const cursor = reader.scan();
    let next = 0;
    const addChange = (): void => {
      const key = changedKeys[next++] as Buffer;
      const value = changes.get(key.toString('latin1'));
      if (value !== undefined) writer.add(key, 0, key.length, value, 0, value.length);
    };
    while (cursor.next()) {
      while (next < changedKeys.length && cursor.compareKey(changedKeys[next] as Buffer) > 0) addChange();
      const waiting = changedKeys[next];
      if (
        cursor.startsBlock &&
        (waiting === undefined || reader.index.isBelow(cursor.blockNumber, waiting, 0, waiting.length)) &&
        writer.addBlock(cursor)
      ) {
        copied++;
      } else if (waiting !== undefined && cursor.compareKey(waiting) === 0) {
        addChange();
      } else {
        writer.add(cursor.key, 0, cursor.keyLength, cursor.block, cursor.valueStart, cursor.valueEnd);
      }
    }
    while (next < changedKeys.length) addChange();
    const { id } = await writer.finish();
    const whole = await write(expected);
    expect({ seed, id }).toEqual({ seed, id: whole.id });
    expect(sink.bytes().equals(whole.file)).toBe(true);
  }
  expect(copied).toBeGreaterThan(300);
});

test('stops after every record the table may have to end with, and goes on behind it', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomNumbers(seed);
    const records = randomRecords(random, 1 + random(600));
    const { file } = await write(records);
    const divisor = 1 + random(7);
    const maxSize = 500 + random(20_000);
    const expected: string[] = [];
    const plain = new TableWriter(new MemorySink(), { type: 'ranges' });
    for (const { key, value } of records) {
      plain.add(key, 0, key.length, value, 0, value.length);
      const isMultiple = fnv1a64(key) % BigInt(divisor) === 0n;
      expect(plain.lastKeyHashIsMultiple(divisor)).toBe(isMultiple);
      if (plain.estimatedSize >= maxSize || isMultiple) expected.push(key.toString('latin1'));
    }

    const found: string[] = [];
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: 'ranges', split: { divisor, maxSize } });
    const cursor = new TableReader(new MemorySource(file)).scan();
    while (cursor.next()) {
      let due = false;
      if (cursor.startsBlock && writer.addBlock(cursor)) {
        due = writer.estimatedSize >= maxSize || writer.lastKeyHashIsMultiple(divisor);
      } else {
        due = writer.add(cursor.key, 0, cursor.keyLength, cursor.block, cursor.valueStart, cursor.valueEnd);
      }
      if (due) found.push(writer.lastKey.toString('latin1'));
    }
    expect(found).toEqual(expected);
    expect((await writer.finish()).id).toBe((await plain.finish()).id);
    expect(sink.bytes().equals(file)).toBe(true);
  }
});

test('packed records make the table that single ones make', async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = randomNumbers(seed);
    const records = randomRecords(random, 1 + random(600));
    const divisor = 1 + random(300);
    const packed = Buffer.concat(
      records.flatMap(({ key, value }) => {
        const lengths = Buffer.alloc(8);
        lengths.writeUInt32LE(key.length, 0);
        lengths.writeUInt32LE(value.length, 4);
        return [lengths, key, value];
      }),
    );
    const sink = new MemorySink();
    const writer = new TableWriter(sink, { type: 'ranges', split: { divisor, maxSize: 1e9 } });
    let at = 0;
    while (at < packed.length) {
      const added = writer.addPacked(packed, at, packed.length);
      at += added;
      if (added > 0) continue;
      const valueStart = at + 8 + packed.readUInt32LE(at);
      const valueEnd = valueStart + packed.readUInt32LE(at + 4);
      writer.add(packed, at + 8, valueStart, packed, valueStart, valueEnd);
      at = valueEnd;
    }
    const whole = await write(records);
    expect({ seed, id: (await writer.finish()).id }).toEqual({ seed, id: whole.id });
    expect(sink.bytes().equals(whole.file)).toBe(true);
  }
});

const one = Buffer.from('value');

/** A cursor at the first record of a block with this body, whose stored form must not be used. */
function standingAt(body: Buffer, key: string): TableCursor & { position: number } {
  const cursor = {
    key: Buffer.from(key),
    keyLength: key.length,
    block: body,
    bodyStart: 0,
    bodyLength: body.length,
    entriesLength: body.length - 4 - 4 * body.readUInt32LE(body.length - 4),
    blockNumber: 0,
    position: 0,
    passTo: (position: number): void => {
      cursor.position = position;
    },
    withChecked: () => expect.unreachable('the block is not the one this writer makes'),
  };
  return cursor as unknown as TableCursor & { position: number };
}

function blockOf(keys: readonly string[], interval: number, trailer = recordTrailer): Buffer {
  const block = new BlockBuilder(interval);
  for (const key of keys) block.add(Buffer.concat([Buffer.from(key), trailer]), one);
  return block.finish();
}

const keysTo = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `key-${String(i).padStart(3, '0')}`);

test.each([
  ['restarts at another interval', 20, blockOf(keysTo(20), 8)],
  ['more than a block holds', 400, blockOf(keysTo(400), 16)],
])('a block with %s comes out as this writer makes it', async (_, count, body) => {
  const writer = new TableWriter(new MemorySink(), { type: 'ranges' });
  const cursor = standingAt(body, 'key-000');
  expect(writer.addBlock(cursor)).toBe(true);
  expect(cursor.position).toBe(cursor.entriesLength);
  const expected = keysTo(count).map((key) => ({ key: Buffer.from(key), value: one }));
  expect((await writer.finish()).id).toBe((await write(expected)).id);
});

test('a block with another sequence number is not taken', async () => {
  const writer = new TableWriter(new MemorySink(), { type: 'ranges' });
  const body = blockOf(keysTo(20), 16, Buffer.from('0105000000000000', 'hex'));
  expect(writer.addBlock(standingAt(body, 'key-000'))).toBe(false);
  const key = Buffer.from('a');
  writer.add(key, 0, 1, one, 0, one.length);
  expect((await writer.finish()).id).toBe((await write([{ key, value: one }])).id);
});

test('a block with keys out of order is taken up to there', () => {
  const writer = new TableWriter(new MemorySink(), { type: 'ranges' });
  const cursor = standingAt(blockOf(['key-000', 'key-002', 'key-001'], 16), 'key-000');
  expect(writer.addBlock(cursor)).toBe(true);
  expect(writer.lastKey.toString()).toBe('key-002');
  expect(cursor.position).toBeLessThan(cursor.entriesLength);
  expect(writer.addBlock(standingAt(blockOf(keysTo(3), 16), 'key-000'))).toBe(false);
});

test('entries cut or with impossible lengths are left to the reader, whatever their bytes', () => {
  const random = randomNumbers(7);
  const sound = blockOf(keysTo(40), 16);
  for (let round = 0; round < 3000; round++) {
    const body = Buffer.from(sound);
    for (let flips = 1 + random(4); flips > 0; flips--) body[random(body.length - 4)] = random(256);
    const writer = new TableWriter(new MemorySink(), { type: 'ranges' });
    writer.addBlock(Object.assign(standingAt(body, 'key-000'), { withChecked: () => undefined }));
    expect(writer.count).toBeLessThanOrEqual(40);
    writer.discard();
  }
});

test('the kernel was compiled from the source beside it', () => {
  const source = readFileSync(new URL('../wasm/records.as', import.meta.url));
  expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(recordsSource);
});
