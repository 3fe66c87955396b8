import { escapeIdentifier, type Pool, type QueryArrayConfig } from 'pg';
import {
  ownChange,
  ownRecords,
  requireEntry,
  requireGetMany,
  requireKey,
  requireKeyLength,
  requireKeys,
  requirePartition,
} from '../arguments.ts';
import { KvError } from '../errors.ts';
import { scanPages, scanRange, type ScanPage } from '../scan-pages.ts';
import type {
  KvCondition,
  KvEntry,
  KvExpectation,
  KvGuard,
  KvPredicate,
  KvRecord,
  KvScanOptions,
  KvStore,
  KvValue,
  KvWrite,
} from '../store.ts';
import { predicateValue, valuePredicate } from '../value-predicate.ts';
import { planChange } from './postgres/change-statement.ts';
import { parseConnectionString } from './postgres/connection-string.ts';
import { databaseError } from './postgres/database-error.ts';
import { openPool, type PoolOptions } from './postgres/pool.ts';

/** What an index row of PostgreSQL holds, less its own overhead. */
const maxPartitionAndKeyLength = 2600;
const bulkBatch = 1000;

export interface PostgresStoreOptions extends PoolOptions {
  readonly connectionString: string;
  readonly scanPageSize: number;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<KvStore> {
  const address = parseConnectionString(options.connectionString);
  return new PostgresStore(await openPool(address, options), address.table, options.scanPageSize);
}

/** Named, so that the server plans each of them once per connection. */
interface Statement {
  readonly name: string;
  readonly text: string;
}

type ParameterValue = Uint8Array | number | readonly Uint8Array[];

interface QueryRows {
  readonly rows: Buffer[][];
  readonly rowCount: number | null;
}

type StatementName =
  | 'get'
  | 'set'
  | 'create'
  | 'update'
  | 'replace'
  | 'delete'
  | 'deleteUnchanged'
  | 'getMany'
  | 'setMany'
  | 'deleteMany'
  | 'scan'
  | 'scanRange'
  | 'nextPartition';

class PostgresStore implements KvStore {
  readonly type = 'postgres';
  readonly #pool: Pool;
  readonly #table: string;
  readonly #statements: Readonly<Record<StatementName, Statement>>;
  readonly #page: number;
  #closing: Promise<void> | undefined;

  constructor(pool: Pool, table: string, page: number) {
    this.#pool = pool;
    this.#table = escapeIdentifier(table);
    this.#statements = statements(this.#table);
    this.#page = page;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    requireKey(partition, key);
    const { rows } = await this.#run('get', [partition, key]);
    const value = rows[0]?.[0];
    return value && { value, predicate: valuePredicate(Buffer.from(value)) };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    await this.#run('set', [partition, key, value]);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    if (condition === 'absent') return this.#changes('create', [partition, key, value]);
    if (condition === 'present') return this.#changes('update', [partition, key, value]);
    const expected = predicateValue(condition);
    return expected !== undefined && this.#changes('replace', [partition, key, value, expected]);
  }

  async change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean> {
    const owned = ownChange(partition, guard, writes, still, (key) => requireFitting(partition, key));
    const planned = planChange(this.#table, owned);
    return planned !== undefined && (await this.#query(planned, planned.values)).rows.length === 1;
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    requireGetMany(partition, keys);
    if (keys.length === 0) return [];
    const { rows } = await this.#run('getMany', [partition, keys]);
    return (rows as (Buffer | null)[][]).map(([value]) =>
      value ? { value, predicate: valuePredicate(Buffer.from(value)) } : undefined,
    );
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    const owned = ownRecords(partition, records, (key) => requireFitting(partition, key));
    const owner = Buffer.from(partition);
    for (let start = 0; start < owned.length; start += bulkBatch) {
      const batch = owned.slice(start, start + bulkBatch);
      await this.#run('setMany', [owner, batch.map(({ key }) => key), batch.map(({ value }) => value)]);
    }
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    requireKeys(partition, keys);
    const owner = Buffer.from(partition);
    const owned = keys.map((key) => Buffer.from(key)).toSorted((a, b) => Buffer.compare(a, b));
    for (let start = 0; start < owned.length; start += bulkBatch) {
      await this.#run('deleteMany', [owner, owned.slice(start, start + bulkBatch)]);
    }
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxPartitionAndKeyLength - partition.length;
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    requireKey(partition, key);
    await this.#run('delete', [partition, key]);
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    requireKey(partition, key);
    const expected = predicateValue(predicate);
    return expected !== undefined && this.#changes('deleteUnchanged', [partition, key, expected]);
  }

  async *scan(
    partition: Uint8Array,
    options: KvScanOptions = {},
  ): AsyncGenerator<KvEntry[], void, undefined> {
    requirePartition(partition);
    const owned = Buffer.from(partition);
    yield* scanPages(scanRange(options), options.batch, this.#page, (lower, upper, limit) =>
      this.#readPage(owned, lower, upper, limit),
    );
  }

  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    let last = Buffer.alloc(0);
    for (;;) {
      const { rows } = await this.#run('nextPartition', [last]);
      const name = rows[0]?.[0];
      if (name === undefined) return;
      last = Buffer.from(name);
      yield name;
    }
  }

  readonly connectionsInUse = (): number => this.#pool.totalCount - this.#pool.idleCount;

  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  async #readPage(
    partition: Buffer,
    lower: Buffer,
    upper: Buffer | undefined,
    limit: number,
  ): Promise<ScanPage> {
    const { rows } =
      upper === undefined
        ? await this.#run('scan', [partition, lower, limit])
        : await this.#run('scanRange', [partition, lower, limit, upper]);
    const entries: KvEntry[] = [];
    for (const row of rows) entries.push({ key: row[0] ?? nothing, value: row[1] ?? nothing });
    return { entries, last: rows.length < limit };
  }

