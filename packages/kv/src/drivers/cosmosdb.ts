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
import type { CosmosStoreConfig } from '../open-store.ts';
import { Attempts } from '../remote/back-off.ts';
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
import { decode, encode, encodePadded } from './cosmosdb/base32hex.ts';
import { planOperations, removal, upsert, type Operation } from './cosmosdb/batch.ts';
import { closedError, CosmosClient, type CosmosRequest, type Reply } from './cosmosdb/client.ts';
import { ensureContainer } from './cosmosdb/container.ts';
import {
  documentId,
  found,
  isPossible,
  maxKeyBytes,
  requireFitting,
  storedDocument,
  versionOf,
  type FoundDocument,
} from './cosmosdb/documents.ts';
import { refusalError, type Refusal } from './cosmosdb/refusals.ts';

const driverPage = 1000;
/** What one batch takes, less what its envelope needs. */
const batchOperations = 100;
const batchBytes = 1_800_000;
const batchHeaders = {
  'x-ms-cosmos-is-batch-request': 'True',
  'x-ms-cosmos-batch-atomic': 'True',
  'x-ms-cosmos-batch-continue-on-error': 'False',
};
/** Operations of a batch that failed only because another one did. */
const failedDependency = 424;

export async function openCosmosStore(
  config: Omit<CosmosStoreConfig, 'type'>,
  observer: KvObserver = {},
  attempts?: number,
): Promise<KvStore> {
  const client = new CosmosClient(config.endpoint, config.key, observer, attempts);
  try {
    await ensureContainer(client, config);
  } catch (error) {
    await client.close();
    throw error;
  }
  return new CosmosStore(client, `dbs/${config.database}/colls/${config.container}`);
}

class CosmosStore implements KvStore {
  readonly type = 'cosmosdb';
  readonly #client: CosmosClient;
  /** The link of the container. */
  readonly #link: string;

  constructor(client: CosmosClient, link: string) {
    this.#client = client;
    this.#link = link;
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    this.#check();
    requireKey(partition, key);
    if (!isPossible(partition, key)) return undefined;
    const reply = await this.#document<FoundDocument>('GET', encodePadded(partition), documentId(key));
    if (reply.refusal === undefined) return found(reply.output);
    if (reply.status === 404) return undefined;
    throw refusalError(reply.refusal);
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    this.#check();
    requireEntry(partition, key, value);
    requireFitting(partition, key);
    const { refusal } = await this.#create(partition, key, value, { 'x-ms-documentdb-is-upsert': 'True' });
    if (refusal !== undefined) throw refusalError(refusal);
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
    if (condition === 'absent') return happened(await this.#create(partition, key, value, {}), [409]);
    const name = encodePadded(partition);
    const document = storedDocument(name, key, value);
    const headers = condition === 'present' ? {} : matching(condition);
    if (headers === undefined) return false;
    return happened(await this.#document('PUT', name, document.id, headers, document), [404, 412]);
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
      const current = await this.get(owned.partition, owned.still.key);
      if (!isEqual(current?.value, owned.still.value)) return false;
    }
    const name = encodePadded(owned.partition);
    const operations = planOperations(owned, name);
    return operations !== undefined && this.#transact(name, operations);
  }

  async getMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<(KvValue | undefined)[]> {
    this.#check();
    requireGetMany(partition, keys);
    const ids = keys.map((key) => (isPossible(partition, key) ? documentId(key) : ''));
    const name = encodePadded(partition);
    const byId = new Map<string, KvValue>();
    const text = 'SELECT c.id, c.key, c["value"], c._etag FROM c WHERE ARRAY_CONTAINS(@ids, c.id)';
    const asked = [...new Set(ids)].filter((id) => id !== '');
    if (asked.length > 0) {
      for await (const page of this.#query<FoundDocument>(name, text, { '@ids': asked })) {
        for (const document of page) byId.set(document.id, found(document));
      }
    }
    return ids.map((id) => {
      const each = byId.get(id);
      return each && { value: Buffer.from(each.value), predicate: each.predicate };
    });
  }

  async setMany(partition: Uint8Array, records: readonly KvRecord[]): Promise<void> {
    this.#check();
    const owned = ownRecords(partition, records, (key) => requireFitting(partition, key));
    const name = encodePadded(partition);
    let batch: Operation[] = [];
    let bytes = 0;
    for (const { key, value } of owned) {
      const document = storedDocument(name, key, value);
      const size = document.key.length + document.value.length + name.length + 200;
      if (batch.length === batchOperations || (bytes + size > batchBytes && batch.length > 0)) {
        await this.#transact(name, batch);
        batch = [];
        bytes = 0;
      }
      batch.push(upsert(document));
      bytes += size;
    }
    if (batch.length > 0) await this.#transact(name, batch);
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    this.#check();
    requireKeys(partition, keys);
    const name = encodePadded(partition);
    const ids = keys.filter((key) => isPossible(partition, key)).map((key) => documentId(key));
    const doomed = [...new Set(ids)];
    for (let start = 0; start < doomed.length; start += batchOperations) {
      await this.#transact(name, doomed.slice(start, start + batchOperations).map(removal));
    }
  }

  maxKeyBytes(partition: Uint8Array): number {
    return maxKeyBytes(partition);
  }

  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    this.#check();
    requireKey(partition, key);
    if (!isPossible(partition, key)) return;
    const { refusal, status } = await this.#document('DELETE', encodePadded(partition), documentId(key));
    if (refusal !== undefined && status !== 404) throw refusalError(refusal);
  }

