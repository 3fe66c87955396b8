import { escapeIdentifier, type Pool, type QueryArrayConfig } from 'pg';
import { requireEntry, requireKey, requirePartition } from '../arguments.ts';
import { KvError } from '../errors.ts';
import { scanPages, scanRange, type ScanPage } from '../scan-pages.ts';
import type {
  KvCondition,
  KvEntry,
  KvPredicate,
  KvRecord,
  KvScanOptions,
  KvStore,
  KvValue,
} from '../store.ts';
import { predicateValue, valuePredicate } from '../value-predicate.ts';
import { parseConnectionString } from './postgres/connection-string.ts';
import { databaseError } from './postgres/database-error.ts';
import { openPool, type PoolOptions } from './postgres/pool.ts';

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

type StatementName =
  | 'get'
  | 'set'
  | 'create'
  | 'update'
  | 'replace'
  | 'delete'
  | 'deleteUnchanged'
  | 'scan'
  | 'scanRange'
  | 'nextPartition';

class PostgresStore implements KvStore {
  readonly type = 'postgres';
  readonly #pool: Pool;
  readonly #statements: Readonly<Record<StatementName, Statement>>;
  readonly #page: number;
  #closing: Promise<void> | undefined;

  constructor(pool: Pool, table: string, page: number) {
    this.#pool = pool;
    this.#statements = statements(table);
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
    await this.#run('set', [partition, key, value]);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    requireEntry(partition, key, value);
    if (condition === 'absent') return this.#changes('create', [partition, key, value]);
    if (condition === 'present') return this.#changes('update', [partition, key, value]);
    const expected = predicateValue(condition);
    return expected !== undefined && this.#changes('replace', [partition, key, value, expected]);
  }

  async setIfAfter(
    partition: Uint8Array,
    first: KvRecord,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    requireEntry(partition, first.key, first.value);
    requireEntry(partition, key, value);
    const [owner, name, content] = [Buffer.from(partition), Buffer.from(key), Buffer.from(value)];
    await this.#run('create', [partition, first.key, first.value]);
    return this.setIf(owner, name, content, condition);
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

  async #run(
    name: StatementName,
    values: readonly (Uint8Array | number)[],
  ): Promise<{ rows: Buffer[][]; rowCount: number | null }> {
    if (this.#closing !== undefined) throw new KvError('closed', 'the postgres key-value store is closed');
    const query: QueryArrayConfig & { binary: true } = {
      ...this.#statements[name],
      // pg sends later when every connection is busy; the caller may have changed its buffers by then.
      values: values.map((value) => (typeof value === 'number' ? value : Buffer.from(value))),
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

function statements(table: string): Record<StatementName, Statement> {
  const name = escapeIdentifier(table);
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
    scan: `${page} ORDER BY key LIMIT $3`,
    scanRange: `${page} AND key < $4 ORDER BY key LIMIT $3`,
    nextPartition: `SELECT partition_key FROM ${name} WHERE partition_key > $1 ORDER BY partition_key LIMIT 1`,
  };
  return Object.fromEntries(
    Object.entries(texts).map(([key, text]) => [key, { name: `kv_${key}`, text }]),
  ) as Record<StatementName, Statement>;
}
