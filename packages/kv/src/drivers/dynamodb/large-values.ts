import { randomBytes } from 'node:crypto';
import type { DynamoClient } from './client.ts';
import { binary, bytesOf, maxInlineBytes, type Binary, type Item, type StoredValue } from './items.ts';
import { refusalError } from './refusals.ts';

const partsPrefix = Buffer.from('svc-value-parts/');
const nameBytes = 16;

/** True for the partitions that hold the parts of large values; no caller sees them. */
export function isPartsPartition(partition: Buffer): boolean {
  return (
    partition.length === partsPrefix.length + nameBytes &&
    partition.subarray(0, partsPrefix.length).equals(partsPrefix)
  );
}

/**
 * Values that no item can hold. They are cut into parts under a random name, each in an item of its own, before the
 * entry that names them is written: the entry stays one item, and whoever can read it can read all parts. A part is
 * never changed.
 */
export class LargeValues {
  readonly #client: DynamoClient;
  readonly #table: string;

  constructor(client: DynamoClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  /** The value as an item holds it; the bytes are copied before this returns. */
  store(value: Uint8Array): StoredValue | Promise<StoredValue> {
    return value.length <= maxInlineBytes ? { ItemValue: binary(value) } : this.#cut(Buffer.from(value));
  }

  /** The whole value, or undefined when it was replaced and its parts removed after the item was read. */
  async read(stored: StoredValue): Promise<Buffer | undefined> {
    if (stored.ItemParts === undefined) return bytesOf(stored.ItemValue);
    const parts = await this.#parts(stored);
    return parts.length === Number(stored.ItemParts.N)
      ? Buffer.concat(parts.map(({ ItemValue }) => bytesOf(ItemValue)))
      : undefined;
  }

  /** Removes the parts of a value that nothing names any more. What a crash leaves behind is only space. */
  async drop(stored: StoredValue | undefined): Promise<void> {
    if (stored?.ItemParts === undefined) return;
    const PartitionKey = partitionOf(stored);
    for (let index = 0; index < Number(stored.ItemParts.N); index++) {
      const Key = { PartitionKey, ItemKey: place(index) };
      await this.#client.call('DeleteItem', { TableName: this.#table, Key });
    }
  }

  async #cut(value: Buffer): Promise<StoredValue> {
    const count = Math.ceil(value.length / maxInlineBytes);
    const stored = { ItemValue: binary(randomBytes(nameBytes)), ItemParts: { N: String(count) } };
    const PartitionKey = partitionOf(stored);
    for (let index = 0; index < count; index++) {
      const part = value.subarray(index * maxInlineBytes, (index + 1) * maxInlineBytes);
      const Item: Item = { PartitionKey, ItemKey: place(index), ItemValue: binary(part) };
      const { refusal } = await this.#client.call('PutItem', { TableName: this.#table, Item });
      if (refusal !== undefined) throw refusalError(refusal);
    }
    return stored;
  }

  async #parts(stored: StoredValue): Promise<Item[]> {
    const parts: Item[] = [];
    let start: object | undefined;
    do {
      const { output, refusal } = await this.#client.call<{ Items: Item[]; LastEvaluatedKey?: object }>(
        'Query',
        {
          TableName: this.#table,
          ConsistentRead: true,
          ProjectionExpression: 'ItemValue',
          KeyConditionExpression: 'PartitionKey = :p',
          ExpressionAttributeValues: { ':p': partitionOf(stored) },
          ...(start !== undefined && { ExclusiveStartKey: start }),
        },
      );
      if (refusal !== undefined) throw refusalError(refusal);
      parts.push(...output.Items);
      start = output.LastEvaluatedKey;
    } while (start !== undefined);
    return parts;
  }
}

function partitionOf({ ItemValue }: StoredValue): Binary {
  return binary(Buffer.concat([partsPrefix, bytesOf(ItemValue)]));
}

/** Four bytes keep the order of any number of parts. */
function place(index: number): Binary {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(index);
  return binary(key);
}
