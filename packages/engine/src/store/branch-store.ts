import type { BranchData } from '@svc/encoding';
import { branchMessage, ownBytes } from '@svc/encoding';
import type { KvExpectation, KvGuard, KvPredicate, KvPut, KvStore, KvValue, KvWrite } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import { notFound } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import type { MoveLog, PlannedMove } from '../moves/move-log.ts';
import { absent, isAbsentAtOnce } from './absent-at-once.ts';
import { commitRecord } from './commit-store.ts';
import { branchesPrefix, branchKey } from './keys.ts';
import type { RepositoryScope } from './scope.ts';
import { SharedReads } from './shared-reads.ts';

/** A branch record as read, with the proof that it is unchanged. Shared between readers: never change it. */
export interface BranchHead {
  readonly data: BranchData;
  readonly predicate: KvPredicate;
  readonly key: Buffer;
  readonly raw: Buffer;
  /** The staging token and the sealed ones, newest first, as partitions. */
  readonly tokens: readonly Buffer[];
}

/** A branch that nobody has moved yet. */
export type NewBranch = Omit<BranchData, 'lastMove'>;

/** How old a record may be that a write begins with, before it looks at it again. */
const latelyMs = 1000;

interface Seen {
  readonly head: BranchHead;
  /** When the last read of it began. */
  at: number;
}

/** Branch records. They are never answered from a cache: every read asks the store. */
export class BranchStore {
  readonly #kv: KvStore;
  readonly #moves: MoveLog;
  readonly #reads: SharedReads<BranchHead | undefined>;
  /** Spares decoding a record whose bytes are those of the last read. */
  readonly #decoded = new LRUCache<string, Seen>({ max: 1000 });

  constructor(kv: KvStore, moves: MoveLog, maxBatchDelayMs: number) {
    this.#kv = kv;
    this.#moves = moves;
    this.#reads = new SharedReads(maxBatchDelayMs);
  }

