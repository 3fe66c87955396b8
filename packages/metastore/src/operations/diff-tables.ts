import { MetastoreError } from '../metastore-error.ts';
import { partitionKey, partitionName, type Column, type Table } from '../model.ts';
import { nameOf, type TablePlace } from './copy-table.ts';
import { fingerprint, sameColumn } from './fingerprint.ts';

export interface Differences {
  /** Only in the first. */
  readonly added: string[];
  /** Only in the second. */
  readonly removed: string[];
  readonly changed: string[];
}

export interface TableDifferences {
  readonly columns: Differences;
  readonly partitions: Differences;
}

/** Compares columns and partitions; that they lie elsewhere is no difference. */
export async function diffTables(from: TablePlace, to: TablePlace): Promise<TableDifferences> {
  const [left, right] = [await existing(from), await existing(to)];
  return { columns: diffColumns(left, right), partitions: await diffPartitions(from, to) };
}

async function existing(place: TablePlace): Promise<Table> {
  const table = await place.metastore.getTable(place.database, place.table);
  if (table === undefined) {
    throw new MetastoreError('not-found', `there is no table ${nameOf(place)} in ${place.metastore.label}`);
  }
  return table;
}

function diffColumns(left: Table, right: Table): Differences {
  const other = new Map(columnsOf(right).map((column) => [column.name, column]));
  const differences: Differences = { added: [], removed: [], changed: [] };
  for (const column of columnsOf(left)) {
    const match = other.get(column.name);
    other.delete(column.name);
    if (match === undefined) differences.added.push(column.name);
    else if (!sameColumn(column, match)) differences.changed.push(column.name);
  }
  differences.removed.push(...other.keys());
  return differences;
}

function columnsOf({ storage, partitionKeys }: Table): Column[] {
  return [...(storage?.columns ?? []), ...partitionKeys];
}

async function diffPartitions(from: TablePlace, to: TablePlace): Promise<Differences> {
  const other = new Map<string, { name: string; print: string }>();
  for await (const batch of to.metastore.partitions(to.database, to.table)) {
    for (const partition of batch) {
      const print = fingerprint(partition, 'apart from location');
      other.set(partitionKey(partition), { name: partitionName(partition), print });
    }
  }
  const differences: Differences = { added: [], removed: [], changed: [] };
  for await (const batch of from.metastore.partitions(from.database, from.table)) {
    for (const partition of batch) {
      const key = partitionKey(partition);
      const match = other.get(key);
      other.delete(key);
      if (match === undefined) differences.added.push(partitionName(partition));
      else if (match.print !== fingerprint(partition, 'apart from location')) {
        differences.changed.push(partitionName(partition));
      }
    }
  }
  differences.removed.push(...[...other.values()].map(({ name }) => name));
  return differences;
}
