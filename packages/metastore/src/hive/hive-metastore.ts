import { MetastoreError, type MetastoreErrorKind } from '../metastore-error.ts';
import type { Metastore } from '../metastore.ts';
import type { Database, Partition, Table } from '../model.ts';
import {
  databaseOf,
  newDatabaseFields,
  newPartitionFields,
  newTableFields,
  partitionFields,
  partitionOf,
  tableFields,
  tableOf,
} from './structs.ts';
import {
  parseHiveAddress,
  ThriftConnection,
  UnknownMethodError,
  type HiveConnecting,
} from './thrift/connection.ts';
import {
  bool,
  fieldsOf,
  i16,
  struct,
  structIn,
  structs,
  structsIn,
  text,
  textIn,
  texts,
  textsIn,
  type ThriftFields,
  type ThriftValue,
} from './thrift/values.ts';

/** Metastores look up so many partitions in a blink, and their answer is a few megabytes. */
const batchSize = 500;

type Refusal = readonly [kind: MetastoreErrorKind, name: string];

const meta: Refusal = ['failed', 'MetaException'];
const missing: Refusal = ['not-found', 'NoSuchObjectException'];
const existing: Refusal = ['exists', 'AlreadyExistsException'];
const invalidObject: Refusal = ['invalid', 'InvalidObjectException'];
const invalidOperation: Refusal = ['invalid', 'InvalidOperationException'];

/** The exceptions that each method declares, from field 1 on. */
const methods = {
  get_databases: [meta],
  get_database: [missing, meta],
  create_database: [existing, invalidObject, meta],
  get_tables: [meta],
  get_table: [meta, missing],
  get_table_req: [meta, missing],
  create_table: [existing, invalidObject, meta, missing],
  alter_table: [invalidOperation, meta],
  get_partition_names: [missing, meta],
  get_partitions_by_names: [meta, missing],
  get_partition: [meta, missing],
  add_partitions: [invalidObject, existing, meta],
  alter_partitions: [invalidOperation, meta],
  drop_partition: [missing, meta],
} as const satisfies Record<string, readonly Refusal[]>;

/** A Hive metastore, spoken to in Thrift. */
export class HiveMetastore implements Metastore {
  readonly kind = 'hive';
  readonly label: string;
  readonly batches = { add: batchSize, alter: batchSize };
  readonly #connection: ThriftConnection;

  constructor(address: string, connecting?: HiveConnecting) {
    this.#connection = new ThriftConnection(parseHiveAddress(address), connecting);
    this.label = this.#connection.label;
  }

  async listDatabases(pattern: string): Promise<string[]> {
    return textsIn(await this.#call('get_databases', { 1: text(pattern) }), 0);
  }

  async getDatabase(name: string): Promise<Database | undefined> {
    const found = await orAbsent(this.#call('get_database', { 1: text(name) }));
    return optional(found, databaseOf);
  }

  async createDatabase(database: Database): Promise<void> {
    await this.#call('create_database', { 1: struct(newDatabaseFields(database)) });
  }

  async listTables(database: string, pattern: string): Promise<string[]> {
    return textsIn(await this.#call('get_tables', { 1: text(database), 2: text(pattern) }), 0);
  }

  async getTable(database: string, name: string): Promise<Table | undefined> {
    const request = { 1: text(database), 2: text(name) };
    try {
      return optional(await orAbsent(this.#call('get_table', request)), tableOf);
    } catch (error) {
      if (!(error instanceof UnknownMethodError)) throw error;
      // Hive 4 has only this one.
      const answer = await orAbsent(this.#call('get_table_req', { 1: struct(fieldsOf(request)) }));
      const result = answer === undefined ? undefined : structIn(answer, 0);
      const table = result === undefined ? undefined : structIn(result, 1);
      return table === undefined ? undefined : tableOf(table);
    }
  }

  async createTable(table: Table): Promise<void> {
    await this.#call('create_table', { 1: struct(newTableFields(table)) });
  }

  async alterTable(table: Table): Promise<void> {
    await this.#call('alter_table', {
      1: text(table.database),
      2: text(table.name),
      3: struct(tableFields(table)),
    });
  }

  async *partitions(database: string, table: string): AsyncGenerator<Partition[]> {
    const place = { 1: text(database), 2: text(table) };
    const names = textsIn(await this.#call('get_partition_names', { ...place, 3: i16(-1) }), 0);
    for (let at = 0; at < names.length; at += batchSize) {
      const batch = texts(names.slice(at, at + batchSize));
      const answer = await this.#call('get_partitions_by_names', { ...place, 3: batch });
      yield structsIn(answer, 0).map((fields) => partitionOf(fields));
    }
  }

  async getPartition(
    database: string,
    table: string,
    values: readonly string[],
  ): Promise<Partition | undefined> {
    const request = { 1: text(database), 2: text(table), 3: texts(values) };
    return optional(await orAbsent(this.#call('get_partition', request)), partitionOf);
  }

  async addPartitions(partitions: readonly Partition[]): Promise<void> {
    await this.#call('add_partitions', {
      1: structs(partitions.map((partition) => newPartitionFields(partition))),
    });
  }

  async alterPartitions(partitions: readonly Partition[]): Promise<void> {
    const [first] = partitions;
    if (first === undefined) return;
    await this.#call('alter_partitions', {
      1: text(first.database),
      2: text(first.table),
      3: structs(partitions.map((partition) => partitionFields(partition))),
    });
  }

  async dropPartition({ database, table, values }: Partition): Promise<void> {
    const keepData = bool(false);
    await this.#call('drop_partition', { 1: text(database), 2: text(table), 3: texts(values), 4: keepData });
  }

  close(): void {
    this.#connection.close();
  }

  async #call(
    method: keyof typeof methods,
    fields: Readonly<Record<number, ThriftValue>>,
  ): Promise<ThriftFields> {
    const answer = await this.#connection.call(method, fieldsOf(fields));
    const declared: readonly Refusal[] = methods[method];
    for (const [id, value] of answer) {
      if (id === 0 || value.type !== 'struct') continue;
      const [kind, name] = declared[id - 1] ?? meta;
      const said = textIn(value.fields, 1) ?? '';
      throw new MetastoreError(kind, `${this.label} refused ${method}: ${said === '' ? name : said}`);
    }
    return answer;
  }
}

async function orAbsent(call: Promise<ThriftFields>): Promise<ThriftFields | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof MetastoreError && error.kind === 'not-found') return undefined;
    throw error;
  }
}

function optional<T>(answer: ThriftFields | undefined, read: (fields: ThriftFields) => T): T | undefined {
  const found = answer === undefined ? undefined : structIn(answer, 0);
  return found === undefined ? undefined : read(found);
}
