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

const zeroProperties = [
  'creation.time',
  'deleted.keys',
  'filter.size',
  'fixed.key.length',
  'format.version',
  'index.key.is.user.key',
  'index.value.is.delta.encoded',
  'merge.operands',
  'num.range-deletions',
  'oldest.key.time',
];

/** The properties block's body: names in byte order, one restart. */
export function encodeProperties(facts: TableFacts): Buffer {
  const properties: [Buffer, Buffer][] = [];
  const set = (name: string, value: Buffer): void => {
    properties.push([Buffer.from(name), value]);
  };
  set(indexTypeProperty, fixed32(facts.twoLevel === undefined ? 0 : 2));
  set('rocksdb.block.based.table.prefix.filtering', Buffer.from('0'));
  set('rocksdb.block.based.table.whole.key.filtering', Buffer.from('0'));
  set('rocksdb.column.family.id', uvarint(2147483647));
  set('rocksdb.comparator', Buffer.from('leveldb.BytewiseComparator'));
  set('rocksdb.merge.operator', Buffer.from('pebble.concatenate'));
  set('rocksdb.compression', Buffer.from('Snappy'));
  set('rocksdb.compression_options', Buffer.from(compressionOptions));
  set('rocksdb.data.size', uvarint(facts.dataSize));
  set('rocksdb.external_sst_file.version', fixed32(2));
  set('rocksdb.external_sst_file.global_seqno', Buffer.alloc(8));
  set('rocksdb.index.size', uvarint(facts.indexSize));
  if (facts.twoLevel !== undefined) {
    set('rocksdb.index.partitions', uvarint(facts.twoLevel.partitions));
    set('rocksdb.top-level.index.size', uvarint(facts.twoLevel.topSize));
  }
  set('rocksdb.num.data.blocks', uvarint(facts.dataBlocks));
  set('rocksdb.num.entries', uvarint(facts.count));
  set('rocksdb.raw.key.size', uvarint(facts.rawKeySize));
  set('rocksdb.raw.value.size', uvarint(facts.rawValueSize));
  set('rocksdb.prefix.extractor.name', Buffer.from('nullptr'));
  set('rocksdb.property.collectors', Buffer.from('[static]'));
  for (const name of zeroProperties) set(`rocksdb.${name}`, uvarint(0));
  set('type', Buffer.from(facts.type));
  set('min_key', facts.minKey);
  set('max_key', facts.maxKey);
  set('count', Buffer.from(String(facts.count)));
  set('estimated_size_bytes', Buffer.from(String(facts.estimatedSize)));
  for (const [name, value] of Object.entries(facts.extra)) set(name, Buffer.from(value));

  properties.sort(([a], [b]) => compareBytes(a, b));
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