  find(scope: RepositoryScope, id: string): Promise<BranchHead | undefined> {
    const name = nameOf(scope, id);
    const seen = this.#decoded.get(name)?.head;
    // Asking the store at once costs less than sharing a read of it.
    if (seen !== undefined && this.isCurrentAtOnce(scope, seen) === true) return Promise.resolve(seen);
    if (isAbsentAtOnce(this.#kv, scope.partition, branchKey(id))) return absent;
    return this.#reads.read(name, () => this.#load(scope, id));
  }

  /** The record of an earlier read. It may be out of date: check it after use, by `isCurrentAtOnce` or another read. */
  lastSeen(scope: RepositoryScope, id: string): BranchHead | undefined {
    return this.#decoded.get(nameOf(scope, id))?.head;
  }

  /**
   * The record as it was a moment ago, for a write that ends with `setThenGet` and begins anew when that answers another
   * token. Undefined where such a write saves nothing, or nobody read the record lately.
   */
  lately(scope: RepositoryScope, id: string): BranchHead | undefined {
    if (this.#kv.setThenGet === undefined) return undefined;
    const seen = this.#decoded.get(nameOf(scope, id));
    return seen !== undefined && performance.now() - seen.at < latelyMs ? seen.head : undefined;
  }

  /** Writes an entry, and reads the branch when that is durable. */
  async setThenGet(scope: RepositoryScope, id: string, write: KvPut): Promise<BranchHead> {
    if (this.#kv.setThenGet === undefined) {
      await this.#kv.set(write.partition, write.key, write.value);
      return this.get(scope, id);
    }
    const began = performance.now();
    const key = branchKey(id);
    const head = this.#headOf(scope, id, began, key, await this.#kv.setThenGet(write, scope.partition, key));
    if (head === undefined) throw notFound('branch');
    return head;
  }

  /** Whether the record is still as it was read; undefined when the store cannot tell at once. */
  isCurrentAtOnce(scope: RepositoryScope, head: BranchHead): boolean | undefined {
    if (this.#kv.valueAtOnce === undefined) return undefined;
    const now = this.#kv.valueAtOnce(scope.partition, head.key);
    return now !== undefined && now.equals(head.raw);
  }

  async get(scope: RepositoryScope, id: string): Promise<BranchHead> {
    const head = await this.find(scope, id);
    if (head === undefined) throw notFound('branch');
    return head;
  }

  async #load(scope: RepositoryScope, id: string): Promise<BranchHead | undefined> {
    const began = performance.now();
    const key = branchKey(id);
    return this.#headOf(scope, id, began, key, await this.#kv.get(scope.partition, key));
  }

  #headOf(
    scope: RepositoryScope,
    id: string,
    began: number,
    key: Buffer,
    found: KvValue | undefined,
  ): BranchHead | undefined {
    const name = nameOf(scope, id);
    if (found === undefined) {
      this.#decoded.delete(name);
      return undefined;
    }
    const last = this.#decoded.get(name);
    if (last?.head.raw.equals(found.value) === true) {
      last.at = Math.max(last.at, began);
      return { ...last.head, predicate: found.predicate };
    }
    const decoded = branchMessage.decode(found.value);
    const data = { ...decoded, lastMove: ownBytes(decoded.lastMove) };
    const head: BranchHead = {
      data,
      predicate: found.predicate,
      key: ownBytes(key),
      raw: ownBytes(found.value),
      tokens: [data.stagingToken, ...data.sealedTokens].map((token) => ownBytes(Buffer.from(token))),
    };
    this.#decoded.set(name, { head, at: began });
    return head;
  }

  create(scope: RepositoryScope, data: NewBranch, move: PlannedMove): Promise<boolean> {
    const key = branchKey(data.id);
    const value = branchMessage.encode({ ...data, lastMove: move.id });
    return this.#move(scope, { key, condition: 'absent' }, [{ type: 'put', key, value }], move);
  }

  /** Compare-and-set on a record whose commit stays; false when it changed since `head` was read. */
  replace(scope: RepositoryScope, head: BranchHead, data: BranchData): Promise<boolean> {
    // Writes that begin from now on look where they belong.
    if (data.stagingToken !== head.data.stagingToken) this.#decoded.delete(nameOf(scope, data.id));
    return this.#kv.setIf(scope.partition, branchKey(data.id), branchMessage.encode(data), head.predicate);
  }

  /** As `replace`; answers the record as it is now, where its proof is known without reading it. Undefined: it changed. */
  async exchange(
    scope: RepositoryScope,
    head: BranchHead,
    data: BranchData,
  ): Promise<{ readonly head: BranchHead | undefined } | undefined> {
    const began = performance.now();
    if (!(await this.replace(scope, head, data))) return undefined;
    const value = branchMessage.encode(data);
    const predicate = this.#kv.predicateOf?.(value);
    if (predicate === undefined) return { head: undefined };
    return { head: this.#headOf(scope, data.id, began, head.key, { value, predicate }) };
  }

  /** As `replace`, and something is told of it. */
  replaceTelling(
    scope: RepositoryScope,
    head: BranchHead,
    data: BranchData,
    told: KvWrite,
  ): Promise<boolean> {
    const key = branchKey(data.id);
    const value = branchMessage.encode(data);
    return this.#kv.change(scope.partition, { key, condition: head.predicate }, [
      { type: 'put', key, value },
      told,
    ]);
  }

  /** As `replace`, to a head that is stored with it: no reader and no crash finds the branch without its commit. */
  moveHead(
    scope: RepositoryScope,
    head: BranchHead,
    data: Omit<BranchData, 'commitId' | 'lastMove'>,
    commit: Commit,
    move: PlannedMove,
    still?: KvExpectation,
  ): Promise<boolean> {
    const key = branchKey(data.id);
    const value = branchMessage.encode({ ...data, commitId: commit.id, lastMove: move.id });
    const writes: KvWrite[] = [
      { type: 'put', key, value },
      { type: 'create', ...commitRecord(commit) },
    ];
    return this.#move(scope, { key, condition: head.predicate }, writes, move, still);
  }

  /** Unconditional; restores only. */
  async overwrite(scope: RepositoryScope, data: NewBranch, move: PlannedMove): Promise<void> {
    const key = branchKey(data.id);
    const value = branchMessage.encode({ ...data, lastMove: move.id });
    await this.#move(scope, { key, condition: 'any' }, [{ type: 'put', key, value }], move);
  }

  remove(scope: RepositoryScope, head: BranchHead, move: PlannedMove): Promise<boolean> {
    const key = branchKey(head.data.id);
    this.#decoded.delete(nameOf(scope, head.data.id));
    return this.#move(scope, { key, condition: head.predicate }, [{ type: 'delete', key }], move);
  }

  /** The ref and the record of its move change together or not at all. */
  async #move(
    scope: RepositoryScope,
    guard: KvGuard,
    writes: readonly KvWrite[],
    move: PlannedMove,
    still: KvExpectation | undefined = move.still,
  ): Promise<boolean> {
    const moved = await this.#kv.change(scope.partition, guard, [...writes, ...move.writes], still);
    if (moved) this.#moves.remember(move);
    return moved;
  }

  /** In id order, hidden ones included. */
  async *list(scope: RepositoryScope, prefix = '', after = ''): AsyncGenerator<BranchData> {
    const start = Buffer.concat([branchesPrefix, Buffer.from(prefix)]);
    const options = after === '' ? { prefix: start } : { prefix: start, after: branchKey(after) };
    for await (const page of this.#kv.scan(scope.partition, options)) {
      for (const entry of page) yield branchMessage.decode(entry.value);
    }
  }
}

/** By instance: a re-created repository is another one. */
function nameOf(scope: RepositoryScope, id: string): string {
  return `${scope.repository.instanceUid}/${id}`;
}
