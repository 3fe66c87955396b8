// Structs of the Hive metastore's interface definition, as far as we know them. Every other field is kept.
import type { Column, Database, Partition, Rest, Serde, Storage, Table } from '../model.ts';
import {
  bool,
  boolIn,
  fieldsOf,
  i32,
  numberIn,
  struct,
  structIn,
  structs,
  structsIn,
  text,
  textIn,
  textMap,
  textMapIn,
  texts,
  textsIn,
  type ThriftFields,
  type ThriftValue,
} from './thrift/values.ts';

const known = {
  column: [1, 2, 3],
  serde: [1, 2, 3],
  storage: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12],
  table: [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12],
  partition: [1, 2, 3, 5, 6, 7],
  database: [1, 2, 3, 4],
};
/** What means something only in the metastore it comes from: catalog, write and statistics ids, its own locations. */
const homeBound = {
  table: [17, 19, 20, 21, 25, 28],
  partition: [9, 10, 11, 12],
  database: [8, 10],
};
const skewedInfo = 11;
const skewedLocations = 3;

export function tableOf(fields: ThriftFields): Table {
  return {
    name: textIn(fields, 1) ?? '',
    database: textIn(fields, 2) ?? '',
    owner: textIn(fields, 3),
    lastAccessTime: numberIn(fields, 5) ?? 0,
    retention: numberIn(fields, 6) ?? 0,
    storage: storageIn(fields, 7),
    partitionKeys: structsIn(fields, 8).map((column) => columnOf(column)),
    parameters: textMapIn(fields, 9),
    viewOriginalText: textIn(fields, 10),
    viewExpandedText: textIn(fields, 11),
    tableType: textIn(fields, 12),
    rest: restOf(fields, known.table),
  };
}

export function tableFields(table: Table): ThriftFields {
  return withRest(table.rest, {
    1: text(table.name),
    2: text(table.database),
    3: optionalText(table.owner),
    5: i32(table.lastAccessTime),
    6: i32(table.retention),
    7: table.storage === undefined ? undefined : struct(storageFields(table.storage)),
    8: structs(table.partitionKeys.map((column) => columnFields(column))),
    9: textMap(table.parameters),
    10: optionalText(table.viewOriginalText),
    11: optionalText(table.viewExpandedText),
    12: optionalText(table.tableType),
  });
}

export function partitionOf(fields: ThriftFields): Partition {
  return {
    values: textsIn(fields, 1),
    database: textIn(fields, 2) ?? '',
    table: textIn(fields, 3) ?? '',
    lastAccessTime: numberIn(fields, 5) ?? 0,
    storage: storageIn(fields, 6),
    parameters: textMapIn(fields, 7),
    rest: restOf(fields, known.partition),
  };
}

export function partitionFields(partition: Partition): ThriftFields {
  return withRest(partition.rest, {
    1: texts(partition.values),
    2: text(partition.database),
    3: text(partition.table),
    5: i32(partition.lastAccessTime),
    6: partition.storage === undefined ? undefined : struct(storageFields(partition.storage)),
    7: textMap(partition.parameters),
  });
}

export function databaseOf(fields: ThriftFields): Database {
  return {
    name: textIn(fields, 1) ?? '',
    description: textIn(fields, 2),
    location: textIn(fields, 3),
    parameters: textMapIn(fields, 4),
    rest: restOf(fields, known.database),
  };
}

function databaseFields(database: Database): ThriftFields {
  return withRest(database.rest, {
    1: text(database.name),
    2: optionalText(database.description),
    3: optionalText(database.location),
    4: textMap(database.parameters),
  });
}

/** For a metastore that does not have it yet. */
export function newTableFields(table: Table): ThriftFields {
  return without(tableFields(table), homeBound.table);
}

export function newPartitionFields(partition: Partition): ThriftFields {
  return without(partitionFields(partition), homeBound.partition);
}

export function newDatabaseFields(database: Database): ThriftFields {
  return without(databaseFields(database), homeBound.database);
}

