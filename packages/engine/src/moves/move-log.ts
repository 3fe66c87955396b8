import {
  graveMessage,
  moveKinds,
  moveMessage,
  moveOfAlias,
  moveOfBranch,
  moveOfRepository,
  moveOfTag,
  moveOfView,
  ownBytes,
  type BindingData,
  type GraveData,
  type MoveData,
  type MoveKind,
  type XidGenerator,
} from '@svc/encoding';
import type { CacheBus, KvExpectation, KvStore, KvWrite } from '@svc/kv';
import { growingCache } from '../context/growing-cache.ts';
import type { Actor } from '../face/model.ts';
import type { EngineLogger } from '../face/options.ts';
import {
  graveKey,
  gravelerPartition,
  moveIdOfKey,
  moveKey,
  movesPrefix,
  outboxKey,
  reflogSinceKey,
} from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { moveTime, newMoveId } from './move-id.ts';

const topic = 'engine/moves';
const cachedRecords = 10_000;
/** A clock that is further behind the last move is worth a word in the log. */
const noticedSkewMicros = 5_000_000;
const none: Buffer = Buffer.alloc(0);

export type RefType = 'branch' | 'tag';

/** What is about to happen to a ref. */
export interface RefMove {
  readonly kind: MoveKind;
  readonly type: RefType;
  readonly id: string;
  /** Commit ids; absent: the ref does not exist then. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly actor: Actor;
  /** What the caller named: a source branch, a ref, … */
  readonly source?: string | undefined;
  readonly hidden?: boolean | undefined;
  readonly retiredTokens?: readonly string[] | undefined;
  /** Nothing but the record may name what the ref pointed to; by the kind when absent. */
  readonly lossy?: boolean | undefined;
  /** What else is written when it happens. */
  readonly more?: readonly KvWrite[] | undefined;
}

/** What is about to happen to an alias or view. */
export interface BindingMove {
  readonly kind: MoveKind;
  readonly type: 'alias' | 'view';
  readonly id: string;
  readonly binding: BindingData | undefined;
  readonly oldBinding: BindingData | undefined;
  readonly actor: Actor;
}

type InPartition = Pick<RepositoryScope, 'partition'>;
const bindingScope: InPartition = { partition: gravelerPartition };

/** A move that happens when its writes do: hand them to the very `change` that moves the ref. */
export interface PlannedMove {
  readonly id: Buffer;
  readonly data: MoveData;
  /** Set when the log of this instance begins with it. */
  readonly begins?: string | undefined;
  readonly writes: readonly KvWrite[];
  /** Must still hold for the record to be true. */
  readonly still?: KvExpectation | undefined;
}

export interface StoredMove {
  readonly id: Buffer;
  readonly data: MoveData;
}

/** Moves after which nothing but their record may name what the ref pointed to. */
const lossyKinds: ReadonlySet<MoveKind> = new Set(['hard-reset', 'delete']);

/** The records of what happened to the refs of a repository. */
export class MoveLog {
  readonly #kv: KvStore;
  readonly #bus: CacheBus;
  readonly #clock: () => number;
  readonly #xids: XidGenerator;
  readonly #logger: EngineLogger;
  readonly #onMoved: (kind: MoveKind) => void;
  /** Records never change; those that were forgotten are dropped by the bus. */
  readonly #records = growingCache<MoveData>(cachedRecords);
  /** Under way; an id is made with its record, so nobody asks for one before it is there. */
  readonly #loads = new Map<string, Promise<MoveData | undefined>>();
  /** Instances whose log is known to have a beginning. */
  readonly #begun = growingCache<true>(cachedRecords);
  readonly #unsubscribe: () => void;

  constructor(
    kv: KvStore,
    bus: CacheBus,
    clock: () => number,
    xids: XidGenerator,
    logger: EngineLogger,
    onMoved: (kind: MoveKind) => void,
  ) {
    this.#kv = kv;
    this.#bus = bus;
    this.#clock = clock;
    this.#xids = xids;
    this.#logger = logger;
    this.#onMoved = onMoved;
    this.#unsubscribe = bus.subscribe(topic, () => this.#records.clear());
  }

  close(): void {
    this.#unsubscribe();
  }

  /** A move of a ref whose last recorded one is `last` (empty: none). */
  async plan(scope: RepositoryScope, move: RefMove, last: Buffer): Promise<PlannedMove> {
    if (last.length === 0)
      return this.#planAt(scope, move, newMoveId(this.#clock(), undefined, this.#xids), first);
    const id = newMoveId(this.#clock(), last, this.#xids);
    const ahead = moveTime(id) - this.#clock() * 1000;
    if (ahead > noticedSkewMicros) {
      this.#logger.warn(
        { repository: scope.repository.id, ref: move.id, seconds: Math.round(ahead / 1e6) },
        'the last move of a ref lies ahead of this clock: the clocks of the servers differ',
      );
    }
    return this.#planAt(scope, move, id, await this.#placeAfter(scope, last));
  }