  async deleteIf(partition: Uint8Array, key: Uint8Array, predicate: KvPredicate): Promise<boolean> {
    this.#check();
    requireKey(partition, key);
    const headers = matching(predicate);
    if (headers === undefined || !isPossible(partition, key)) return false;
    const reply = await this.#document('DELETE', encodePadded(partition), documentId(key), headers);
    return happened(reply, [404, 412]);
  }

  async *scan(
    partition: Uint8Array,
    options: KvScanOptions = {},
  ): AsyncGenerator<KvEntry[], void, undefined> {
    requirePartition(partition);
    const name = encodePadded(partition);
    yield* scanPages(scanRange(options), options.batch, driverPage, (lower, upper, limit) =>
      this.#readPage(name, lower, upper, limit),
    );
  }

  /** Reads every document: a list of partition keys costs no less. */
  async *partitions(): AsyncGenerator<Buffer, void, undefined> {
    this.#check();
    const names = new Set<string>();
    const pages = this.#query<{ partitionKey: string }>(undefined, 'SELECT c.partitionKey FROM c', {});
    for await (const page of pages) for (const { partitionKey } of page) names.add(partitionKey);
    yield* [...names].map((name) => decode(name)).toSorted((a, b) => Buffer.compare(a, b));
  }

  readonly connectionsInUse = (): number => this.#client.connectionsInUse;

  close(): Promise<void> {
    return this.#client.close();
  }

  #check(): void {
    if (this.#client.closed) throw closedError();
  }

  #document<Output>(
    method: CosmosRequest['method'],
    partition: string,
    id: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<Reply<Output>> {
    const link = `${this.#link}/docs/${id}`;
    const all = { ...partitionHeader(partition), ...headers };
    return this.#client.send<Output>({ method, resourceType: 'docs', link, headers: all, body });
  }

