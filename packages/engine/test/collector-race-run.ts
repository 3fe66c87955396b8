import { BlockError, type ObjectPointer } from '@svc/block';
import { gcStateMessage, gcSweeping } from '@svc/encoding';
import { KvError, type KvStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { noDays } from './external-collector.ts';
import { actor, newRepository, put } from './fixture.ts';
import { entryByEntry } from './failing-store.ts';
import { day, hour, type Around, type GcWorld } from './gc-world.ts';
import { sabotagedCollector, sabotagedWriter, type Sabotage } from './collector-sabotage.ts';
import { raceStep } from './collector-race-operations.ts';
import { branches, paths, RaceState, refused, type Place } from './collector-race-state.ts';
import { Scheduler } from './scheduler.ts';

/** A delete call is over so soon after its batch began; what is in flight holds the clock back. */
const batchLifeMs = 39_000;

export interface RaceOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Breaks the rules between writers and collectors on purpose. */
  readonly sabotage?: Sabotage | undefined;
}

class Dropped extends KvError {
  constructor() {
    super('unavailable', 'the process is gone');
  }
}

/** Runs a collector among everything that brings references back to life; answers how many calls were interleaved. */
export async function runCollectorRace(options: RaceOptions): Promise<number> {
  const race = new Race(options);
  try {
    await race.run();
    return race.steps;
  } catch (error) {
    throw new Error(`seed ${options.seed}, after ${race.log.slice(-40).join('; ')}`, { cause: error });
  } finally {
    await race.world.close();
  }
}

