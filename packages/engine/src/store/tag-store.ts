import type { TagData } from '@svc/encoding';
import { tagMessage } from '@svc/encoding';
import type { KvPredicate, KvStore } from '@svc/kv';
import { SharedReads } from './shared-reads.ts';
import { tagKey, tagsPrefix } from './keys.ts';
import type { RepositoryScope } from './scope.ts';

export interface StoredTag {
  readonly data: TagData;
  readonly predicate: KvPredicate;
}

/** Tag records: created once, never changed. */
export class TagStore {
  readonly #kv: KvStore;
  readonly #reads: SharedReads<StoredTag | undefined>;

  constructor(kv: KvStore, maxBatchDelayMs: number) {
    this.#kv = kv;
    this.#reads = new SharedReads(maxBatchDelayMs);
  }

  find(scope: RepositoryScope, id: string): Promise<StoredTag | undefined> {
    return this.#reads.read(`${scope.repository.instanceUid}/${id}`, async () => {
      const found = await this.#kv.get(scope.partition, tagKey(id));
      return found === undefined
        ? undefined
        : { data: tagMessage.decode(found.value), predicate: found.predicate };
    });
  }

  create(scope: RepositoryScope, data: TagData): Promise<boolean> {
    return this.#kv.setIf(scope.partition, tagKey(data.id), tagMessage.encode(data), 'absent');
  }

  remove(scope: RepositoryScope, tag: StoredTag): Promise<boolean> {
    return this.#kv.deleteIf(scope.partition, tagKey(tag.data.id), tag.predicate);
  }

  async *list(scope: RepositoryScope, prefix = '', after = ''): AsyncGenerator<TagData> {
    const start = Buffer.concat([tagsPrefix, Buffer.from(prefix)]);
    const options = after === '' ? { prefix: start } : { prefix: start, after: tagKey(after) };
    for await (const page of this.#kv.scan(scope.partition, options)) {
      for (const entry of page) yield tagMessage.decode(entry.value);
    }
  }
}
