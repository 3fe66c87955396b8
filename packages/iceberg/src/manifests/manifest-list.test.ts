import { assert, nat, property } from 'fast-check';
import { expect, it } from 'vitest';
import { IcebergError } from '../errors/iceberg-error.ts';
import { writeAvro } from './avro-output.ts';
import { readManifestList, writeManifestList, type ManifestFile } from './manifest-list.ts';

const manifest: ManifestFile = {
  path: 's3://lake/t/metadata/a-m0.avro',
  length: 4096,
  specId: 0,
  content: 0,
  sequenceNumber: 7,
  minSequenceNumber: 7,
  addedSnapshotId: 8_446_744_073_709_551_615n,
  addedFiles: 1,
  existingFiles: 0,
  deletedFiles: 0,
  addedRows: 1_000_000_000_000,
  existingRows: 0,
  deletedRows: 0,
  partitions: [
    { containsNull: false, containsNan: undefined, lowerBound: Buffer.from([1]), upperBound: undefined },
    { containsNull: true, containsNan: false, lowerBound: undefined, upperBound: Buffer.alloc(0) },
  ],
  keyMetadata: undefined,
  firstRowId: undefined,
};
const header = { formatVersion: 2, snapshotId: 1, parentId: undefined, sequenceNumber: 7 };

it('reads what it writes', () => {
  const list = [manifest, { ...manifest, path: 'é', partitions: undefined, keyMetadata: Buffer.from('k') }];
  expect(readManifestList(writeManifestList(list, header))).toEqual(list);
  expect(readManifestList(writeManifestList([], header))).toEqual([]);
  const withRowIds = [{ ...manifest, firstRowId: 12 }, manifest];
  expect(readManifestList(writeManifestList(withRowIds, { ...header, formatVersion: 3 }))).toEqual(
    withRowIds,
  );
});

it('refuses fields that it would lose', () => {
  const schema = { type: 'record', name: 'm', fields: [{ name: 'new', type: 'long', 'field-id': 600 }] };
  const file = writeAvro(schema, {}, [1], (output, item) => output.long(item));
  expect(() => readManifestList(file)).toThrow('unknown field 600');
});

it('refuses whatever is no such file, and never hangs over it', () => {
  const file = writeManifestList([manifest, manifest], header);
  const read = (bytes: Buffer): void => {
    try {
      readManifestList(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(IcebergError);
    }
  };
  for (let length = 0; length < file.length; length++) read(file.subarray(0, length));
  assert(
    property(nat(file.length - 1), nat(255), (at, byte) => {
      const damaged = Buffer.from(file);
      damaged[at] = byte;
      read(damaged);
    }),
  );
  const endless = {
    type: 'record',
    name: 'm',
    fields: [{ name: 'n', type: { type: 'array', items: 'null' } }],
  };
  const bomb = writeAvro(endless, {}, [0], (output) => output.long(2 ** 40));
  expect(() => readManifestList(bomb)).toThrow('too many items');
  expect(() => readManifestList(Buffer.from('PAR1'))).toThrow('it begins otherwise');
});