  async #changes(name: StatementName, values: readonly Uint8Array[]): Promise<boolean> {
    return (await this.#run(name, values)).rowCount === 1;
  }

  #run(name: StatementName, values: readonly ParameterValue[]): Promise<QueryRows> {
    return this.#query(this.#statements[name], values);
  }

  async #query(statement: Statement, values: readonly ParameterValue[]): Promise<QueryRows> {
    if (this.#closing !== undefined) throw new KvError('closed', 'the postgres key-value store is closed');
    const query: QueryArrayConfig & { binary: true } = {
      name: statement.name,
      text: statement.text,
      // pg sends later when every connection is busy; the caller may have changed its buffers by then.
      values: values.map(ownParameter),
      rowMode: 'array',
      binary: true,
    };
    try {
      return await this.#pool.query<Buffer[]>(query);
    } catch (error) {
      throw databaseError(error);
    }
  }
}

const nothing = Buffer.alloc(0);

function ownParameter(value: ParameterValue): Buffer | number | Buffer[] {
  if (typeof value === 'number') return value;
  return value instanceof Uint8Array ? Buffer.from(value) : value.map((each) => Buffer.from(each));
}

function requireFitting(partition: Uint8Array, key: Uint8Array): void {
  requireKeyLength(partition, key, maxPartitionAndKeyLength, 'postgres');
}

function statements(name: string): Record<StatementName, Statement> {
  const entry = 'partition_key = $1 AND key = $2';
  const insert = `INSERT INTO ${name} (partition_key, key, value) VALUES ($1, $2, $3) ON CONFLICT (partition_key, key) DO`;
  const page = `SELECT key, value FROM ${name} WHERE partition_key = $1 AND key >= $2`;
  const texts: Record<StatementName, string> = {
    get: `SELECT value FROM ${name} WHERE ${entry}`,
    set: `${insert} UPDATE SET value = EXCLUDED.value`,
    create: `${insert} NOTHING`,
    update: `UPDATE ${name} SET value = $3 WHERE ${entry}`,
    replace: `UPDATE ${name} SET value = $3 WHERE ${entry} AND value = $4`,
    delete: `DELETE FROM ${name} WHERE ${entry}`,
    deleteUnchanged: `DELETE FROM ${name} WHERE ${entry} AND value = $3`,
    getMany: `SELECT found.value FROM unnest($2::bytea[]) WITH ORDINALITY AS asked (key, place) LEFT JOIN ${name} AS found ON found.partition_key = $1 AND found.key = asked.key ORDER BY asked.place`,
    setMany: `INSERT INTO ${name} (partition_key, key, value) SELECT $1::bytea, * FROM unnest($2::bytea[], $3::bytea[]) ON CONFLICT (partition_key, key) DO UPDATE SET value = EXCLUDED.value`,
    deleteMany: `DELETE FROM ${name} WHERE partition_key = $1 AND key = ANY($2::bytea[])`,
    scan: `${page} ORDER BY key LIMIT $3`,
    scanRange: `${page} AND key < $4 ORDER BY key LIMIT $3`,
    nextPartition: `SELECT partition_key FROM ${name} WHERE partition_key > $1 ORDER BY partition_key LIMIT 1`,
  };
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, { name: `kv_${key}`, text }]),
  ) as Record<StatementName, Statement>;
}
