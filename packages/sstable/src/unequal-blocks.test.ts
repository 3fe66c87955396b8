import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TableReader } from './table-reader.ts';
import { MemorySink } from './table-sink.ts';
import { MemorySource } from './table-source.ts';
import { TableWriter } from './table-writer.ts';
import { unequalBlocks } from './unequal-blocks.ts';
import { ValueScan } from './value-scan.ts';

type Records = ReadonlyMap<number, string>;

/** Values are long and differ, so that a few records fill a block. */
function valueOf(record: string): Buffer {
  return Buffer.from(record.padEnd(300, record));
}

async function tableOf(records: Records, from = 0, to = Infinity): Promise<TableReader> {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  for (const key of [...records.keys()].sort((left, right) => left - right)) {
    if (key < from || key >= to) continue;
    const name = Buffer.from(String(key).padStart(6, '0'));
    const value = valueOf(records.get(key) ?? '');
    writer.add(name, 0, name.length, value, 0, value.length);
  }
  await writer.finish();
  return new TableReader(new MemorySource(sink.bytes()));
}

function valuesIn(table: TableReader, blocks: Iterable<number>): string[] {
  const scan = new ValueScan(table);
  const values: string[] = [];
  for (const block of blocks)
    scan.showBlock(block, (bytes, start, end) => values.push(bytes.toString('latin1', start, end)));
  return values;
}

const allOf = (table: TableReader): Iterable<number> => Array.from({ length: table.index.count }).keys();

const first: Records = new Map(Array.from({ length: 400 }, (_, key) => [key * 10, `of ${key * 10}`]));

test('what only one side holds is in its unequal blocks, however the other is cut', async () => {
  const change = fc.tuple(fc.nat(4000), fc.option(fc.string({ maxLength: 5 }), { nil: undefined }));
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 20 }),
      fc.uniqueArray(fc.nat(4000), { maxLength: 3 }),
      async (changes, cuts) => {
        const changed = new Map(first);
        for (const [key, value] of changes) {
          if (value === undefined) changed.delete(key);
          else changed.set(key, value);
        }
        const own = await tableOf(changed);
        const bounds = [0, ...cuts.sort((left, right) => left - right), Infinity];
        const others: TableReader[] = [];
        for (const [place, from] of bounds.slice(0, -1).entries())
          others.push(await tableOf(first, from, bounds[place + 1]));
        const unequal = unequalBlocks(own, others);
        expect(unequal.others).toHaveLength(others.length);

        const onlyOwn = new Set(valuesIn(own, allOf(own)));
        for (const other of others) for (const value of valuesIn(other, allOf(other))) onlyOwn.delete(value);
        const shown = new Set(valuesIn(own, unequal.own));
        for (const value of onlyOwn) expect(shown.has(value)).toBe(true);
        const inOwn = new Set(valuesIn(own, allOf(own)));
        for (const [place, other] of others.entries()) {
          const left = new Set(valuesIn(other, unequal.others[place] ?? []));
          for (const value of valuesIn(other, allOf(other)))
            expect(inOwn.has(value) || left.has(value)).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('blocks without a change are passed over', async () => {
  const before = await tableOf(first);
  const after = await tableOf(new Map([...first, [2000, 'of 2001']]));
  expect(before.index.count).toBeGreaterThan(20);
  expect(unequalBlocks(after, [before])).toEqual({
    own: [expect.any(Number)],
    others: [[expect.any(Number)]],
  });
  expect(unequalBlocks(before, [before])).toEqual({ own: [], others: [[]] });
  expect(unequalBlocks(before, []).own).toHaveLength(before.index.count);
});

test('a block that was damaged is not equal', async () => {
  const before = await tableOf(first);
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  for (const [key, record] of first) {
    const name = Buffer.from(String(key).padStart(6, '0'));
    const value = valueOf(record);
    writer.add(name, 0, name.length, value, 0, value.length);
  }
  await writer.finish();
  const bytes = sink.bytes();
  const damaged = new TableReader(new MemorySource(bytes));
  const at = damaged.index.offset(3) + 3;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  expect(unequalBlocks(damaged, [before]).own).toEqual([3]);
});
