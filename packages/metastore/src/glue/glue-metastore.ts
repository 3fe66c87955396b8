import { MetastoreError } from '../metastore-error.ts';
import type { Metastore } from '../metastore.ts';
import { partitionName, type Database, type Partition, type Table } from '../model.ts';
import { GlueClient, type GlueAccount, type Json } from './glue-client.ts';
import {
  databaseInput,
  databaseOf,
  list,
  partitionInput,
  partitionOf,
  tableInput,
  tableOf,
  text,
} from './shapes.ts';

const listPage = 100;
const partitionPage = 1000;

/** The Glue Data Catalog of an AWS account. */
export class GlueMetastore implements Metastore {
  readonly kind = 'glue';
  readonly label: string;
  readonly batches = { add: 100, alter: 1 };
  readonly #client: GlueClient;

  constructor(account: GlueAccount) {
    this.#client = new GlueClient(account);
    this.label = this.#client.label;
  }

  async listDatabases(pattern: string): Promise<string[]> {
    const matches = wholeName(pattern);
    const names: string[] = [];
    for await (const page of this.#client.pages('GetDatabases', { MaxResults: listPage })) {
      names.push(...list(page['DatabaseList']).flatMap(({ Name }) => text(Name) ?? []));
    }
    return names.filter((name) => matches.test(name));
  }

  async getDatabase(name: string): Promise<Database | undefined> {
    return optional(await this.#orAbsent('GetDatabase', { Name: name }), 'Database', databaseOf);
  }

  async createDatabase(database: Database): Promise<void> {
    await this.#client.call('CreateDatabase', { DatabaseInput: databaseInput(database) });
  }

  async listTables(database: string, pattern: string): Promise<string[]> {
    const matches = wholeName(pattern);
    const names: string[] = [];
    const input = { DatabaseName: database, Expression: pattern, MaxResults: listPage };
    for await (const page of this.#client.pages('GetTables', input)) {
      names.push(...list(page['TableList']).flatMap(({ Name }) => text(Name) ?? []));
    }
    // Glue does not say whether it wants the whole name to match.
    return names.filter((name) => matches.test(name));
  }

  async getTable(database: string, name: string): Promise<Table | undefined> {
    const answer = await this.#orAbsent('GetTable', { DatabaseName: database, Name: name });
    return optional(answer, 'Table', tableOf);
  }

  async createTable(table: Table): Promise<void> {
    await this.#client.call('CreateTable', { DatabaseName: table.database, TableInput: tableInput(table) });
  }

  async alterTable(table: Table): Promise<void> {
    await this.#client.call('UpdateTable', {
      DatabaseName: table.database,
      TableInput: tableInput(table),
      SkipArchive: false,
    });
  }

  async *partitions(database: string, table: string): AsyncGenerator<Partition[]> {
    const input = { DatabaseName: database, TableName: table, MaxResults: partitionPage };
    for await (const page of this.#client.pages('GetPartitions', input)) {
      const partitions = list(page['Partitions']).map((partition) => partitionOf(partition));
      if (partitions.length > 0) yield partitions;
    }
  }

  async getPartition(
    database: string,
    table: string,
    values: readonly string[],
  ): Promise<Partition | undefined> {
    const input = { DatabaseName: database, TableName: table, PartitionValues: values };
    return optional(await this.#orAbsent('GetPartition', input), 'Partition', partitionOf);
  }

  async addPartitions(partitions: readonly Partition[]): Promise<void> {
    const [first] = partitions;
    if (first === undefined) return;
    const answer = await this.#client.call('BatchCreatePartition', {
      DatabaseName: first.database,
      TableName: first.table,
      PartitionInputList: partitions.map((partition) => partitionInput(partition)),
    });
    this.#checkBatch(first, partitions.length, list(answer['Errors']));
  }

  /** Glue takes some partitions of a batch and refuses others, with a status of success. */
  #checkBatch({ database, table }: Partition, size: number, errors: readonly Json[]): void {
    if (errors.length === 0) return;
    const lines = errors.map((error) => {
      const values = Array.isArray(error['PartitionValues']) ? (error['PartitionValues'] as string[]) : [];
      const detail = (error['ErrorDetail'] ?? {}) as Json;
      const said = [text(detail['ErrorCode']), text(detail['ErrorMessage'])].filter(
        (part) => part !== undefined,
      );
      return `${partitionName({ values })}: ${said.join(': ')}`;
    });
    throw new MetastoreError(
      'failed',
      `${this.label} refused ${errors.length} of ${size} partitions of ${database}.${table}: ${lines.join('; ')}`,
    );
  }

  async alterPartitions(partitions: readonly Partition[]): Promise<void> {
    for (const partition of partitions) {
      await this.#client.call('UpdatePartition', {
        DatabaseName: partition.database,
        TableName: partition.table,
        PartitionValueList: partition.values,
        PartitionInput: partitionInput(partition),
      });
    }
  }

  async dropPartition({ database, table, values }: Partition): Promise<void> {
    await this.#client.call('DeletePartition', {
      DatabaseName: database,
      TableName: table,
      PartitionValues: values,
    });
  }

  close(): void {
    // Nothing is held between calls.
  }

  async #orAbsent(operation: string, input: Json): Promise<Json | undefined> {
    try {
      return await this.#client.call(operation, input);
    } catch (error) {
      if (error instanceof MetastoreError && error.kind === 'not-found') return undefined;
      throw error;
    }
  }
}

function wholeName(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch (error) {
    throw new MetastoreError('invalid', error instanceof Error ? error.message : String(error));
  }
}

function optional<T>(answer: Json | undefined, name: string, read: (json: Json) => T): T | undefined {
  const found = answer?.[name];
  return typeof found === 'object' && found !== null ? read(found as Json) : undefined;
}