  #feed<Output>(body: unknown, headers: Record<string, string>): Promise<Reply<Output>> {
    return this.#client.send<Output>({
      method: 'POST',
      resourceType: 'docs',
      link: this.#link,
      feed: '/docs',
      headers,
      body,
    });
  }

  #create(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    headers: Record<string, string>,
  ): Promise<Reply<unknown>> {
    const name = encodePadded(partition);
    return this.#feed(storedDocument(name, key, value), { ...partitionHeader(name), ...headers });
  }

  async *#query<Row>(
    partition: string | undefined,
    query: string,
    values: Readonly<Record<string, unknown>>,
    limit = driverPage,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    const parameters = Object.entries(values).map(([name, value]) => ({ name, value }));
    let continuation: string | undefined;
    do {
      const { output, refusal, ...reply } = await this.#feed<{ Documents: Row[] }>(
        { query, parameters },
        {
          'content-type': 'application/query+json',
          'x-ms-documentdb-isquery': 'True',
          'x-ms-max-item-count': String(limit),
          ...(partition === undefined
            ? { 'x-ms-documentdb-query-enablecrosspartition': 'True' }
            : partitionHeader(partition)),
          ...(continuation !== undefined && { 'x-ms-continuation': continuation }),
        },
      );
      if (refusal !== undefined) throw refusalError(refusal);
      yield output.Documents;
      continuation = reply.continuation;
    } while (continuation !== undefined);
  }

  async #readPage(
    partition: string,
    lower: Buffer,
    upper: Buffer | undefined,
    limit: number,
  ): Promise<ScanPage> {
    this.#check();
    const entries: KvEntry[] = [];
    const end = upper === undefined ? '' : ' AND c.key < @upper';
    const text = `SELECT c.key, c["value"] FROM c WHERE c.key >= @lower${end} ORDER BY c.key ASC`;
    const values = { '@lower': encode(lower), ...(upper !== undefined && { '@upper': encode(upper) }) };
    for await (const page of this.#query<{ key: string; value: string }>(partition, text, values, limit)) {
      for (const { key, value } of page) entries.push({ key: decode(key), value: decode(value) });
      if (entries.length >= limit) return { entries: entries.slice(0, limit), last: false };
    }
    return { entries, last: true };
  }

  /**
   * Makes the operations as one step; false when the guard did not hold. A creation of what is there and a deletion of
   * what is not are left out, and the rest made again.
   */
  async #transact(partition: string, planned: readonly Operation[]): Promise<boolean> {
    let operations = await this.#withoutVainDeletions(partition, planned);
    const attempts = new Attempts(Infinity);
    let uncertain = false;
    while (operations.length > 0) {
      const reply = await this.#feed<readonly { statusCode: number }[]>(
        operations.map(({ wire }) => wire),
        { ...partitionHeader(partition), ...batchHeaders },
      );
      if (reply.refusal !== undefined) throw refusalError(reply.refusal);
      uncertain ||= reply.uncertain;
      const index = reply.output.findIndex(
        ({ statusCode }) => statusCode >= 400 && statusCode !== failedDependency,
      );
      if (index < 0) return true;
      const status = reply.output[index]?.statusCode ?? 0;
      const failed = operations[index];
      const said: Refusal = { status, substatus: '', message: 'an operation of a batch was refused' };
      if (status === 429 || status === 449) {
        if (!(await attempts.again())) throw refusalError(said);
      } else if (failed?.role === 'guard' && [404, 409, 412].includes(status)) {
        if (uncertain) throw lostAnswer();
        return false;
      } else if (
        (failed?.role === 'create' && status === 409) ||
        (failed?.role === 'delete' && status === 404)
      ) {
        operations = operations.filter((each) => each !== failed);
      } else {
        throw refusalError(said);
      }
    }
    return true;
  }

  /** A batch names only the first operation that fails: without this, each key that is not there costs a round trip. */
  async #withoutVainDeletions(
    partition: string,
    operations: readonly Operation[],
  ): Promise<readonly Operation[]> {
    const ids = operations.flatMap(({ role, wire }) => (role === 'delete' ? [wire.id] : []));
    if (ids.length === 0) return operations;
    const there = new Set<string | undefined>();
    const text = 'SELECT c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)';
    for await (const page of this.#query<{ id: string }>(partition, text, { '@ids': ids })) {
      for (const { id } of page) there.add(id);
    }
    return operations.filter(({ role, wire }) => role !== 'delete' || there.has(wire.id));
  }
}

function partitionHeader(partition: string): Record<string, string> {
  return { 'x-ms-documentdb-partitionkey': JSON.stringify([partition]) };
}

function matching(predicate: KvPredicate): Record<string, string> | undefined {
  const version = versionOf(predicate);
  return version && { 'if-match': version.etag };
}

/** Whether a conditional write happened; `failures` are the statuses that say its condition did not hold. */
function happened({ refusal, status, uncertain }: Reply<unknown>, failures: readonly number[]): boolean {
  if (refusal === undefined) return true;
  if (!failures.includes(status)) throw refusalError(refusal);
  if (uncertain) throw lostAnswer();
  return false;
}

function lostAnswer(): KvError {
  return new KvError(
    'unavailable',
    'cosmosdb: the answer to a conditional write was lost: it may or may not have happened',
  );
}
