import { gcIdle, gcMarking, gcStateMessage, gcSweeping, type GcState } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { stateKey } from '../gc-keys.ts';
import type { LeaseWatch, SteadyTime } from '../lease-watch.ts';

const beatMs = 10_000;
/** A call that was not answered may still delete for so long. */
const settleMs = 40_000;
const settleStepMs = 5000;
/** Deletes of a batch begin within this time of its beginning. */
const deletesBeginWithinMs = 20_000;

/** The collector is not the owner any more: it must do nothing more. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of the collection was lost: another server took it for dead');
    this.name = 'LeaseLost';
  }
}

export interface LeaseParts {
  readonly kv: KvStore;
  readonly time: SteadyTime;
  readonly watch: LeaseWatch;
  readonly clock: () => number;
}

/** The right to collect one repository. Every change of it is a compare-and-set, so a paused owner notices its loss. */
export class CollectorLease {
  readonly #parts: LeaseParts;
  readonly #partition: Buffer;
  #state: GcState;
  #lost = false;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #batchBegan = { steady: 0, wall: 0 };

  private constructor(parts: LeaseParts, partition: Buffer, state: GcState) {
    this.#parts = parts;
    this.#partition = partition;
    this.#state = state;
  }

  /** Undefined while somebody else has it, or while nothing may be collected. */
  static async take(
    parts: LeaseParts,
    partition: Buffer,
    runId: string,
    owner: string,
  ): Promise<CollectorLease | undefined> {
    if ((await parts.watch.look(partition)) !== 'free') return undefined;
    const found = await parts.kv.get(partition, stateKey);
    const last = found === undefined ? undefined : gcStateMessage.decode(found.value);
    if (last !== undefined && last.phase !== gcIdle) return undefined;
    const generation = (last?.generation ?? 0) + 1;
    const state = {
      generation,
      phase: gcMarking,
      runId,
      owner,
      beat: 0,
      batch: 0,
      inFlight: false,
      reason: '',
    };
    const value = gcStateMessage.encode(state);
    if (!(await parts.kv.setIf(partition, stateKey, value, found?.predicate ?? 'absent'))) return undefined;
    const lease = new CollectorLease(parts, partition, state);
    lease.#timer = setInterval(() => void lease.beat().catch(() => undefined), beatMs).unref();
    return lease;
  }

  get generation(): number {
    return this.#state.generation;
  }

  get isLost(): boolean {
    return this.#lost;
  }

  check(): void {
    if (this.#lost) throw new LeaseLost();
  }

  beat(): Promise<void> {
    return this.#set((state) => ({ ...state, beat: state.beat + 1 }));
  }

  beginSweep(): Promise<void> {
    return this.#set((state) => ({ ...state, phase: gcSweeping }));
  }

  async beginBatch(): Promise<void> {
    this.#batchBegan = { steady: this.#parts.time.now(), wall: this.#parts.clock() };
    await this.#set((state) => ({ ...state, batch: state.batch + 1, inFlight: true }));
  }

  /** Before each delete call. Clocks may stand still in a machine that sleeps, so the store is asked as well. */
  async mayDelete(): Promise<boolean> {
    this.check();
    if (!this.isInTime()) return false;
    return this.#exclusive(async () => {
      const found = await this.#parts.kv.get(this.#partition, stateKey);
      if (found?.value.equals(gcStateMessage.encode(this.#state)) !== true) this.#lose();
      return true;
    });
  }

  /** As `mayDelete`, as far as this process can tell by itself: for each request of a call. */
  isInTime(): boolean {
    const { steady, wall } = this.#batchBegan;
    const isLate =
      this.#parts.time.now() - steady >= deletesBeginWithinMs ||
      this.#parts.clock() - wall >= deletesBeginWithinMs;
    return !this.#lost && !isLate;
  }

  /** A call whose end nobody knows may still be at work: until it is over for certain, writers go on waiting. */
  async settle(): Promise<void> {
    for (let waited = 0; waited < settleMs; waited += settleStepMs) {
      await this.#parts.time.rest(settleStepMs);
      await this.beat();
    }
  }

  endBatch(): Promise<void> {
    return this.#set((state) => ({ ...state, inFlight: false }));
  }

  /** Everything is over. A lost lease is nobody's to end. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#lost) return;
    await this.#set((state) => ({ ...state, phase: gcIdle, inFlight: false, owner: '' }));
  }

  /** As if the process had died. */
  abandon(): void {
    clearInterval(this.#timer);
    this.#lost = true;
  }

  #set(change: (state: GcState) => GcState): Promise<void> {
    return this.#exclusive(async () => {
      this.check();
      const { kv } = this.#parts;
      const next = change(this.#state);
      try {
        const found = await kv.get(this.#partition, stateKey);
        const isOurs = found?.value.equals(gcStateMessage.encode(this.#state)) === true;
        if (!isOurs || found === undefined) this.#lose();
        else if (!(await kv.setIf(this.#partition, stateKey, gcStateMessage.encode(next), found.predicate))) {
          this.#lose();
        }
      } catch (error) {
        // What the store has done is not known, so nothing may be done any more.
        this.abandon();
        throw error;
      }
      this.#state = next;
    });
  }

  #lose(): never {
    this.abandon();
    throw new LeaseLost();
  }

  /** One at a time: a beat must not come between a batch's steps. */
  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work, work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
