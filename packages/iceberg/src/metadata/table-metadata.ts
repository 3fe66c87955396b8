import { badRequest } from '../errors/iceberg-error.ts';
import type { JsonObject } from '../json.ts';
import { idIn, intIn, objectIn, objectsIn, stringMapIn, textIn, type Id } from '../request/fields.ts';

export interface Schema extends JsonObject {
  'schema-id': number;
  fields: JsonObject[];
}

export interface PartitionSpec extends JsonObject {
  'spec-id': number;
  fields: JsonObject[];
}

export interface SortOrder extends JsonObject {
  'order-id': number;
  fields: JsonObject[];
}

export interface Snapshot extends JsonObject {
  'snapshot-id': Id;
  'timestamp-ms': number;
}

export interface SnapshotRef extends JsonObject {
  'snapshot-id': Id;
  type: 'branch' | 'tag';
}

/** What a metadata file says of a table. Fields that are not named here are kept as they are. */
export interface TableMetadata {
  'format-version': number;
  'table-uuid': string;
  location: string;
  'last-sequence-number': Id;
  'last-updated-ms': number;
  'last-column-id': number;
  schemas: Schema[];
  'current-schema-id': number;
  'partition-specs': PartitionSpec[];
  'default-spec-id': number;
  'last-partition-id': number;
  'sort-orders': SortOrder[];
  'default-sort-order-id': number;
  properties: Record<string, string>;
  'current-snapshot-id'?: Id;
  refs: Record<string, SnapshotRef>;
  snapshots: Snapshot[];
  statistics: JsonObject[];
  'partition-statistics': JsonObject[];
  'snapshot-log': JsonObject[];
  'metadata-log': JsonObject[];
  /** From format version 3 on. */
  'next-row-id'?: Id;
  'encryption-keys'?: JsonObject[];
}

export const newestFormat = 3;
/** The first partition field is one more. */
export const firstPartitionId = 999;

/** Reads a metadata file of format version 2 or 3. */
export function readMetadata(json: JsonObject): TableMetadata {
  const version = intIn(json, 'format-version');
  if (version < 2 || version > newestFormat) {
    throw badRequest(`format version ${version} is not supported: upgrade the table to version 2 or 3`);
  }
  for (const name of ['last-column-id', 'current-schema-id', 'default-spec-id', 'default-sort-order-id']) {
    intIn(json, name);
  }
  const refs = json['refs'] === undefined ? {} : (objectIn(json, 'refs') as Record<string, SnapshotRef>);
  const { 'current-snapshot-id': current, ...rest } = json;
  // Some writers say -1 or null for none.
  const hasCurrent = current !== undefined && current !== null && current !== -1;
  const currentId = hasCurrent ? idIn(json, 'current-snapshot-id') : undefined;
  const main = { 'snapshot-id': currentId, type: 'branch' } as SnapshotRef;
  return {
    ...rest,
    'format-version': version,
    'table-uuid': textIn(json, 'table-uuid'),
    location: textIn(json, 'location'),
    'last-sequence-number': idIn(json, 'last-sequence-number'),
    schemas: objectsIn(json, 'schemas') as Schema[],
    'partition-specs': objectsIn(json, 'partition-specs') as PartitionSpec[],
    'last-partition-id': intIn(json, 'last-partition-id'),
    'sort-orders': objectsIn(json, 'sort-orders') as SortOrder[],
    properties: stringMapIn(json, 'properties'),
    ...(currentId === undefined ? {} : { 'current-snapshot-id': currentId }),
    refs: currentId === undefined || refs['main'] !== undefined ? refs : { ...refs, main },
    snapshots: optionalObjects(json, 'snapshots') as Snapshot[],
    statistics: optionalObjects(json, 'statistics'),
    'partition-statistics': optionalObjects(json, 'partition-statistics'),
    'snapshot-log': optionalObjects(json, 'snapshot-log'),
    'metadata-log': optionalObjects(json, 'metadata-log'),
  } as TableMetadata;
}

function optionalObjects(json: JsonObject, name: string): JsonObject[] {
  return json[name] === undefined || json[name] === null ? [] : objectsIn(json, name);
}

/** A table that is being made: everything else comes by updates. */
export function emptyMetadata(uuid: string): TableMetadata {
  return {
    'format-version': 2,
    'table-uuid': uuid,
    location: '',
    'last-sequence-number': 0,
    'last-updated-ms': 0,
    'last-column-id': 0,
    schemas: [],
    'current-schema-id': -1,
    'partition-specs': [],
    'default-spec-id': -1,
    'last-partition-id': firstPartitionId,
    'sort-orders': [],
    'default-sort-order-id': -1,
    properties: {},
    refs: {},
    snapshots: [],
    statistics: [],
    'partition-statistics': [],
    'snapshot-log': [],
    'metadata-log': [],
  };
}
