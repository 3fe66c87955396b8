// Shapes of the Glue API: what it answers on the left, what it takes on the right.
import type { Column, Database, Parameters, Partition, Rest, Serde, Storage, Table } from '../model.ts';
import type { Json } from './glue-client.ts';

/** Fields that Glue takes and we only pass on. Answers have more, which it would refuse. */
const passedOn = {
  table: ['Description', 'LastAnalyzedTime', 'TargetTable'],
  partition: ['LastAnalyzedTime'],
  database: ['CreateTableDefaultPermissions', 'TargetDatabase'],
};
const known = {
  column: ['Name', 'Type', 'Comment'],
  serde: ['Name', 'SerializationLibrary', 'Parameters'],
  storage: [
    'Columns',
    'Location',
    'AdditionalLocations',
    'InputFormat',
    'OutputFormat',
    'Compressed',
    'NumberOfBuckets',
    'SerdeInfo',
    'BucketColumns',
    'SortColumns',
    'Parameters',
    'StoredAsSubDirectories',
  ],
};

export function tableOf(json: Json): Table {
  return {
    database: text(json['DatabaseName']) ?? '',
    name: text(json['Name']) ?? '',
    owner: text(json['Owner']),
    lastAccessTime: seconds(json['LastAccessTime']),
    retention: number(json['Retention']),
    storage: storageOf(json['StorageDescriptor']),
    partitionKeys: list(json['PartitionKeys']).map((column) => columnOf(column)),
    parameters: parametersOf(json['Parameters']),
    viewOriginalText: text(json['ViewOriginalText']),
    viewExpandedText: text(json['ViewExpandedText']),
    tableType: text(json['TableType']),
    rest: restOf(json, (name) => passedOn.table.includes(name)),
  };
}

export function tableInput(table: Table): Json {
  return inputOf(table.rest, {
    Name: table.name,
    Owner: filled(table.owner),
    LastAccessTime: table.lastAccessTime === 0 ? undefined : table.lastAccessTime,
    Retention: table.retention,
    StorageDescriptor: table.storage === undefined ? undefined : storageInput(table.storage),
    PartitionKeys: table.partitionKeys.map((column) => columnInput(column)),
    Parameters: table.parameters,
    ViewOriginalText: table.viewOriginalText,
    ViewExpandedText: table.viewExpandedText,
    TableType: filled(table.tableType),
  });
}

export function partitionOf(json: Json): Partition {
  return {
    database: text(json['DatabaseName']) ?? '',
    table: text(json['TableName']) ?? '',
    values: texts(json['Values']),
    lastAccessTime: seconds(json['LastAccessTime']),
    storage: storageOf(json['StorageDescriptor']),
    parameters: parametersOf(json['Parameters']),
    rest: restOf(json, (name) => passedOn.partition.includes(name)),
  };
}

export function partitionInput(partition: Partition): Json {
  return inputOf(partition.rest, {
    Values: partition.values,
    LastAccessTime: partition.lastAccessTime === 0 ? undefined : partition.lastAccessTime,
    StorageDescriptor: partition.storage === undefined ? undefined : storageInput(partition.storage),
    Parameters: partition.parameters,
  });
}

export function databaseOf(json: Json): Database {
  return {
    name: text(json['Name']) ?? '',
    description: text(json['Description']),
    location: text(json['LocationUri']),
    parameters: parametersOf(json['Parameters']),
    rest: restOf(json, (name) => passedOn.database.includes(name)),
  };
}

export function databaseInput(database: Database): Json {
  return inputOf(database.rest, {
    Name: database.name,
    Description: filled(database.description),
    LocationUri: filled(database.location),
    Parameters: database.parameters,
  });
}

function storageOf(value: unknown): Storage | undefined {
  if (!isJson(value)) return undefined;
  const additional = texts(value['AdditionalLocations']);
  return {
    columns: list(value['Columns']).map((column) => columnOf(column)),
    location: text(value['Location']),
    additionalLocations: additional.length === 0 ? undefined : additional,
    inputFormat: text(value['InputFormat']),
    outputFormat: text(value['OutputFormat']),
    compressed: value['Compressed'] === true,
    buckets: number(value['NumberOfBuckets']),
    serde: serdeOf(value['SerdeInfo']),
    bucketColumns: texts(value['BucketColumns']),
    sortColumns: list(value['SortColumns']).map((sort) => ({
      column: text(sort['Column']) ?? '',
      order: number(sort['SortOrder']),
    })),
    parameters: parametersOf(value['Parameters']),
    storedAsSubDirectories:
      typeof value['StoredAsSubDirectories'] === 'boolean' ? value['StoredAsSubDirectories'] : undefined,
    rest: restOf(withoutSkewedLocations(value), (name) => !known.storage.includes(name)),
  };
}

function storageInput(storage: Storage): Json {
  return inputOf(storage.rest, {
    Columns: storage.columns.map((column) => columnInput(column)),
    Location: filled(storage.location),
    AdditionalLocations: storage.additionalLocations,
    InputFormat: filled(storage.inputFormat),
    OutputFormat: filled(storage.outputFormat),
    Compressed: storage.compressed,
    NumberOfBuckets: storage.buckets,
    SerdeInfo: storage.serde === undefined ? undefined : serdeInput(storage.serde),
    BucketColumns: storage.bucketColumns,
    SortColumns: storage.sortColumns.map(({ column, order }) => ({ Column: column, SortOrder: order })),
    Parameters: storage.parameters,
    StoredAsSubDirectories: storage.storedAsSubDirectories,
  });
}

/** Folders of skewed values are found by their names; as addresses they would name the ref they come from. */
function withoutSkewedLocations(storage: Json): Json {
  const skewed = storage['SkewedInfo'];
  if (!isJson(skewed)) return storage;
  const { SkewedColumnValueLocationMaps: _locations, ...rest } = skewed;
  return { ...storage, SkewedInfo: rest };
}

function serdeOf(value: unknown): Serde | undefined {
  if (!isJson(value)) return undefined;
  return {
    name: text(value['Name']),
    library: text(value['SerializationLibrary']),
    parameters: parametersOf(value['Parameters']),
    rest: restOf(value, (name) => !known.serde.includes(name)),
  };
}

function serdeInput(serde: Serde): Json {
  return inputOf(serde.rest, {
    // Glue refuses an empty name.
    Name: filled(serde.name) ?? 'default',
    SerializationLibrary: filled(serde.library),
    Parameters: serde.parameters,
  });
}

function columnOf(value: Json): Column {
  return {
    name: text(value['Name']) ?? '',
    type: text(value['Type']) ?? '',
    comment: text(value['Comment']),
    rest: restOf(value, (name) => !known.column.includes(name)),
  };
}

function columnInput(column: Column): Json {
  return inputOf(column.rest, { Name: column.name, Type: column.type, Comment: column.comment });
}

function restOf(json: Json, isPassedOn: (name: string) => boolean): Rest | undefined {
  const fields = Object.fromEntries(Object.entries(json).filter(([name]) => isPassedOn(name)));
  return Object.keys(fields).length === 0 ? undefined : { kind: 'glue', fields };
}

function inputOf(rest: Rest | undefined, fields: Json): Json {
  return { ...fields, ...(rest?.kind === 'glue' ? rest.fields : {}) };
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((item) => isJson(item)) : [];
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function seconds(value: unknown): number {
  return Math.floor(number(value));
}

function parametersOf(value: unknown): Parameters {
  const pairs = Object.entries(isJson(value) ? value : {}).filter(([, item]) => typeof item === 'string');
  return Object.fromEntries(pairs) as Parameters;
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