function without(fields: ThriftFields, ids: readonly number[]): ThriftFields {
  return new Map([...fields].filter(([id]) => !ids.includes(id)));
}

function storageIn(parent: ThriftFields, id: number): Storage | undefined {
  const fields = structIn(parent, id);
  if (fields === undefined) return undefined;
  const serde = structIn(fields, 7);
  return {
    columns: structsIn(fields, 1).map((column) => columnOf(column)),
    location: textIn(fields, 2),
    inputFormat: textIn(fields, 3),
    outputFormat: textIn(fields, 4),
    compressed: boolIn(fields, 5) ?? false,
    buckets: numberIn(fields, 6) ?? 0,
    serde: serde === undefined ? undefined : serdeOf(serde),
    bucketColumns: textsIn(fields, 8),
    sortColumns: structsIn(fields, 9).map((order) => ({
      column: textIn(order, 1) ?? '',
      order: numberIn(order, 2) ?? 0,
    })),
    parameters: textMapIn(fields, 10),
    storedAsSubDirectories: boolIn(fields, 12),
    rest: restOf(withoutSkewedLocations(fields), known.storage),
  };
}

function storageFields(storage: Storage): ThriftFields {
  return withRest(storage.rest, {
    1: structs(storage.columns.map((column) => columnFields(column))),
    2: optionalText(storage.location),
    3: optionalText(storage.inputFormat),
    4: optionalText(storage.outputFormat),
    5: bool(storage.compressed),
    6: i32(storage.buckets),
    7: storage.serde === undefined ? undefined : struct(serdeFields(storage.serde)),
    8: texts(storage.bucketColumns),
    9: structs(storage.sortColumns.map(({ column, order }) => fieldsOf({ 1: text(column), 2: i32(order) }))),
    10: textMap(storage.parameters),
    12: storage.storedAsSubDirectories === undefined ? undefined : bool(storage.storedAsSubDirectories),
  });
}

/** Folders of skewed values are found by their names; as addresses they would name the ref they come from. */
function withoutSkewedLocations(storage: ThriftFields): ThriftFields {
  const skewed = structIn(storage, skewedInfo);
  if (skewed === undefined) return storage;
  const fields = new Map(skewed);
  fields.set(skewedLocations, emptyLocations);
  return new Map(storage).set(skewedInfo, struct(fields));
}

const emptyLocations: ThriftValue = { type: 'map', key: 'list', item: 'string', entries: [] };

function columnOf(fields: ThriftFields): Column {
  return {
    name: textIn(fields, 1) ?? '',
    type: textIn(fields, 2) ?? '',
    comment: textIn(fields, 3),
    rest: restOf(fields, known.column),
  };
}

function columnFields(column: Column): ThriftFields {
  return withRest(column.rest, {
    1: text(column.name),
    2: text(column.type),
    3: optionalText(column.comment),
  });
}

function serdeOf(fields: ThriftFields): Serde {
  return {
    name: textIn(fields, 1),
    library: textIn(fields, 2),
    parameters: textMapIn(fields, 3),
    rest: restOf(fields, known.serde),
  };
}

function serdeFields(serde: Serde): ThriftFields {
  return withRest(serde.rest, {
    1: optionalText(serde.name),
    2: optionalText(serde.library),
    3: textMap(serde.parameters),
  });
}

function restOf(fields: ThriftFields, ids: readonly number[]): Rest | undefined {
  const rest = without(fields, ids);
  return rest.size === 0 ? undefined : { kind: 'hive', fields: rest };
}

function withRest(
  rest: Rest | undefined,
  entries: Readonly<Record<number, ThriftValue | undefined>>,
): ThriftFields {
  return new Map([...fieldsOf(entries), ...(rest?.kind === 'hive' ? rest.fields : [])]);
}

function optionalText(value: string | undefined): ThriftValue | undefined {
  return value === undefined ? undefined : text(value);
}
