import { compareBytes, uvarintLength, writeUvarint } from '@svc/encoding';
import { BlockBuilder } from './block-builder.ts';
import { indexTypeProperty } from './table-format.ts';

export interface TableFacts {
  readonly type: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  readonly estimatedSize: number;
  readonly dataSize: number;
  readonly dataBlocks: number;
  readonly indexSize: number;
  readonly rawKeySize: number;
  readonly rawValueSize: number;
  /** Set when the index has two levels. */
  readonly twoLevel: { readonly partitions: number; readonly topSize: number } | undefined;
  /** User properties beyond `type`. */
  readonly extra: Readonly<Record<string, string>>;
}

const compressionOptions =
  'window_bits=-14; level=32767; strategy=0; max_dict_bytes=0; zstd_max_train_bytes=0; enabled=0; ';

type Value = Buffer | ((facts: TableFacts) => Buffer | undefined);

const no = Buffer.from('0');

const ours: Readonly<Record<string, Value>> = {
  [indexTypeProperty]: ({ twoLevel }) => fixed32(twoLevel === undefined ? 0 : 2),
  'rocksdb.block.based.table.prefix.filtering': no,
  'rocksdb.block.based.table.whole.key.filtering': no,
  'rocksdb.column.family.id': uvarint(2147483647),
  'rocksdb.comparator': Buffer.from('leveldb.BytewiseComparator'),
  'rocksdb.merge.operator': Buffer.from('pebble.concatenate'),
  'rocksdb.compression': Buffer.from('Snappy'),
  'rocksdb.compression_options': Buffer.from(compressionOptions),
  'rocksdb.data.size': ({ dataSize }) => uvarint(dataSize),
  'rocksdb.external_sst_file.version': fixed32(2),
  'rocksdb.external_sst_file.global_seqno': Buffer.alloc(8),
  'rocksdb.index.size': ({ indexSize }) => uvarint(indexSize),
  'rocksdb.index.partitions': ({ twoLevel }) =>
    twoLevel === undefined ? undefined : uvarint(twoLevel.partitions),
  'rocksdb.top-level.index.size': ({ twoLevel }) =>
    twoLevel === undefined ? undefined : uvarint(twoLevel.topSize),
  'rocksdb.num.data.blocks': ({ dataBlocks }) => uvarint(dataBlocks),
  'rocksdb.num.entries': ({ count }) => uvarint(count),
  'rocksdb.raw.key.size': ({ rawKeySize }) => uvarint(rawKeySize),
  'rocksdb.raw.value.size': ({ rawValueSize }) => uvarint(rawValueSize),
  'rocksdb.prefix.extractor.name': Buffer.from('nullptr'),
  'rocksdb.property.collectors': Buffer.from('[static]'),
  'rocksdb.creation.time': uvarint(0),
  'rocksdb.deleted.keys': uvarint(0),
  'rocksdb.filter.size': uvarint(0),
  'rocksdb.fixed.key.length': uvarint(0),
  'rocksdb.format.version': uvarint(0),
  'rocksdb.index.key.is.user.key': uvarint(0),
  'rocksdb.index.value.is.delta.encoded': uvarint(0),
  'rocksdb.merge.operands': uvarint(0),
  'rocksdb.num.range-deletions': uvarint(0),
  'rocksdb.oldest.key.time': uvarint(0),
  type: ({ type }) => Buffer.from(type),
  min_key: ({ minKey }) => minKey,
  max_key: ({ maxKey }) => maxKey,
  count: ({ count }) => Buffer.from(String(count)),
  estimated_size_bytes: ({ estimatedSize }) => Buffer.from(String(estimatedSize)),
};

const byName = ([a]: readonly [Buffer, unknown], [b]: readonly [Buffer, unknown]): number =>
  compareBytes(a, b);
/** Every table has them, so they are put in order once. */
const inOrder = Object.entries(ours)
  .map(([name, value]): readonly [Buffer, Value] => [Buffer.from(name), value])
  .sort(byName);

/** The properties block's body: names in byte order, one restart. */
export function encodeProperties(facts: TableFacts): Buffer {
  const properties: (readonly [Buffer, Buffer])[] = [];
  for (const [name, value] of inOrder) {
    const bytes = typeof value === 'function' ? value(facts) : value;
    if (bytes !== undefined) properties.push([name, bytes]);
  }
  const extra = Object.entries(facts.extra);
  if (extra.length > 0) {
    for (const [name, value] of extra) properties.push([Buffer.from(name), Buffer.from(value)]);
    properties.sort(byName);
  }
  const block = new BlockBuilder(2147483647);
  for (const [name, value] of properties) block.add(name, value);
  return block.finish();
}

function uvarint(value: number): Buffer {
  const bytes = Buffer.alloc(uvarintLength(value));
  writeUvarint(bytes, 0, value);
  return bytes;
}

function fixed32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
