import { BlockError, type ObjectPointer } from '@svc/block';
import { gcStateMessage, gcSweeping } from '@svc/encoding';
import { KvError, type KvStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { collectorGc, sabotagedCollector, sabotagedWriter, type Sabotage } from './collector-sabotage.ts';
import type { RaceState } from './collector-race-state.ts';
import { entryByEntry } from './failing-store.ts';
import { danglingCommitsMs, day, type Around } from './gc-world.ts';
import { Scheduler } from './scheduler.ts';

/** A delete call is over so soon after its batch began; what is in flight holds the clock back. */
const batchLifeMs = 39_000;
const frozenMs = 90_000;
/** In turns of the scheduler. */
const longestWait = 1000;
const longestDawdle = 300;

export class Dropped extends KvError {
  constructor() {
    super('unavailable', 'the process is gone');
  }
}

export interface RaceWriter {
  readonly engine: Engine;
  /** What it does now may be cut off: nothing comes back to life by it. */
  mayDie: boolean;
  /** It writes tables again that a run is about to delete. */
  meetsBatches: boolean;
}

interface LateDelete {
  readonly deadline: number;
  run?: () => Promise<unknown>;
}

/** Servers whose calls to the stores wait for each other in random order, and which die, freeze and time out. */
export class RaceServers {
  steps = 0;
  readonly #state: RaceState;
  readonly #scheduler: Scheduler;
  readonly #sabotage: Sabotage | undefined;
  /** When the batch in flight began; undefined: there is none. */
  #batchBegan: number | undefined;
  /** What the batch in flight found unchanged, and deletes next. */
  readonly #lookedAt = new Set<string>();
  /** Requests that the store carries out although nobody waits for their answer any more. */
  #late: LateDelete[] = [];

  constructor(state: RaceState, sabotage: Sabotage | undefined) {
    this.#state = state;
    this.#scheduler = new Scheduler(state.random);
    this.#sabotage = sabotage;
  }

  async pause(): Promise<void> {
    this.steps += 1;
    await this.#scheduler.pause();
  }

  /** Without counting as a step. */
  wait(): Promise<void> {
    return this.#scheduler.pause();
  }

  /** The round is over. */
  async settle(): Promise<void> {
    this.#batchBegan = undefined;
    await this.#carryOutLate(Number.POSITIVE_INFINITY);
  }

  async writer(): Promise<RaceWriter> {
    const { random, world } = this.#state;
    const sabotage = this.#sabotage;
    const dropAfter = random.next() < 0.15 ? random.below(400) : Number.POSITIVE_INFINITY;
    const patience = random.pick(['none', 'batch', 'look'] as const);
    let calls = 0;
    const drop = (): void => {
      calls += 1;
      if (calls <= dropAfter || !writer.mayDie) return;
      throw new Dropped();
    };
    const engine = await world.engine({
      wrapKv: (kv) => dying(sabotagedWriter(this.#counted(kv), sabotage), drop),
      around: async (name, call, about) => {
        if (name === 'put' && writer.meetsBatches) await this.#meetBatch(about as ObjectPointer, patience);
        return this.#around(name, call, about);
      },
      wrapTrees: (trees) => {
        if (sabotage === 'tables are not looked for') trees.areStored = () => Promise.resolve(true);
        return trees;
      },
      skew: random.pick([0, -30 * 60_000, 30 * 60_000]),
      rest: this.#rest,
    });
    const writer: RaceWriter = { engine, mayDie: false, meetsBatches: false };
    return writer;
  }

  async collector(): Promise<Engine> {
    const { random, world, log } = this.#state;
    const sabotage = this.#sabotage;
    const dropAfter = random.next() < 0.25 ? random.below(400) : Number.POSITIVE_INFINITY;
    let freezeAt = random.next() < 0.2 ? random.below(500) : Number.POSITIVE_INFINITY;
    let deletesToGo = random.next() < 0.2 ? random.below(3) : Number.POSITIVE_INFINITY;
    let calls = 0;
    let isDropped = false;
    const drop = (): void => {
      calls += 1;
      if (calls > dropAfter && !isDropped) {
        isDropped = true;
        this.#batchBegan = undefined;
        log.push(`the collector died at its call ${calls}`);
      }
      if (isDropped) throw new Dropped();
    };
    const before = async (): Promise<void> => {
      drop();
      if (calls < freezeAt) return;
      freezeAt = Number.POSITIVE_INFINITY;
      log.push(`the collector froze at its call ${calls}`);
      await this.#freeze();
    };
    const slow = async (): Promise<void> => {
      if (!this.#state.isSweeping) await this.pause();
    };
    return world.engine({
      wrapKv: (kv) =>
        this.#observed(this.#counted(entryByEntry(sabotagedCollector(kv, sabotage), slow)), drop, before),
      around: async (name, call, about) => {
        await before();
        if (name === 'deleteOne' && (deletesToGo -= 1) < 0) {
          deletesToGo = Number.POSITIVE_INFINITY;
          log.push('the collector froze between two deletes');
          await this.#freeze();
        }
        if (name === 'walk') this.#state.isListed = true;
        if (name === 'properties' && sabotage === 'what was written again is deleted') {
          const uri = world.adapter.absoluteUri(about as ObjectPointer);
          if (!uri.endsWith('owner.json')) throw new BlockError('not_found', 'nobody has written it again');
        }
        if (name === 'deleteMany' && random.next() < 0.1) this.#answerNever(about as ObjectPointer[]);
        const answer = await this.#around(name, call, about);
        if (name === 'properties') this.#lookedAt.add(world.adapter.absoluteUri(about as ObjectPointer));
        return answer;
      },
      skew: random.pick([0, -4 * 60_000, 4 * 60_000]),
      gc: {
        deletesPerSecond: random.pick([0, 1]),
        quarantineMs: day,
        danglingCommitsMs,
        ...collectorGc(sabotage),
      },
      deletesWhenLate: sabotage === 'requests are sent too late',
      rest: this.#rest,
    });
  }

  /** A table that is written again is in most danger between the look that a batch takes at it and its deletion. */
  async #meetBatch(pointer: ObjectPointer, patience: 'none' | 'batch' | 'look'): Promise<void> {
    const { world } = this.#state;
    if (!/^_svc\/[0-9a-f]{64}$/.test(pointer.identifier)) return;
    const uri = world.adapter.absoluteUri(pointer);
    const meets = (): boolean =>
      patience === 'none' ||
      (patience === 'batch' ? this.#batchBegan !== undefined : this.#lookedAt.has(uri));
    for (let turn = 0; turn < longestWait && this.#state.isCollecting && !meets(); turn += 1)
      await this.wait();
  }

  /** The call fails for its caller; the store deletes all the same, a while later. */
  #answerNever(pointers: readonly ObjectPointer[]): never {
    const { random, world, log } = this.#state;
    log.push(`a delete call of ${pointers.length} was not answered`);
    const late: LateDelete = {
      deadline: world.now + batchLifeMs,
      run: () => world.adapter.deleteMany(pointers),
    };
    this.#late.push(late);
    const sooner = async (): Promise<void> => {
      for (let turn = random.below(60); turn > 0; turn -= 1) await this.wait();
      await carryOut(late);
    };
    void sooner();
    throw new BlockError('unavailable', 'no answer');
  }

  async #carryOutLate(until: number): Promise<void> {
    for (const late of this.#late) if (late.deadline <= until) await carryOut(late);
    this.#late = this.#late.filter(({ run }) => run !== undefined);
  }

  /** As if its machine slept: everybody else goes on, and time does. */
  async #freeze(): Promise<void> {
    const { world, random } = this.#state;
    this.#batchBegan = undefined;
    const until = world.now + frozenMs;
    while (world.now < until) {
      await this.wait();
      await this.#advance(random.pick([0, 0, 500, 5000]));
    }
  }

  async #advance(milliseconds: number): Promise<void> {
    const { world } = this.#state;
    await this.#carryOutLate(world.now + milliseconds);
    world.now += milliseconds;
  }

  #around: Around = async (_name, call) => {
    await this.pause();
    const result = await call();
    if (this.#state.random.next() < 0.3) await this.pause();
    return result;
  };

  #counted(kv: KvStore): KvStore {
    const wrapped = this.#scheduler.wrap(kv, this.#state.random.next() < 0.5);
    return eachCall(wrapped, (_name, call) => {
      this.steps += 1;
      return call();
    });
  }

  /** Time passes while somebody waits, but no further than a batch in flight allows. */
  #rest = async (milliseconds: number): Promise<void> => {
    const { world } = this.#state;
    const wanted = world.now + milliseconds;
    const most = this.#batchBegan === undefined ? wanted : this.#batchBegan + batchLifeMs;
    await this.#advance(Math.max(0, Math.min(wanted, most) - world.now));
    await this.pause();
  };

  /** Notices batches, and lets every call of a dead process fail. */
  #observed(kv: KvStore, drop: () => void, before: () => Promise<void>): KvStore {
    return eachCall(kv, (name, call, args) => {
      if (name === 'scan' || name.endsWith('AtOnce')) {
        drop();
        return call();
      }
      const asked = async (): Promise<unknown> => {
        await before();
        const result = await call();
        if (name === 'setIf' && result === true && isStateKey(args[1])) {
          await this.#noteState(args[2] as Buffer);
        }
        return result;
      };
      return asked();
    });
  }

  async #noteState(value: Buffer): Promise<void> {
    const { random } = this.#state;
    const state = gcStateMessage.decode(value);
    const isSweeping = state.phase === gcSweeping;
    if (isSweeping) this.#state.isSweeping = true;
    this.#batchBegan = isSweeping && state.inFlight ? this.#state.world.now : undefined;
    this.#lookedAt.clear();
    // What comes back to life after everything was marked, and before the first batch, must show by itself.
    if (!isSweeping || state.batch > 0 || (!this.#state.isRefusedDue && random.next() < 0.5)) return;
    for (let turn = random.below(longestDawdle); turn > 0; turn -= 1) await this.wait();
  }
}

async function carryOut(late: LateDelete): Promise<void> {
  const { run } = late;
  delete late.run;
  await run?.();
}

function isStateKey(key: unknown): boolean {
  return Buffer.from(key as Buffer).toString() === 'gc/state';
}

function dying(kv: KvStore, drop: () => void): KvStore {
  return eachCall(kv, (_name, call) => {
    drop();
    return call();
  });
}

function eachCall(
  kv: KvStore,
  around: (name: string, call: () => unknown, args: readonly unknown[]) => unknown,
): KvStore {
  return new Proxy(kv, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function' || name === 'maxKeyBytes' || name === 'close') return member;
      const call = member as (...args: unknown[]) => unknown;
      return (...args: unknown[]): unknown => around(String(name), () => call.apply(target, args), args);
    },
  });
}