  /** Brings into memory what `plan` will read. */
  foresee(scope: RepositoryScope, last: Buffer): void {
    // Where a read is a look into memory, there is nothing to gain.
    if (last.length === 0 || this.#kv.valueAtOnce !== undefined) return;
    // `plan` asks again and sees the failure.
    this.#placeAfter(scope, last).catch(() => undefined);
  }

  /** As `planCreation`, for a name that most likely nobody deleted: spares the look, and does not happen otherwise. */
  planFirstCreation(scope: RepositoryScope, move: RefMove): PlannedMove {
    const key = graveKey(move.type, move.id);
    const still = this.#hasRoomForGrave(scope, key) ? { key, value: undefined } : undefined;
    const id = newMoveId(this.#clock(), undefined, this.#xids);
    return this.#planAt(scope, move, id, first, still);
  }

  /** A ref that is created: its log goes on where the one of its deleted namesake ended. */
  async planCreation(scope: RepositoryScope, move: RefMove): Promise<PlannedMove> {
    const key = graveKey(move.type, move.id);
    const value = this.#hasRoomForGrave(scope, key) ? await this.#read(scope, key) : undefined;
    if (value === undefined) return this.planFirstCreation(scope, move);
    const planned = await this.plan(scope, move, graveMessage.decode(value).lastMove);
    return { ...planned, writes: [...planned.writes, { type: 'delete', key }], still: { key, value } };
  }

  /** A ref that is deleted, and what is needed to bring it back. */
  async planDeletion(scope: RepositoryScope, move: RefMove, last: Buffer): Promise<PlannedMove> {
    const planned = await this.plan(scope, move, last);
    const key = graveKey(move.type, move.id);
    if (!this.#hasRoomForGrave(scope, key)) return planned;
    const grave: GraveData = {
      lastMove: planned.id,
      commit: commitBytes(move.from),
      user: userOf(move.actor),
      hidden: move.hidden === true,
    };
    return {
      ...planned,
      writes: [...planned.writes, { type: 'put', key, value: graveMessage.encode(grave) }],
    };
  }

  /** Creation or deletion of a repository; written beside its record. */
  planOfRepository(kind: MoveKind, id: string, actor: Actor): PlannedMove {
    const moveId = newMoveId(this.#clock(), undefined, this.#xids);
    const move: RefMove = { kind, type: 'branch', id, actor };
    const data = { ...recordOf(move, first), refType: moveOfRepository };
    return { id: moveId, data, writes: writesOf(moveId, data) };
  }

  /** What a bucket name means changes; written beside its record. */
  async planOfBinding(move: BindingMove): Promise<PlannedMove> {
    const last = move.oldBinding?.lastMove ?? none;
    const id = newMoveId(this.#clock(), last.length > 0 ? last : undefined, this.#xids);
    const place = last.length > 0 ? await this.#placeAfter(bindingScope, last) : first;
    const { kind, actor, binding, oldBinding } = move;
    const data: MoveData = {
      ...recordOf({ kind, type: 'branch', id: move.id, actor, lossy: false }, place),
      refType: move.type === 'alias' ? moveOfAlias : moveOfView,
      binding,
      oldBinding,
    };
    return { id, data, writes: writesOf(id, data) };
  }

  /** Counts the move, and spares reading its record when the ref moves on. Call it once the move has happened, never before. */
  remember({ id, data, begins }: PlannedMove): void {
    const kind = moveKinds[data.kind];
    if (kind !== undefined) this.#onMoved(kind);
    this.#keep(nameOf(id), data);
    if (begins !== undefined) this.#begun.set(begins, true);
  }

  /** Undefined when it was forgotten. */
  async find(scope: InPartition, id: Buffer): Promise<MoveData | undefined> {
    const name = nameOf(id);
    if (this.#kv.valueAtOnce !== undefined) return this.#load(scope, name, id);
    const known = this.#records.get(name) ?? this.#loads.get(name);
    if (known !== undefined) return known;
    const load = this.#load(scope, name, id).finally(() => this.#loads.delete(name));
    this.#loads.set(name, load);
    return load;
  }

  async #load(scope: InPartition, name: string, id: Buffer): Promise<MoveData | undefined> {
    const value = await this.#read(scope, moveKey(id));
    if (value === undefined) return undefined;
    const data = moveMessage.decode(value);
    this.#keep(name, data);
    return data;
  }

  #keep(name: string, data: MoveData): void {
    // Where a read is a look into memory, it costs less than keeping what may never be asked for.
    if (this.#kv.valueAtOnce === undefined) this.#records.set(name, withOwnBytes(data));
  }

  /** Newest first, from the one before `after` on. */
  async *list(
    scope: RepositoryScope,
    options: { readonly after?: Buffer | undefined; readonly batch?: number | undefined } = {},
  ): AsyncGenerator<StoredMove> {
    const { after, batch } = options;
    const range = { prefix: movesPrefix, batch, ...(after === undefined ? {} : { after: moveKey(after) }) };
    for await (const page of this.#kv.scan(scope.partition, range)) {
      for (const { key, value } of page) yield { id: moveIdOfKey(key), data: moveMessage.decode(value) };
    }
  }

  async findGrave(scope: RepositoryScope, type: RefType, name: string): Promise<GraveData | undefined> {
    const key = graveKey(type, name);
    if (!this.#hasRoomForGrave(scope, key)) return undefined;
    const value = await this.#read(scope, key);
    return value === undefined ? undefined : graveMessage.decode(value);
  }

  /** Since when every move is recorded, in microseconds. A log without a beginning begins now. */
  async since(scope: RepositoryScope): Promise<number> {
    for (;;) {
      const value = await this.#read(scope, reflogSinceKey);
      if (value !== undefined) {
        this.#begun.set(scope.repository.instanceUid, true);
        return Number(value.readBigUInt64BE(0));
      }
      await this.#kv.setIf(scope.partition, reflogSinceKey, microsBytes(this.#clock() * 1000), 'absent');
    }
  }

  /** Makes every worker of this server forget the records it has in memory. */
  async forget(): Promise<void> {
    this.#records.clear();
    await this.#bus.publish(topic, '');
  }

  #planAt(
    scope: RepositoryScope,
    move: RefMove,
    id: Buffer,
    place: Place,
    still?: KvExpectation,
  ): PlannedMove {
    const data = recordOf(move, place);
    const writes = writesOf(id, data);
    if (move.more !== undefined) writes.push(...move.more);
    const { instanceUid } = scope.repository;
    const begins = this.#begun.has(instanceUid) ? undefined : instanceUid;
    if (begins !== undefined)
      writes.unshift({ type: 'create', key: reflogSinceKey, value: Buffer.from(id.subarray(0, 8)) });
    return { id, data, begins, writes, still };
  }

  /** Where a move stands that follows `last`: each `jump` skips so many that any earlier one is a few steps away. */
  async #placeAfter(scope: InPartition, last: Buffer): Promise<Place> {
    const previous = await this.find(scope, last);
    // Forgotten: what is further back cannot be reached any more.
    if (previous === undefined) return { ...first, prev: last };
    const depth = previous.depth + 1;
    const toPrevious = { prev: last, jump: last, depth, jumpDepth: previous.depth };
    if (previous.jump.length === 0) return toPrevious;
    const skipped = await this.find(scope, previous.jump);
    if (skipped === undefined) return toPrevious;
    const beyond = skipped.jump.length === 0 ? skipped.depth : skipped.jumpDepth;
    if (previous.depth - previous.jumpDepth !== previous.jumpDepth - beyond) return toPrevious;
    return skipped.jump.length === 0
      ? { prev: last, jump: previous.jump, depth, jumpDepth: previous.jumpDepth }
      : { prev: last, jump: skipped.jump, depth, jumpDepth: skipped.jumpDepth };
  }

  async #read(scope: InPartition, key: Buffer): Promise<Buffer | undefined> {
    if (this.#kv.valueAtOnce !== undefined) return this.#kv.valueAtOnce(scope.partition, key);
    return (await this.#kv.get(scope.partition, key))?.value;
  }

  #hasRoomForGrave(scope: RepositoryScope, key: Buffer): boolean {
    return key.length <= this.#kv.maxKeyBytes(scope.partition);
  }
}

interface Place {
  readonly prev: Buffer;
  readonly jump: Buffer;
  readonly depth: number;
  readonly jumpDepth: number;
}

const first: Place = { prev: none, jump: none, depth: 1, jumpDepth: 0 };

function recordOf(move: RefMove, place: Place): MoveData {
  return {
    kind: moveKinds.indexOf(move.kind),
    refType: move.type === 'branch' ? moveOfBranch : moveOfTag,
    refId: move.id,
    old: commitBytes(move.from),
    new: commitBytes(move.to),
    user: userOf(move.actor),
    source: move.source ?? '',
    ...place,
    lossy: move.lossy ?? lossyKinds.has(move.kind),
    hidden: move.hidden === true,
    requestId: move.actor.requestId === undefined ? none : Buffer.from(move.actor.requestId),
    retiredTokens: move.retiredTokens ?? [],
    binding: undefined,
    oldBinding: undefined,
  };
}

function writesOf(id: Buffer, data: MoveData): KvWrite[] {
  return [
    { type: 'put', key: moveKey(id), value: moveMessage.encode(data) },
    { type: 'put', key: outboxKey(id), value: none },
  ];
}

function withOwnBytes(data: MoveData): MoveData {
  const { old, prev, jump, requestId } = data;
  return {
    ...data,
    old: ownBytes(old),
    new: ownBytes(data.new),
    prev: ownBytes(prev),
    jump: ownBytes(jump),
    requestId: ownBytes(requestId),
  };
}

/** Move ids are unique, whatever the repository. */
function nameOf(id: Buffer): string {
  return id.toString('latin1');
}

export function userOf(actor: Actor | undefined): string {
  return actor?.userId ?? actor?.committer ?? '';
}

export function commitBytes(commitId: string | undefined): Buffer {
  return commitId === undefined ? none : Buffer.from(commitId, 'hex');
}

/** Undefined when there is no commit. */
export function commitText(bytes: Buffer): string | undefined {
  return bytes.length === 0 ? undefined : bytes.toString('hex');
}

export function microsBytes(micros: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(Math.floor(micros)));
  return bytes;
}
