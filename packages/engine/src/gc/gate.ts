import {
  gcHeld,
  gcIdle,
  gcPinMessage,
  gcStateMessage,
  gcSweeping,
  pinOfAddress,
  pinOfCommit,
  pinOfMetaRange,
  timestampFromMillis,
  type GcState,
} from '@svc/encoding';
import type { KvExpectation, KvStore } from '@svc/kv';
import { growingCache } from '../context/growing-cache.ts';
import type { CommittedTrees } from '../committed/tree.ts';
import { invalid } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import { commitRecord, type CommitStore } from '../store/commit-store.ts';
import { commitKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { pinKey, stateKey } from './gc-keys.ts';
import type { LeaseWatch } from './lease-watch.ts';

const pinLifetimeMs = 24 * 3_600_000;
const knownRepositories = 10_000;

/** What the gate needs of the engine. */
export interface GateParts {
  readonly kv: KvStore;
  readonly trees: CommittedTrees;
  readonly commits: CommitStore;
  readonly clock: () => number;
  readonly nextId: () => string;
  readonly watch: LeaseWatch;
  /** Told how long a writer waited for a batch, in seconds. */
  readonly onWait?: ((seconds: number) => void) | undefined;
}

/** The tree is named in a pin: no batch that began since takes it. */
export const pinned = 'pinned';

/** What `gc/state` held while nothing was collected; undefined: it was not there. */
export interface IdleState {
  readonly value: Buffer | undefined;
}

/** Where a writer stood before it wrote its tables; undefined: something was collected. */
export type Entered = IdleState | typeof pinned | undefined;

/** Where somebody stood who brings an address: nothing was collected, or the address is pinned against this run. */
export interface Approach {
  readonly idle?: IdleState | undefined;
  readonly pinnedFor?: number | undefined;
}

/** What a head is about to move to. */
export interface TreeMove {
  readonly tree: string;
  readonly commitId: string;
  /** A tree that a commit's record keeps. */
  readonly base: () => Promise<string>;
  /** The tables were there before, so their age does not protect them. */
  readonly adopted?: boolean | undefined;
}

/**
 * What writers do so that a collector never deletes what they bring back to life. While nothing is collected it costs
 * a comparison inside the write they make anyway, or one read.
 */
export class Gate {
  readonly #parts: GateParts;
  /** By instance. It may be old: equal bytes later prove that no collection has begun since. */
  readonly #idle = growingCache<IdleState>(knownRepositories);

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Call it before tables are written. Undefined while something is collected. */
  async enter(scope: RepositoryScope): Promise<IdleState | undefined> {
    return this.#idle.get(scope.repository.instanceUid) ?? (await this.#readIdle(scope));
  }

  /**
   * Moves a head to tables written since `entered`. A batch that was in flight meanwhile may have taken one of them:
   * then they are looked for, and false asks the caller to write them again.
   */
  async moveHead(
    scope: RepositoryScope,
    entered: Entered,
    move: TreeMove,
    change: (still: KvExpectation | undefined) => Promise<boolean>,
  ): Promise<boolean> {
    if (entered === pinned) return change(undefined);
    if (entered !== undefined) {
      const still = { key: stateKey, value: entered.value };
      if (await change(still)) return true;
      if (isSame(await this.#value(scope), entered.value)) return false;
    }
    this.#idle.delete(scope.repository.instanceUid);
    if (move.adopted === true) return false;
    await this.#pinRecord(scope, move.commitId);
    await this.#waitForBatch(scope);
    if (!(await this.#areStored(scope, move))) return false;
    return change(undefined);
  }

  /** As `enter`, for a tree whose tables were written at some other time: they are there, or it is refused. */
  async adopt(scope: RepositoryScope, tree: string): Promise<Entered> {
    this.#idle.delete(scope.repository.instanceUid);
    const idle = await this.#readIdle(scope);
    if (idle === undefined) await this.#pin(scope, pinOfMetaRange, tree);
    if (tree !== '' && !(await this.#parts.trees.areStored(scope.committed, tree, ''))) {
      throw invalid(`metarange ${tree} is no tree of objects in this repository`, 'commit');
    }
    return idle ?? pinned;
  }

  /**
   * After a ref, or a commit of other trees, was written that no living ref showed; before it is acknowledged. A record
   * that was collected meanwhile, because nothing led to it, is stored again: the caller read the commit before it wrote
   * anything, so nothing is ever left that leads nowhere.
   */
  async commitById(scope: RepositoryScope, commit: Commit): Promise<void> {
    const { kv } = this.#parts;
    const records = [commit.id, ...commit.parents];
    const known = this.#idle.get(scope.repository.instanceUid);
    const [state, ...found] = await kv.getMany(scope.partition, [stateKey, ...records.map(commitKey)]);
    // Without a collection since the state was known the order of these reads does not matter.
    const isCalm = known !== undefined && isSame(state?.value, known.value);
    if (isCalm && found.every((record) => record !== undefined)) return;
    await this.#pin(scope, pinOfCommit, commit.id);
    await this.#storeAgain(scope, commit.id, commit);
    for (const id of commit.parents) await this.#storeAgain(scope, id);
  }

  /** As `commitById`, for many at once; they are asked for only while something is collected. */
  async commitsById(scope: RepositoryScope, find: () => AsyncIterable<string>): Promise<void> {
    const state = decodeState(await this.#value(scope));
    if (!isCollecting(state)) return;
    const pinnedIds: string[] = [];
    for await (const commitId of find()) {
      await this.#putPin(scope, pinOfCommit, commitId, state);
      pinnedIds.push(commitId);
    }
    await this.#waitForBatch(scope);
    for (const commitId of pinnedIds) await this.#storeAgain(scope, commitId);
  }

  /**
   * Before an entry is staged that points to data of `scope`. While something is collected the address is pinned and no
   * batch in flight can take it any more, so the caller looks for the data before anybody can see the entry.
   */
  async approach(scope: RepositoryScope, address: string): Promise<Approach> {
    const isFree = this.#parts.kv.valueAtOnce !== undefined;
    const idle = isFree ? await this.#readIdle(scope) : await this.enter(scope);
    if (idle !== undefined) return { idle };
    return { pinnedFor: await this.#pin(scope, pinOfAddress, address) };
  }

  /** After it was staged, before that is acknowledged; true when the data must be looked for now. */
  async wasCollected(
    scope: RepositoryScope,
    address: string,
    { idle, pinnedFor }: Approach,
  ): Promise<boolean> {
    const value = await this.#value(scope);
    const isCalm =
      idle === undefined ? decodeState(value)?.generation === pinnedFor : isSame(value, idle.value);
    if (isCalm) return false;
    this.#idle.delete(scope.repository.instanceUid);
    await this.#pin(scope, pinOfAddress, address);
    return true;
  }

  /** Answers the generation of the run it met, if any. */
  async #pin(scope: RepositoryScope, kind: number, value: string): Promise<number | undefined> {
    const current = await this.#value(scope);
    const state = decodeState(current);
    const isHeld = state?.phase === gcHeld;
    if (!isCollecting(state)) {
      if (!isHeld) this.#idle.set(scope.repository.instanceUid, { value: current });
      return undefined;
    }
    await this.#putPin(scope, kind, value, state);
    await this.#waitForBatch(scope);
    return state.generation;
  }

  /** A commit that is made once more may have a record that nothing led to. */
  async #pinRecord(scope: RepositoryScope, commitId: string): Promise<void> {
    const state = decodeState(await this.#value(scope));
    if (!isCollecting(state)) return;
    const found = await this.#parts.kv.get(scope.partition, commitKey(commitId));
    if (found !== undefined) await this.#putPin(scope, pinOfCommit, commitId, state);
  }

  /** Parents of a commit that was brought from elsewhere may never have been here. */
  async #storeAgain(scope: RepositoryScope, commitId: string, held?: Commit): Promise<void> {
    const { kv, commits } = this.#parts;
    if ((await kv.get(scope.partition, commitKey(commitId))) !== undefined) return;
    const commit = held ?? (await commits.find(scope, commitId));
    if (commit === undefined) return;
    const { key, value } = commitRecord(commit);
    await kv.setIf(scope.partition, key, value, 'absent');
  }

  async #putPin(scope: RepositoryScope, kind: number, value: string, state: GcState): Promise<void> {
    const { kv, clock, nextId } = this.#parts;
    const expires = timestampFromMillis(clock() + pinLifetimeMs);
    const pin = gcPinMessage.encode({ kind, value, generation: state.generation, expires });
    await kv.set(scope.partition, pinKey(nextId()), pin);
  }

  /** A batch that began before this call is over when it returns. */
  async #waitForBatch(scope: RepositoryScope): Promise<void> {
    const { watch, onWait } = this.#parts;
    const begun = performance.now();
    let first: GcState | undefined;
    for (let pause = 50; ; pause = Math.min(500, 2 * pause)) {
      const value = await this.#value(scope);
      const state = decodeState(value);
      if (state?.phase !== gcSweeping || !state.inFlight) break;
      first ??= state;
      if (state.generation !== first.generation || state.batch !== first.batch) break;
      // Its owner may be dead; who watched it for long enough may end it.
      await watch.look(scope.partition);
      await watch.rest(pause);
    }
    if (first !== undefined) onWait?.((performance.now() - begun) / 1000);
  }

  async #areStored(scope: RepositoryScope, { tree, base }: TreeMove): Promise<boolean> {
    if (tree === '') return true;
    return this.#parts.trees.areStored(scope.committed, tree, await base());
  }

  async #readIdle(scope: RepositoryScope): Promise<IdleState | undefined> {
    const value = await this.#value(scope);
    const state = decodeState(value);
    if (state !== undefined && state.phase !== gcIdle) return undefined;
    const idle = { value };
    this.#idle.set(scope.repository.instanceUid, idle);
    return idle;
  }

  async #value(scope: RepositoryScope): Promise<Buffer | undefined> {
    const { kv } = this.#parts;
    if (kv.valueAtOnce !== undefined) return kv.valueAtOnce(scope.partition, stateKey);
    return (await kv.get(scope.partition, stateKey))?.value;
  }
}

export function decodeState(value: Buffer | undefined): GcState | undefined {
  return value === undefined ? undefined : gcStateMessage.decode(value);
}

function isCollecting(state: GcState | undefined): state is GcState {
  return state !== undefined && state.phase !== gcIdle && state.phase !== gcHeld;
}

function isSame(left: Buffer | undefined, right: Buffer | undefined): boolean {
  return left === undefined || right === undefined ? left === right : left.equals(right);
}
