import { MetastoreError } from '../metastore-error.ts';
import type { Metastore } from '../metastore.ts';
import { partitionKey, type Partition, type Rest, type Table } from '../model.ts';
import { fingerprint } from './fingerprint.ts';
import { rewritePartition, rewriteTable, type TableRewrite } from './rewrite-table.ts';

export interface TablePlace {
  readonly metastore: Metastore;
  readonly database: string;
  readonly table: string;
}

export interface CopyRequest {
  readonly from: TablePlace;
  readonly to: TablePlace;
  readonly rewrite: Omit<TableRewrite, 'database' | 'table'>;
  /** Finds out what would be done. */
  readonly dryRun: boolean;
  /** The schema to copy to is known to hold nothing yet. */
  readonly targetIsNew?: boolean | undefined;
  readonly onProgress?: ((done: CopyOutcome) => void) | undefined;
}

export interface CopyOutcome {
  table: 'created' | 'altered' | 'kept';
  readonly partitions: { added: number; altered: number; dropped: number; unchanged: number };
}

/** Creates the table with all its partitions, or makes an existing one and its partitions the same. */
export async function copyTable(request: CopyRequest): Promise<CopyOutcome> {
  const { from, to } = request;
  const source = await sourceTable(from);
  const target = rewriteTable(source, rewriteOf(request));
  const existing = request.targetIsNew === true ? undefined : await targetTable(to);
  return await counted(request, async (outcome, write) => {
    if (existing === undefined) await write(() => to.metastore.createTable(target));
    else await write(() => to.metastore.alterTable({ ...target, rest: existing.rest }));
    outcome.table = existing === undefined ? 'created' : 'altered';
    if (source.partitionKeys.length === 0) return;
    await copyPartitions(request, source, existing, outcome, write);
  });
}

/** Adds or alters one partition of a table that is there. */
export async function copyPartition(request: CopyRequest, values: readonly string[]): Promise<CopyOutcome> {
  const { from, to } = request;
  const source = await sourceTable(from);
  if (values.length !== source.partitionKeys.length) {
    const keys = source.partitionKeys.map(({ name }) => name);
    throw new MetastoreError(
      'invalid',
      `a partition of ${nameOf(from)} has ${keys.length} values (${keys.join(', ')}), not ${values.length}`,
    );
  }
  const partition = await from.metastore.getPartition(from.database, from.table, values);
  if (partition === undefined) {
    throw new MetastoreError('not-found', `${nameOf(from)} has no partition ${values.join('-')}`);
  }
  if ((await targetTable(to)) === undefined) {
    throw new MetastoreError('not-found', `table ${nameOf(to)} is not there: copy the whole table first`);
  }
  const target = rewritePartition(partition, source, rewriteOf(request));
  const existing = await to.metastore.getPartition(to.database, to.table, values);
  return await counted(request, async ({ partitions }, write) => {
    if (existing === undefined) await write(() => to.metastore.addPartitions([target]));
    else await write(() => to.metastore.alterPartitions([{ ...target, rest: existing.rest }]));
    if (existing === undefined) partitions.added += 1;
    else partitions.altered += 1;
  });
}

type Write = (change: () => Promise<void>) => Promise<void>;

async function copyPartitions(
  request: CopyRequest,
  source: Table,
  existing: Table | undefined,
  outcome: CopyOutcome,
  write: Write,
): Promise<void> {
  const { from, to, onProgress } = request;
  const rewrite = rewriteOf(request);
  const { partitions: counts } = outcome;
  const there = existing === undefined ? new Map<string, Known>() : await knownPartitions(to);
  for await (const batch of from.metastore.partitions(from.database, from.table)) {
    const toAdd: Partition[] = [];
    const toAlter: Partition[] = [];
    for (const partition of batch) {
      const target = rewritePartition(partition, source, rewrite);
      const key = partitionKey(partition);
      const known = there.get(key);
      there.delete(key);
      if (known === undefined) toAdd.push(target);
      else if (known.fingerprint === fingerprint(target, 'whole')) counts.unchanged += 1;
      else toAlter.push({ ...target, rest: known.rest });
    }
    for (const part of slices(toAdd, to.metastore.batches.add)) {
      await write(() => to.metastore.addPartitions(part));
      counts.added += part.length;
      onProgress?.(outcome);
    }
    for (const part of slices(toAlter, to.metastore.batches.alter)) {
      await write(() => to.metastore.alterPartitions(part));
      counts.altered += part.length;
      onProgress?.(outcome);
    }
  }
  for (const { values } of there.values()) {
    const gone = { database: to.database, table: to.table, values, lastAccessTime: 0, parameters: {} };
    await write(() => to.metastore.dropPartition(gone));
    counts.dropped += 1;
    onProgress?.(outcome);
  }
}

interface Known {
  readonly values: readonly string[];
  readonly fingerprint: string;
  readonly rest: Rest | undefined;
}

/** What must be remembered of the partitions that are there: not all of each, there may be very many. */
async function knownPartitions({ metastore, database, table }: TablePlace): Promise<Map<string, Known>> {
  const known = new Map<string, Known>();
  for await (const batch of metastore.partitions(database, table)) {
    for (const partition of batch) {
      const { values, rest } = partition;
      known.set(partitionKey(partition), { values, rest, fingerprint: fingerprint(partition, 'whole') });
    }
  }
  return known;
}

/** Runs the changes and counts them. A failure says what was done before it. */
async function counted(
  { to, dryRun }: CopyRequest,
  work: (outcome: CopyOutcome, write: Write) => Promise<void>,
): Promise<CopyOutcome> {
  const outcome: CopyOutcome = {
    table: 'kept',
    partitions: { added: 0, altered: 0, dropped: 0, unchanged: 0 },
  };
  try {
    await work(outcome, async (change) => {
      if (!dryRun) await change();
    });
  } catch (error) {
    const done = describeOutcome(outcome);
    if (!(error instanceof MetastoreError) || done === '' || dryRun) throw error;
    throw new MetastoreError(
      error.kind,
      `${error.message}\nBefore this ${nameOf(to)} was changed: ${done}. Run the command again to finish.`,
      { cause: error },
    );
  }
  return outcome;
}

/** `table created, 3 partitions added`; empty when nothing was done. */
export function describeOutcome({ table, partitions }: CopyOutcome): string {
  const parts = table === 'kept' ? [] : [`table ${table}`];
  for (const what of ['added', 'altered', 'dropped'] as const) {
    const count = partitions[what];
    if (count > 0) parts.push(`${count} partition${count === 1 ? '' : 's'} ${what}`);
  }
  return parts.join(', ');
}

async function sourceTable(from: TablePlace): Promise<Table> {
  const table = await from.metastore.getTable(from.database, from.table);
  if (table === undefined) {
    throw new MetastoreError('not-found', `there is no table ${nameOf(from)} in ${from.metastore.label}`);
  }
  return table;
}

async function targetTable(to: TablePlace): Promise<Table | undefined> {
  const table = await to.metastore.getTable(to.database, to.table);
  if (table === undefined && (await to.metastore.getDatabase(to.database)) === undefined) {
    throw new MetastoreError(
      'not-found',
      `there is no schema ${to.database} in ${to.metastore.label}: make it with "svcctl metastore copy-schema"`,
    );
  }
  return table;
}

function rewriteOf({ to, rewrite }: CopyRequest): TableRewrite {
  return { ...rewrite, database: to.database, table: to.table };
}

export function nameOf({ database, table }: Pick<TablePlace, 'database' | 'table'>): string {
  return `${database}.${table}`;
}

function* slices<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
