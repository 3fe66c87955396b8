import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { encodeEntry, encodeValue } from '@svc/encoding';
import { MemorySink, MemorySource, TableReader, TableWriter, ValueScan } from '@svc/sstable';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { marksSource } from '../../marks-wasm.ts';
import { MarkKernel } from './mark-kernel.ts';
import { MarkList } from './mark-list.ts';

const xid = fc.string({ unit: fc.constantFrom('0', 'g', 'v', 'k'), minLength: 20, maxLength: 20 });
const folder = fc.constantFrom('data/', 's3://bucket/repo/data/', '/data/', '', 'x');
const signature = fc.constantFrom('', `,${'Z'.repeat(43)}`, `,${'-'.repeat(42)}`, ',');
const address = fc.oneof(
  fc
    .tuple(folder, fc.constantFrom('gk3f7ctl8q3s73frlr8g', 'gk3f7ctl8q3s73frlr80'), xid, signature)
    .map(([start, partition, name, end]) => `${start}${partition}/${name}${end}`),
  fc.tuple(folder, xid, xid).map(([start, partition, name]) => `${start}${partition}/${name}`),
  fc.constantFrom('', '/', ',', 'data/x/y', '0'.repeat(41), `/${'0'.repeat(20)}`),
  fc.string({ maxLength: 60 }),
);

const ours = fc
  .record({
    address,
    size: fc.constantFrom(0, 1, 127, 128, 5_000_000_000, 2 ** 45),
    etag: fc.constantFrom('', 'd41d8cd98f00b204e9800998ecf8427e', 'x'.repeat(200), 'y'.repeat(20_000)),
    metadata: fc.constantFrom({}, { key: 'value' }, { long: 'v'.repeat(300) }),
  })
  .map((fields) =>
    encodeValue(
      Buffer.alloc(32, 1),
      encodeEntry({
        ...fields,
        lastModified: { seconds: 1_700_000_000, nanos: 5 },
        addressType: 1,
        contentType: '',
      }),
    ),
  );
/** Fields that nobody writes, lengths that end elsewhere, and no record at all. */
const strange = fc
  .uint8Array({ maxLength: 80 })
  .chain((data) =>
    fc.constantFrom(encodeValue(Buffer.alloc(3), data), Buffer.from(data), Buffer.concat([data, data])),
  );

async function tableOf(values: readonly Buffer[]): Promise<TableReader> {
  const sink = new MemorySink();
  const writer = new TableWriter(sink, { type: 'ranges' });
  for (const [index, value] of values.entries()) {
    const key = Buffer.from(String(index).padStart(6, '0'));
    writer.add(key, 0, key.length, value, 0, value.length);
  }
  await writer.finish();
  return new TableReader(new MemorySource(sink.bytes()));
}

/** What a list has, or why it has nothing. */
function taken(fill: (list: MarkList) => void): unknown {
  const list = new MarkList();
  try {
    fill(list);
  } catch (error) {
    return String(error);
  }
  return { numbers: [...list.numbers], values: list.values, bytes: list.bytes };
}

// One for all: nothing of a table is left for the next.
const kernel = new MarkKernel();

async function expectSame(values: readonly Buffer[]): Promise<void> {
  const table = await tableOf(values);
  const one = taken((list) => {
    const scan = new ValueScan(table);
    while (scan.nextBlock(list.addValue));
  });
  expect(taken((list) => list.addTable(new ValueScan(table), kernel))).toEqual(one);
}

test('takes the marks that are taken one by one', () =>
  fc.assert(fc.asyncProperty(fc.array(ours, { maxLength: 80 }), expectSame), { numRuns: 200 }));

test('leaves what is unusual to others', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ weight: 20, arbitrary: ours }, strange), { maxLength: 60 }),
      expectSame,
    ),
    { numRuns: 200 },
  ));

test('is made from the source beside it', () => {
  const source = readFileSync(new URL('../../../wasm/marks.as', import.meta.url));
  expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(marksSource);
});
