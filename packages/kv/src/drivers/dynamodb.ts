import {
  ownChange,
  ownRecords,
  requireEntry,
  requireGetMany,
  requireKey,
  requireKeys,
  requirePartition,
} from '../arguments.ts';
import { KvError } from '../errors.ts';
import type { DynamoStoreConfig } from '../open-store.ts';
import { scanPages, scanRange, type ScanPage } from '../scan-pages.ts';
import type {
  KvCondition,
  KvEntry,
  KvExpectation,
  KvGuard,
  KvObserver,
  KvPredicate,
  KvRecord,
  KvScanOptions,
  KvStore,
  KvValue,
  KvWrite,
} from '../store.ts';
import { isEqual } from '../value-predicate.ts';
import { readAll, writeAll, type BatchOptions } from './dynamodb/batches.ts';
import { closedError, DynamoClient, type Reply } from './dynamodb/client.ts';
import { conditionInput, type ConditionInput } from './dynamodb/conditions.ts';
import { findRegion, openCredentials } from './dynamodb/credentials.ts';
import {
  address,
  bytesOf,
  isPossible,
  itemPredicate,
  maxKeyBytes,
  predicateItem,
  requireFitting,
  type Address,
  type Item,
  type StoredValue,
} from './dynamodb/items.ts';
import { isPartsPartition, LargeValues } from './dynamodb/large-values.ts';
import { keyRange, type QueryOutput } from './dynamodb/query.ts';
import { refusalError } from './dynamodb/refusals.ts';
import { describeTable, ensureTable } from './dynamodb/table.ts';
import { planActions, transact, type Action } from './dynamodb/transaction.ts';

/** A large value may be replaced again and again while its parts are read. */
const largeReads = 10;

export async function openDynamoStore(
  config: Omit<DynamoStoreConfig, 'type'>,
  observer: KvObserver = {},
): Promise<KvStore> {
  const client = new DynamoClient(
    {
      endpoint: config.endpoint,
      region: await findRegion(config, config.endpoint !== undefined),
      maxAttempts: config.maxAttempts,
      maxConnections: config.maxConnections,
      observer,
    },
    await openCredentials(config),
  );
  try {
    await ensureTable(client, config.tableName);
  } catch (error) {
    await client.close();
    throw error;
  }
  return new DynamoStore(client, config, observer);
}

class DynamoStore implements KvStore {
  readonly type = 'dynamodb';
  readonly #client: DynamoClient;
  readonly #table: string;
  readonly #page: number;
  readonly #large: LargeValues;
  readonly #batches: BatchOptions;
  /** Goes along with every call. */
  readonly #capacity: object;
  readonly #healthChecks: NodeJS.Timeout | undefined;

