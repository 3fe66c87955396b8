import { outboxPut, secondaryIndexMessage, XidGenerator, type Message, type NewEvent } from '@svc/encoding';
import type { KvCondition, KvPredicate, KvStore, KvWrite } from '@svc/kv';
import { authPartition } from './keys.ts';

export interface Stored<T> {
  readonly record: T;
  readonly predicate: KvPredicate;
}

/** Records, relations and texts of access control, by key text. */
export class AuthStore {
  readonly #kv: KvStore;
  readonly #xids = new XidGenerator();

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  async get<T>(message: Message<T>, key: string): Promise<T | undefined> {
    return (await this.getStored(message, key))?.record;
  }

  async getStored<T>(message: Message<T>, key: string): Promise<Stored<T> | undefined> {
    const found = await this.#kv.get(authPartition, Buffer.from(key));
    return found === undefined
      ? undefined
      : { record: message.decode(found.value), predicate: found.predicate };
  }

  /** False when there is one already. */
  create<T>(message: Message<T>, key: string, record: T, event?: NewEvent): Promise<boolean> {
    return this.write(message, key, record, 'absent', event);
  }

  /** Tells of the event when it writes. */
  write<T>(
    message: Message<T>,
    key: string,
    record: T,
    condition: KvCondition,
    event?: NewEvent,
  ): Promise<boolean> {
    const write = { key: Buffer.from(key), value: message.encode(record) };
    if (event === undefined) return this.#kv.setIf(authPartition, write.key, write.value, condition);
    const guard = { key: write.key, condition };
    return this.#kv.change(authPartition, guard, [{ type: 'put', ...write }, this.#told(event)]);
  }

  #told(event: NewEvent): KvWrite {
    return outboxPut(event, Date.now(), this.#xids);
  }

  async exists(key: string): Promise<boolean> {
    return (await this.#kv.get(authPartition, Buffer.from(key))) !== undefined;
  }

  /** Tells of the event when there was something to delete. */
  async delete(key: string, event?: NewEvent): Promise<void> {
    const name = Buffer.from(key);
    if (event === undefined) await this.#kv.delete(authPartition, name);
    else {
      const writes: KvWrite[] = [{ type: 'delete', key: name }, this.#told(event)];
      await this.#kv.change(authPartition, { key: name, condition: 'present' }, writes);
    }
  }

  /** Points `key` at the record `target`. False when `key` points somewhere already. */
  createIndex(key: string, target: string, event?: NewEvent): Promise<boolean> {
    return this.create(secondaryIndexMessage, key, { primaryKey: Buffer.from(target) }, event);
  }

  async setIndex(key: string, target: string): Promise<void> {
    const value = secondaryIndexMessage.encode({ primaryKey: Buffer.from(target) });
    await this.#kv.set(authPartition, Buffer.from(key), value);
  }

  /** The key of the record that an index entry points at. */
  async target(key: string): Promise<string | undefined> {
    const index = await this.get(secondaryIndexMessage, key);
    return index === undefined ? undefined : Buffer.from(index.primaryKey).toString();
  }

  async text(key: string): Promise<string | undefined> {
    return (await this.textStored(key))?.record;
  }

  async textStored(key: string): Promise<Stored<string> | undefined> {
    const found = await this.#kv.get(authPartition, Buffer.from(key));
    return found === undefined ? undefined : { record: found.value.toString(), predicate: found.predicate };
  }

  setText(key: string, text: string): Promise<void> {
    return this.#kv.set(authPartition, Buffer.from(key), Buffer.from(text));
  }

  setTextIf(key: string, text: string, condition: KvCondition): Promise<boolean> {
    return this.#kv.setIf(authPartition, Buffer.from(key), Buffer.from(text), condition);
  }

  deleteTextIf(key: string, predicate: KvPredicate): Promise<boolean> {
    return this.#kv.deleteIf(authPartition, Buffer.from(key), predicate);
  }

  /** Names below `folder`, in byte order, with the stored bytes. */
  async *entries(
    folder: string,
    range: { readonly prefix?: string; readonly after?: string; readonly batch?: number } = {},
  ): AsyncGenerator<{ readonly name: string; readonly value: Buffer }, void, undefined> {
    const scan = this.#kv.scan(authPartition, {
      prefix: Buffer.from(folder + (range.prefix ?? '')),
      after: range.after === undefined || range.after === '' ? undefined : Buffer.from(folder + range.after),
      batch: range.batch,
    });
    const from = Buffer.byteLength(folder);
    for await (const page of scan) {
      for (const { key, value } of page) yield { name: key.toString('utf8', from), value };
    }
  }

  async names(folder: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of this.entries(folder)) names.push(name);
    return names;
  }
}
