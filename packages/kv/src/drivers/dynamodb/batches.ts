import { KvError } from '../../errors.ts';
import { Attempts } from '../../remote/back-off.ts';
import type { KvObserver } from '../../store.ts';
import type { DynamoClient } from './client.ts';
import type { Address, Item } from './items.ts';
import { refusalError } from './refusals.ts';

/** What one call takes. */
const writeBatch = 25;
const batchesAtOnce = 8;

export type WriteRequest =
  | { readonly PutRequest: { readonly Item: Item } }
  | { readonly DeleteRequest: { readonly Key: Address } };

export interface BatchOptions {
  readonly table: string;
  readonly maxAttempts: number;
  readonly observer: KvObserver;
  readonly capacity: object;
}

/** Makes all writes, in any order; a key must not be there twice. What the service leaves undone is sent again. */
export async function writeAll(
  client: DynamoClient,
  options: BatchOptions,
  requests: readonly WriteRequest[],
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < requests.length) {
      const start = next;
      next += writeBatch;
      await writeOne(client, options, requests.slice(start, start + writeBatch));
    }
  };
  await Promise.all(Array.from({ length: batchesAtOnce }, work));
}

async function writeOne(
  client: DynamoClient,
  options: BatchOptions,
  requests: readonly WriteRequest[],
): Promise<void> {
  let left = requests;
  const attempts = new Attempts(options.maxAttempts);
  for (;;) {
    const { output, refusal } = await client.call<{
      UnprocessedItems?: Readonly<Record<string, readonly WriteRequest[]>>;
    }>('BatchWriteItem', { RequestItems: { [options.table]: left }, ...options.capacity });
    if (refusal !== undefined) throw refusalError(refusal);
    left = output.UnprocessedItems?.[options.table] ?? [];
    if (left.length === 0) return;
    options.observer.slowDown?.('BatchWriteItem');
    if (!(await attempts.again())) throw leftUndone(left.length);
  }
}

/** The items with these keys, at most 100 of them and none twice, in any order. */
export async function readAll(
  client: DynamoClient,
  options: BatchOptions,
  keys: readonly Address[],
): Promise<Item[]> {
  const items: Item[] = [];
  let left = keys;
  const attempts = new Attempts(options.maxAttempts);
  while (left.length > 0) {
    const { output, refusal } = await client.call<{
      Responses?: Readonly<Record<string, readonly Item[]>>;
      UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly Address[] }>>;
    }>('BatchGetItem', {
      RequestItems: { [options.table]: { Keys: left, ConsistentRead: true } },
      ...options.capacity,
    });
    if (refusal !== undefined) throw refusalError(refusal);
    const found = output.Responses?.[options.table] ?? [];
    items.push(...found);
    left = output.UnprocessedKeys?.[options.table]?.Keys ?? [];
    // An answer that is full leaves some out without anybody being too fast.
    if (left.length === 0 || found.length > 0) continue;
    options.observer.slowDown?.('BatchGetItem');
    if (!(await attempts.again())) throw leftUndone(left.length);
  }
  return items;
}

function leftUndone(count: number): KvError {
  return new KvError(
    'slow_down',
    `dynamodb: ${count} items of a batch were left undone again and again; raise the capacity of the table or send less`,
  );
}
