import { badRequest } from '../errors/iceberg-error.ts';
import type { Id } from '../request/fields.ts';
import { readAvro, type AvroRecord, type AvroValue } from './avro-reader.ts';
import { writeAvro, type AvroOutput } from './avro-output.ts';

interface PartitionSummary {
  readonly containsNull: boolean;
  readonly containsNan: boolean | undefined;
  readonly lowerBound: Buffer | undefined;
  readonly upperBound: Buffer | undefined;
}

/** What the list of a snapshot says of one manifest. */
export interface ManifestFile {
  readonly path: string;
  readonly length: Id;
  readonly specId: Id;
  /** 0: data, 1: deletes. */
  readonly content: Id;
  readonly sequenceNumber: Id;
  readonly minSequenceNumber: Id;
  readonly addedSnapshotId: Id;
  readonly addedFiles: Id;
  readonly existingFiles: Id;
  readonly deletedFiles: Id;
  readonly addedRows: Id;
  readonly existingRows: Id;
  readonly deletedRows: Id;
  readonly partitions: readonly PartitionSummary[] | undefined;
  readonly keyMetadata: Buffer | undefined;
  /** From format version 3 on. */
  readonly firstRowId: Id | undefined;
}

interface Field {
  readonly name: string;
  readonly 'field-id': number;
  readonly type: unknown;
}

const field = (name: string, id: number, type: unknown): Field => ({
  name,
  type,
  ...(Array.isArray(type) && { default: null }),
  'field-id': id,
});

/** Names, ids and types as the format defines them, in the order they are written. */
const fields: readonly Field[] = [
  field('manifest_path', 500, 'string'),
  field('manifest_length', 501, 'long'),
  field('partition_spec_id', 502, 'int'),
  field('content', 517, 'int'),
  field('sequence_number', 515, 'long'),
  field('min_sequence_number', 516, 'long'),
  field('added_snapshot_id', 503, 'long'),
  field('added_files_count', 504, 'int'),
  field('existing_files_count', 505, 'int'),
  field('deleted_files_count', 506, 'int'),
  field('added_rows_count', 512, 'long'),
  field('existing_rows_count', 513, 'long'),
  field('deleted_rows_count', 514, 'long'),
  field('partitions', 507, [
    'null',
    {
      type: 'array',
      'element-id': 508,
      items: {
        type: 'record',
        name: 'r508',
        fields: [
          field('contains_null', 509, 'boolean'),
          field('contains_nan', 518, ['null', 'boolean']),
          field('lower_bound', 510, ['null', 'bytes']),
          field('upper_bound', 511, ['null', 'bytes']),
        ],
      },
    },
  ]),
  field('key_metadata', 519, ['null', 'bytes']),
];
const rowIdField = field('first_row_id', 520, ['null', 'long']);
const known: ReadonlySet<string> = new Set([...fields, rowIdField].map((each) => String(each['field-id'])));

export function readManifestList(bytes: Buffer): ManifestFile[] {
  return readAvro(bytes).map((record) => {
    const extra = Object.entries(record).find(([id, value]) => !known.has(id) && value !== null);
    // Whoever writes the list anew would lose it.
    if (extra !== undefined) throw badRequest(`the list of manifests has an unknown field ${extra[0]}`);
    return {
      path: text(record, 500),
      length: number(record, 501),
      specId: number(record, 502),
      content: number(record, 517, 0),
      sequenceNumber: number(record, 515, 0),
      minSequenceNumber: number(record, 516, 0),
      addedSnapshotId: number(record, 503),
      addedFiles: number(record, 504),
      existingFiles: number(record, 505),
      deletedFiles: number(record, 506),
      addedRows: number(record, 512),
      existingRows: number(record, 513),
      deletedRows: number(record, 514),
      partitions: partitionsOf(record['507']),
      keyMetadata: bytesOf(record['519']),
      firstRowId: record['520'] === undefined || record['520'] === null ? undefined : number(record, 520),
    };
  });
}

function text(record: AvroRecord, id: number): string {
  const value = record[id];
  if (typeof value === 'string') return value;
  throw badRequest(`the list of manifests has no text in field ${id}`);
}

function number(record: AvroRecord, id: number, otherwise?: Id): Id {
  const value = record[id] ?? otherwise;
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  throw badRequest(`the list of manifests has no number in field ${id}`);
}

function bytesOf(value: AvroValue | undefined): Buffer | undefined {
  return Buffer.isBuffer(value) ? value : undefined;
}

function partitionsOf(value: AvroValue | undefined): PartitionSummary[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return value.map((item) => {
    const summary = item as AvroRecord;
    const nan = summary['518'];
    return {
      containsNull: summary['509'] === true,
      containsNan: typeof nan === 'boolean' ? nan : undefined,
      lowerBound: bytesOf(summary['510']),
      upperBound: bytesOf(summary['511']),
    };
  });
}

export interface ListHeader {
  readonly formatVersion: number;
  readonly snapshotId: Id;
  readonly parentId: Id | undefined;
  readonly sequenceNumber: Id;
}

export function writeManifestList(manifests: readonly ManifestFile[], header: ListHeader): Buffer {
  const hasRowIds = header.formatVersion >= 3;
  const schema = {
    type: 'record',
    name: 'manifest_file',
    fields: hasRowIds ? [...fields, rowIdField] : fields,
  };
  const names = {
    'format-version': String(header.formatVersion),
    'snapshot-id': String(header.snapshotId),
    'parent-snapshot-id': String(header.parentId ?? null),
    'sequence-number': String(header.sequenceNumber),
  };
  return writeAvro(schema, names, manifests, (output, manifest) => {
    writeManifest(output, manifest);
    if (hasRowIds) output.optional(manifest.firstRowId, (id) => output.long(id));
  });
}

function writeManifest(output: AvroOutput, manifest: ManifestFile): void {
  output
    .bytes(manifest.path)
    .long(manifest.length)
    .long(manifest.specId)
    .long(manifest.content)
    .long(manifest.sequenceNumber)
    .long(manifest.minSequenceNumber)
    .long(manifest.addedSnapshotId)
    .long(manifest.addedFiles)
    .long(manifest.existingFiles)
    .long(manifest.deletedFiles)
    .long(manifest.addedRows)
    .long(manifest.existingRows)
    .long(manifest.deletedRows)
    .optional(manifest.partitions, (partitions) =>
      output.array(partitions, (summary) =>
        output
          .boolean(summary.containsNull)
          .optional(summary.containsNan, (value) => output.boolean(value))
          .optional(summary.lowerBound, (value) => output.bytes(value))
          .optional(summary.upperBound, (value) => output.bytes(value)),
      ),
    )
    .optional(manifest.keyMetadata, (value) => output.bytes(value));
}
