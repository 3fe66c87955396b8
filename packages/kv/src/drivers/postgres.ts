import { ownBytes } from '@svc/encoding';
import type { Pool } from 'pg';
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
import { scanPages, scanRange } from '../scan-pages.ts';
import type {
  KvCondition,
  KvEntry,
  KvExpectation,
  KvGuard,
  KvPredicate,
  KvPut,
  KvRecord,
  KvScanOptions,
  KvStore,
  KvValue,
  KvWrite,
} from '../store.ts';
import { predicateValue, valuePredicate } from '../value-predicate.ts';
import { byteaArray } from './postgres/binary-array.ts';
import { parseConnectionString } from './postgres/connection-string.ts';
import { KvTable, type Place } from './postgres/kv-table.ts';
import { openPool, type PoolOptions } from './postgres/pool.ts';
import { RoundTrips } from './postgres/round-trips.ts';
import type { StatementName } from './postgres/statements.ts';
import type { Table, Tables } from './postgres/tables.ts';

/** What an index row of PostgreSQL holds, less its own overhead. */
const maxPartitionAndKeyLength = 2600;
const bulkBatch = 1000;

export interface PostgresStoreOptions extends PoolOptions {
  readonly connectionString: string;
  readonly scanPageSize: number;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<KvStore> {
  const address = parseConnectionString(options.connectionString);
  const { pool, tables } = await openPool(address, options);
  return new PostgresStore(pool, tables, options.scanPageSize);
}

class PostgresStore implements KvStore {
  readonly type = 'postgres';
  readonly #pool: Pool;
  readonly #tables: Tables;
  readonly #trips: RoundTrips;
  readonly #opened = new Map<Table, KvTable>();
  readonly #page: number;

  constructor(pool: Pool, tables: Tables, page: number) {
    this.#pool = pool;
    this.#trips = new RoundTrips(pool);
    this.#tables = tables;
    this.#page = page;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    requireKey(partition, key);
    const value = await this.#of(partition).get(own(partition, key));
    return value && { value, predicate: valuePredicate(ownBytes(value)) };
  }

  predicateOf(value: Uint8Array): KvPredicate {
    return valuePredicate(Buffer.from(value));
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    await this.#of(partition).set({ ...own(partition, key), value: Buffer.from(value) });
  }

  async setThenGet(write: KvPut, partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    requireEntry(write.partition, write.key, write.value);
    requireFitting(write.partition, write.key);
    requireKey(partition, key);
    const put = { ...own(write.partition, write.key), value: Buffer.from(write.value) };
    const value = await this.#of(put.partition).setThenGet(put, this.#of(partition), own(partition, key));
    // Several calls may share what was read.
    return value && { value: Buffer.from(value), predicate: valuePredicate(ownBytes(value)) };
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    if (condition === 'absent') return this.#changes('create', partition, [key, value]);
    if (condition === 'present') return this.#changes('update', partition, [key, value]);
    const expected = predicateValue(condition);
    return expected !== undefined && this.#changes('replace', partition, [key, value, expected]);
  }

  async change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean> {
    const owned = ownChange(partition, guard, writes, still, (key) => requireFitting(partition, key));
    return this.#of(partition).change(owned);
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    requireGetMany(partition, keys);
    if (keys.length === 0) return [];
    const { rows } = await this.#of(partition).run('getMany', [Buffer.from(partition), byteaArray(keys)]);
    return (rows as (Buffer | null)[][]).map(([value]) =>
      value ? { value, predicate: valuePredicate(ownBytes(value)) } : undefined,
    );
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    const owned = ownRecords(partition, records, (key) => requireFitting(partition, key));
    const owner = Buffer.from(partition);
    for (let start = 0; start < owned.length; start += bulkBatch) {
      const batch = owned.slice(start, start + bulkBatch);
      const keys = byteaArray(batch.map(({ key }) => key));
      const values = byteaArray(batch.map(({ value }) => value));
      await this.#of(owner).run('setMany', [owner, keys, values]);
    }
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    requireKeys(partition, keys);
    const owner = Buffer.from(partition);
    const owned = keys.map((key) => Buffer.from(key)).toSorted((a, b) => Buffer.compare(a, b));
    for (let start = 0; start < owned.length; start += bulkBatch) {
      const batch = byteaArray(owned.slice(start, start + bulkBatch));
      await this.#of(owner).run('deleteMany', [owner, batch]);
    }
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxPartitionAndKeyLength - partition.length;
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    requireKey(partition, key);
    await this.#changes('delete', partition, [key]);
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    requireKey(partition, key);
    const expected = predicateValue(predicate);
    return expected !== undefined && this.#changes('deleteUnchanged', partition, [key, expected]);
  }

  async *scan(
    partition: Uint8Array,
    options: KvScanOptions = {},
  ): AsyncGenerator<KvEntry[], void, undefined> {
    requirePartition(partition);
    const owned = Buffer.from(partition);
    const table = this.#of(owned);
    yield* scanPages(scanRange(options), options.batch, this.#page, async (lower, upper, limit) => {
      const entries = await table.readPage({ partition: owned, lower, upper, limit });
      return { entries, last: entries.length < limit };
    });
  }

  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    const table = this.#tables.all;
    const text = `SELECT partition_key FROM ${table} WHERE partition_key > $1 ORDER BY partition_key LIMIT 1`;
    let last = Buffer.alloc(0);
    for (;;) {
      const [answer] = await this.#trips.inTurn([
        { statement: { name: 'kv_nextPartition', text }, values: [last] },
      ]);
      const name = answer?.rows[0]?.[0];
      if (name === undefined) return;
      last = Buffer.from(name);
      yield name;
    }
  }

  readonly connectionsInUse = (): number => this.#pool.totalCount - this.#pool.idleCount;

  close(): Promise<void> {
    return this.#trips.close();
  }

  #of(partition: Uint8Array): KvTable {
    const table = this.#tables.of(partition);
    let opened = this.#opened.get(table);
    if (opened === undefined) {
      opened = new KvTable(table, this.#trips);
      this.#opened.set(table, opened);
    }
    return opened;
  }

  /** pg sends later when every connection is busy: the caller may have changed its buffers by then. */
  async #changes(
    name: StatementName,
    partition: Uint8Array,
    values: readonly Uint8Array[],
  ): Promise<boolean> {
    const owned = [partition, ...values].map((value) => Buffer.from(value));
    return (await this.#of(partition).run(name, owned)).rowCount === 1;
  }
}

/** For a call that may wait. */
function own(partition: Uint8Array, key: Uint8Array): Place {
  return { partition: Buffer.from(partition), key: Buffer.from(key) };
}

function requireFitting(partition: Uint8Array, key: Uint8Array): void {
  requireKeyLength(partition, key, maxPartitionAndKeyLength, 'postgres');
}