  constructor(client: DynamoClient, config: Omit<DynamoStoreConfig, 'type'>, observer: KvObserver) {
    this.#client = client;
    this.#table = config.tableName;
    this.#page = config.scanLimit;
    this.#large = new LargeValues(client, config.tableName);
    this.#capacity = observer.consumedCapacity === undefined ? {} : { ReturnConsumedCapacity: 'TOTAL' };
    this.#batches = {
      table: config.tableName,
      maxAttempts: config.maxAttempts,
      observer,
      capacity: this.#capacity,
    };
    if (config.healthCheckIntervalMs > 0) {
      this.#healthChecks = setInterval(() => {
        describeTable(client, config.tableName).then(
          (table) =>
            observer.healthCheck?.(table === undefined ? new Error('the table is missing') : undefined),
          (error: unknown) => observer.healthCheck?.(error as Error),
        );
      }, config.healthCheckIntervalMs).unref();
    }
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    this.#check();
    requireKey(partition, key);
    if (!isPossible(partition, key)) return undefined;
    return this.#read(address(partition, key));
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#check();
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    await this.#put(address(partition, key), value, 'any');
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    condition: KvCondition,
  ): Promise<boolean> {
    this.#check();
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    return this.#put(address(partition, key), value, condition);
  }

  async change(
    partition: Uint8Array,
    guard: KvGuard,
    writes: readonly KvWrite[],
    still?: KvExpectation,
  ): Promise<boolean> {
    this.#check();
    const owned = ownChange(partition, guard, writes, still, (key) => requireFitting(partition, key));
    if (owned.still !== undefined) {
      const found = await this.get(owned.partition, owned.still.key);
      if (!isEqual(found?.value, owned.still.value)) return false;
    }
    const planned = await planActions(owned, (value) => this.#large.store(value));
    if (planned === undefined) return false;
    const made = await this.#make(planned);
    for (const action of planned) {
      if (action.type === 'put' && made?.includes(action) !== true) await this.#large.drop(action.stored);
    }
    if (made === undefined) return false;
    const replaced = typeof guard.condition === 'string' ? undefined : predicateItem(guard.condition);
    if (owned.guarded !== undefined && owned.guarded.type !== 'create') await this.#large.drop(replaced);
    return true;
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    this.#check();
    requireGetMany(partition, keys);
    const addresses = keys.map((key) => (isPossible(partition, key) ? address(partition, key) : undefined));
    const asked = new Map<string, Address>();
    for (const each of addresses) if (each !== undefined) asked.set(each.ItemKey.B, each);
    const found = new Map<string, Item>();
    for (const item of await readAll(this.#client, this.#batches, [...asked.values()])) {
      found.set(item.ItemKey.B, item);
    }
    return Promise.all(
      addresses.map(async (each) => {
        const item = each && found.get(each.ItemKey.B);
        return item && this.#valueOf(item);
      }),
    );
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    this.#check();
    const owned = ownRecords(partition, records, (key) => requireFitting(partition, key));
    const owner = Buffer.from(partition);
    const requests = [];
    for (const { key, value } of owned) {
      const stored = this.#large.store(value);
      const Item = { ...address(owner, key), ...(stored instanceof Promise ? await stored : stored) };
      requests.push({ PutRequest: { Item } });
    }
    await writeAll(this.#client, this.#batches, requests);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    this.#check();
    requireKeys(partition, keys);
    const doomed = new Map<string, Address>();
    for (const key of keys) {
      const Key = address(partition, key);
      if (isPossible(partition, key)) doomed.set(Key.ItemKey.B, Key);
    }
    const requests = [...doomed.values()].map((Key) => ({ DeleteRequest: { Key } }));
    await writeAll(this.#client, this.#batches, requests);
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxKeyBytes(partition);
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    this.#check();
    requireKey(partition, key);
    if (isPossible(partition, key)) await this.#remove(address(partition, key), {});
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    this.#check();
    requireKey(partition, key);
    const condition = conditionInput(predicate);
    if (condition === undefined || !isPossible(partition, key)) return false;
    return this.#remove(address(partition, key), condition);
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

  /** Reads the whole table: the service knows no other way to list its partitions. */
  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    const names = new Set<string>();
    let start: object | undefined;
    do {
      this.#check();
      const output = await this.#answered<QueryOutput>('Scan', {
        ConsistentRead: true,
        ProjectionExpression: 'PartitionKey',
        ...(start !== undefined && { ExclusiveStartKey: start }),
      });
      for (const { PartitionKey } of output.Items) names.add(PartitionKey.B);
      start = output.LastEvaluatedKey;
    } while (start !== undefined);
    const partitions = [...names].map((name) => Buffer.from(name, 'base64'));
    for (const name of partitions.toSorted((a, b) => Buffer.compare(a, b))) {
      if (!isPartsPartition(name)) yield name;
    }
  }

  readonly connectionsInUse = (): number => this.#client.connectionsInUse;

  async close(): Promise<void> {
    clearInterval(this.#healthChecks);
    await this.#client.close();
  }

  #check(): void {
    if (this.#client.closed) throw closedError();
  }

  #call<Output extends object>(action: string, input: object): Promise<Reply<Output>> {
    return this.#client.call<Output>(action, { TableName: this.#table, ...input, ...this.#capacity });
  }

  /** For calls without a condition, whose every refusal is an error. */
  async #answered<Output extends object>(action: string, input: object): Promise<Output> {
    const { output, refusal } = await this.#call<Output>(action, input);
    if (refusal !== undefined) throw refusalError(refusal);
    return output;
  }

  async #read(at: Address): Promise<KvValue | undefined> {
    for (let reads = 0; reads < largeReads; reads++) {
      const { Item } = await this.#answered<{ Item?: Item }>('GetItem', { Key: at, ConsistentRead: true });
      if (Item === undefined) return undefined;
      const value = await this.#large.read(Item);
      if (value !== undefined) return { value, predicate: itemPredicate(Item) };
    }
    throw new KvError('unavailable', 'dynamodb: a large value is replaced faster than it can be read');
  }

  async #valueOf(item: Item): Promise<KvValue | undefined> {
    const value = await this.#large.read(item);
    if (value !== undefined) return { value, predicate: itemPredicate(item) };
    return this.#read({ PartitionKey: item.PartitionKey, ItemKey: item.ItemKey });
  }

  async #put(at: Address, value: Uint8Array, condition: KvCondition | 'any'): Promise<boolean> {
    const own = conditionInput(condition);
    if (own === undefined) return false;
    const stored = this.#large.store(value);
    const owned = stored instanceof Promise ? await stored : stored;
    const happened = await this.#write('PutItem', { Item: { ...at, ...owned } }, own);
    if (!happened) await this.#large.drop(owned);
    return happened;
  }

  #remove(at: Address, condition: ConditionInput): Promise<boolean> {
    return this.#write('DeleteItem', { Key: at }, condition);
  }

  /** Writes one item; false when the condition did not hold. The item that went tells which parts go with it. */
  async #write(action: 'PutItem' | 'DeleteItem', input: object, condition: ConditionInput): Promise<boolean> {
    const { output, refusal, uncertain } = await this.#call<{ Attributes?: StoredValue }>(action, {
      ...input,
      ...condition,
      ReturnValues: 'ALL_OLD',
    });
    if (refusal === undefined) {
      await this.#large.drop(output.Attributes);
      return true;
    }
    if (refusal.type !== 'ConditionalCheckFailedException') throw refusalError(refusal);
    if (!uncertain) return false;
    throw new KvError(
      'unavailable',
      'dynamodb: the answer to a conditional write was lost: it may or may not have happened',
    );
  }

  async #make(planned: readonly Action[]): Promise<readonly Action[] | undefined> {
    const [only] = planned;
    // One item needs no transaction, which costs twice as much.
    if (planned.length !== 1 || only === undefined || only.type === 'check') {
      return transact(this.#client, this.#table, planned, this.#capacity);
    }
    const happened =
      only.type === 'put'
        ? await this.#write('PutItem', { Item: { ...only.at, ...only.stored } }, only.condition)
        : await this.#remove(only.at, only.condition);
    if (happened) return planned;
    return only.role === 'create' ? [] : undefined;
  }

  async #readPage(
    partition: Buffer,
    lower: Buffer,
    upper: Buffer | undefined,
    limit: number,
  ): Promise<ScanPage> {
    this.#check();
    const entries: KvEntry[] = [];
    const range = keyRange(partition, lower, upper);
    if (range === undefined) return { entries, last: true };
    let start: object | undefined;
    while (entries.length < limit) {
      const output = await this.#answered<QueryOutput>('Query', {
        ConsistentRead: true,
        Limit: limit - entries.length,
        KeyConditionExpression: range.expression,
        ExpressionAttributeValues: range.values,
        ...(start !== undefined && { ExclusiveStartKey: start }),
      });
      for (const item of output.Items) {
        const key = bytesOf(item.ItemKey);
        if (!range.keep(key)) continue;
        const value =
          item.ItemParts === undefined ? bytesOf(item.ItemValue) : (await this.#valueOf(item))?.value;
        if (value !== undefined) entries.push({ key, value });
      }
      start = output.LastEvaluatedKey;
      if (start === undefined) return { entries, last: true };
    }
    return { entries, last: false };
  }
}