class Race {
  steps = 0;
  readonly #state: RaceState;
  readonly #scheduler: Scheduler;
  readonly #options: RaceOptions;
  #refusing!: Engine;
  /** When the batch in flight began; undefined: there is none. */
  #batchBegan: number | undefined;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#state = new RaceState(options.seed);
    this.#scheduler = new Scheduler(this.#state.random);
  }

  get log(): readonly string[] {
    return this.#state.log;
  }

  get world(): GcWorld {
    return this.#state.world;
  }

  async run(): Promise<void> {
    await this.#prepare();
    for (let round = 0; round < this.#options.rounds; round += 1) {
      await this.#enrich();
      this.#state.world.now += this.#state.random.pick([13 * hour, 28 * hour, 28 * hour, 3 * day]);
      await this.#round();
      await this.#state.checkEverythingIsThere();
    }
    await this.#state.checkGarbageGoes();
  }

  async #prepare(): Promise<void> {
    const { world } = this;
    this.#state.quiet = await world.engine({ gc: { quarantineMs: day } });
    this.#state.main = await this.#newPlace();
    this.#state.other = await this.#newPlace();
    const { repository } = this.#state.main;
    await this.#state.quiet.gc.setRules({ repository, rules: noDays });
    this.#refusing = await world.engine({
      hooks: {
        before: ({ type }) => {
          if (type !== 'pre-commit') return Promise.resolve(undefined);
          throw new EngineError('hook_aborted', 'refused');
        },
        after: () => undefined,
      },
    });
    for (const name of [...branches.slice(1), refused]) {
      await this.#state.quiet.branches.create({ repository, name, source: 'main', actor });
    }
  }

  /** Old commits with data of their own, overwritten and deleted objects, and tables that no commit took. */
  async #enrich(): Promise<void> {
    const { repository } = this.#state.main;
    const quiet = this.#state.quiet;
    const branch = this.#state.random.pick(branches);
    await this.#quietly(() => quiet.branches.create({ repository, name: branch, source: 'main', actor }));
    for (let turn = 0; turn < 3; turn += 1) {
      for (const path of paths) {
        await put(quiet, repository, branch, path, `${path}${(this.#state.counter += 1)}`);
        if (this.#state.random.next() < 0.3) await this.#state.rememberAddresses(branch);
      }
      await this.#quietly(async () => {
        const { id } = await quiet.commits.create({ repository, branch, message: `${turn}`, actor });
        this.#state.commits.push(id);
      });
    }
    // What was refused waits until its tables are garbage, and is then committed while they are deleted.
    const { items } = await quiet.refs.diffUncommitted({ repository, branch: refused });
    if (items.length > 0) return;
    await put(quiet, repository, refused, 'x', `${(this.#state.counter += 1)}`);
    await this.#quietly(() =>
      this.#refusing.commits.create({ repository, branch: refused, message: 'refused', actor }),
    );
  }

  async #quietly(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  async #newPlace(): Promise<Place> {
    const repository = await newRepository(this.#state.quiet);
    const { storageNamespace: namespace } = await this.#state.quiet.repositories.get(repository);
    return { repository, namespace };
  }

  /** Two writers and a collector, which may die anywhere. */
  async #round(): Promise<void> {
    const random = this.#state.random;
    const { repository } = this.#state.main;
    const hard = random.next() < 0.6;
    const dryRun = random.next() < 0.1;
    await this.#endDeadRuns();
    try {
      await this.#state.quiet.gcRuns.start({ repository, user: 'race', hard, dryRun });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
    this.#state.log.push(`run ${hard ? 'hard' : ''}${dryRun ? 'dry' : ''} at ${this.#state.world.now}`);
    const writers = [await this.#writer(), await this.#writer()];
    const dropAfter = random.next() < 0.25 ? random.below(400) : Number.POSITIVE_INFINITY;
    const collector = await this.#collector(dropAfter);
    const collection = { isOver: false };
    const collecting = this.#state.world
      .collect(collector)
      .catch((error: unknown) => {
        if (!(error instanceof Dropped)) throw error;
      })
      .finally(() => {
        collection.isOver = true;
      });
    // Most that could go wrong does so after everything was marked.
    const isLate = random.next() < 0.7;
    this.#state.isSweeping = false;
    const write = async (engine: Engine): Promise<void> => {
      if (isLate) {
        while (!this.#state.isSweeping && !collection.isOver) await this.#scheduler.pause();
      }
      for (let step = 0; step < 40 && (!collection.isOver || step < 2); step += 1)
        await raceStep(this.#state, engine, () => this.#pause());
    };
    await Promise.all([collecting, ...writers.map(write)]);
    this.#batchBegan = undefined;
  }

  /** Whoever looks twice, a minute apart, sees that nobody is at work any more. */
  async #endDeadRuns(): Promise<void> {
    for (let look = 0; look < 3; look += 1) {
      await this.#state.world.collect(this.#state.quiet);
      this.#state.world.now += 61_000;
    }
  }

  #around: Around = async (_name, call) => {
    await this.#pause();
    const result = await call();
    if (this.#state.random.next() < 0.3) await this.#pause();
    return result;
  };

  async #pause(): Promise<void> {
    this.steps += 1;
    await this.#scheduler.pause();
  }

  #counted(kv: KvStore): KvStore {
    const wrapped = this.#scheduler.wrap(kv, this.#state.random.next() < 0.5);
    return new Proxy(wrapped, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]): unknown => {
          this.steps += 1;
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  }

  /** Time passes while somebody waits, but no further than a batch in flight allows. */
  #rest = async (milliseconds: number): Promise<void> => {
    const wanted = this.#state.world.now + milliseconds;
    const most = this.#batchBegan === undefined ? wanted : this.#batchBegan + batchLifeMs;
    this.#state.world.now = Math.max(this.#state.world.now, Math.min(wanted, most));
    await this.#pause();
  };

  async #writer(): Promise<Engine> {
    const skew = this.#state.random.pick([0, -30 * 60_000, 30 * 60_000]);
    const sabotage = this.#options.sabotage;
    return this.#state.world.engine({
      wrapKv: (kv) => sabotagedWriter(this.#counted(kv), sabotage),
      around: this.#around,
      wrapTrees: (trees) => {
        if (sabotage === 'tables are not looked for') trees.areStored = () => Promise.resolve(true);
        return trees;
      },
      skew,
      rest: this.#rest,
    });
  }

  async #collector(dropAfter: number): Promise<Engine> {
    let calls = 0;
    let isDropped = false;
    const { sabotage } = this.#options;
    const drop = (): void => {
      calls += 1;
      if (calls > dropAfter && !isDropped) {
        isDropped = true;
        this.#batchBegan = undefined;
        this.#state.log.push(`the collector died at its call ${calls}`);
      }
      if (isDropped) throw new Dropped();
    };
    const slow = async (): Promise<void> => {
      if (!this.#state.isSweeping) await this.#pause();
    };
    return this.#state.world.engine({
      wrapKv: (kv) => {
        const scanned = entryByEntry(sabotagedCollector(kv, sabotage), slow);
        return this.#observed(this.#counted(scanned), drop);
      },
      around: async (name, call, about) => {
        drop();
        if (name === 'properties' && sabotage === 'what was written again is deleted') {
          const uri = this.#state.world.adapter.absoluteUri(about as ObjectPointer);
          if (!uri.endsWith('owner.json')) throw new BlockError('not_found', 'nobody has written it again');
        }
        return this.#around(name, call, about);
      },
      skew: this.#state.random.pick([0, -4 * 60_000, 4 * 60_000]),
      gc: { deletesPerSecond: this.#state.random.pick([0, 1]), quarantineMs: day },
      rest: this.#rest,
    });
  }

  /** Notices batches, and lets every call of a dead process fail. */
  #observed(kv: KvStore, drop: () => void): KvStore {
    return new Proxy(kv, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function' || name === 'maxKeyBytes' || name === 'close') return member;
        return (...args: unknown[]): unknown => {
          drop();
          if (name === 'setIf' && Buffer.from(args[1] as Buffer).toString() === 'gc/state') {
            const state = gcStateMessage.decode(args[2] as Buffer);
            if (state.phase === gcSweeping) this.#state.isSweeping = true;
            this.#batchBegan =
              state.phase === gcSweeping && state.inFlight ? this.#state.world.now : undefined;
          }
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  }
}
