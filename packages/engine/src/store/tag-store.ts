import type { TagData } from '@svc/encoding';
import { tagMessage } from '@svc/encoding';
import type { KvGuard, KvPredicate, KvStore, KvWrite } from '@svc/kv';
import type { MoveLog, PlannedMove } from '../moves/move-log.ts';
import { absent, isAbsentAtOnce } from './absent-at-once.ts';
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
  readonly #moves: MoveLog;
  readonly #reads: SharedReads<StoredTag | undefined>;

  constructor(kv: KvStore, moves: MoveLog, maxBatchDelayMs: number) {
    this.#kv = kv;
    this.#moves = moves;
    this.#reads = new SharedReads(maxBatchDelayMs);
  }

  find(scope: RepositoryScope, id: string): Promise<StoredTag | undefined> {
    const key = tagKey(id);
    if (isAbsentAtOnce(this.#kv, scope.partition, key)) return absent;
    return this.#reads.read(`${scope.repository.instanceUid}/${id}`, async () => {
      const found = await this.#kv.get(scope.partition, key);
      return found === undefined
        ? undefined
        : { data: tagMessage.decode(found.value), predicate: found.predicate };
    });
  }

  create(scope: RepositoryScope, data: Omit<TagData, 'lastMove'>, move: PlannedMove): Promise<boolean> {
    const key = tagKey(data.id);
    const value = tagMessage.encode({ ...data, lastMove: move.id });
    return this.#move(scope, { key, condition: 'absent' }, { type: 'put', key, value }, move);
  }

  remove(scope: RepositoryScope, tag: StoredTag, move: PlannedMove): Promise<boolean> {
    const key = tagKey(tag.data.id);
    return this.#move(scope, { key, condition: tag.predicate }, { type: 'delete', key }, move);
  }

  async #move(scope: RepositoryScope, guard: KvGuard, write: KvWrite, move: PlannedMove): Promise<boolean> {
    const moved = await this.#kv.change(scope.partition, guard, [write, ...move.writes], move.still);
    if (moved) this.#moves.remember(move);
    return moved;
  }

  async *list(scope: RepositoryScope, prefix = '', after = ''): AsyncGenerator<TagData> {
    const start = Buffer.concat([tagsPrefix, Buffer.from(prefix)]);
    const options = after === '' ? { prefix: start } : { prefix: start, after: tagKey(after) };
    for await (const page of this.#kv.scan(scope.partition, options)) {
      for (const entry of page) yield tagMessage.decode(entry.value);
    }
  }
}
