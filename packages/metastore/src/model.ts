import type { ThriftFields } from './hive/thrift/values.ts';

export type MetastoreKind = 'hive' | 'glue';

/** What a metastore keeps beside what we know of; written back only to a metastore of the same kind. */
export type Rest =
  | { readonly kind: 'hive'; readonly fields: ThriftFields }
  | { readonly kind: 'glue'; readonly fields: Readonly<Record<string, unknown>> };

export type Parameters = Readonly<Record<string, string>>;

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly comment?: string | undefined;
  readonly rest?: Rest | undefined;
}

export interface Serde {
  readonly name?: string | undefined;
  readonly library?: string | undefined;
  readonly parameters: Parameters;
  readonly rest?: Rest | undefined;
}

export interface SortColumn {
  readonly column: string;
  /** 1 is ascending, 0 descending. */
  readonly order: number;
}

/** How and where the rows of a table or partition are stored. */
export interface Storage {
  readonly columns: readonly Column[];
  readonly location?: string | undefined;
  readonly additionalLocations?: readonly string[] | undefined;
  readonly inputFormat?: string | undefined;
  readonly outputFormat?: string | undefined;
  readonly compressed: boolean;
  readonly buckets: number;
  readonly serde?: Serde | undefined;
  readonly bucketColumns: readonly string[];
  readonly sortColumns: readonly SortColumn[];
  readonly parameters: Parameters;
  readonly storedAsSubDirectories?: boolean | undefined;
  readonly rest?: Rest | undefined;
}

export interface Table {
  readonly database: string;
  readonly name: string;
  readonly owner?: string | undefined;
  /** Seconds. */
  readonly lastAccessTime: number;
  readonly retention: number;
  /** A view may have none. */
  readonly storage?: Storage | undefined;
  readonly partitionKeys: readonly Column[];
  readonly parameters: Parameters;
  readonly viewOriginalText?: string | undefined;
  readonly viewExpandedText?: string | undefined;
  readonly tableType?: string | undefined;
  readonly rest?: Rest | undefined;
}

export interface Partition {
  readonly database: string;
  readonly table: string;
  readonly values: readonly string[];
  /** Seconds. */
  readonly lastAccessTime: number;
  readonly storage?: Storage | undefined;
  readonly parameters: Parameters;
  readonly rest?: Rest | undefined;
}

export interface Database {
  readonly name: string;
  readonly description?: string | undefined;
  readonly location?: string | undefined;
  readonly parameters: Parameters;
  readonly rest?: Rest | undefined;
}

/** The name people see; values may hold anything, so it is no key. */
export function partitionName(partition: Pick<Partition, 'values'>): string {
  return partition.values.join('-');
}

export function partitionKey(partition: Pick<Partition, 'values'>): string {
  return JSON.stringify(partition.values);
}
