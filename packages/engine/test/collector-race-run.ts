import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { listCommits, listStaged, noDays } from './external-collector.ts';
import { actor, newRepository, put } from './fixture.ts';
import { danglingCommitsMs, day, hour, type GcWorld } from './gc-world.ts';
import type { Sabotage } from './collector-sabotage.ts';
import { raceStep } from './collector-race-operations.ts';
import { Dropped, RaceServers, type RaceWriter } from './collector-race-servers.ts';
import { branches, paths, RaceState, refused, type Place } from './collector-race-state.ts';

export interface RaceOptions {
  readonly seed: number;
  readonly rounds: number;
  /** A collector of another make works at the same time. */
  readonly external?: boolean | undefined;
  /** Breaks the rules between writers and collectors on purpose. */
  readonly sabotage?: Sabotage | undefined;
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
  readonly #state: RaceState;
  readonly #servers: RaceServers;
  readonly #options: RaceOptions;
  #refusing!: Engine;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#state = new RaceState(options.seed, options.external);
    this.#servers = new RaceServers(this.#state, options.sabotage);
  }

  get steps(): number {
    return this.#servers.steps;
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
    this.#state.quiet = await world.engine({ gc: { quarantineMs: day, danglingCommitsMs } });
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
    // It may be linked for a day.
    const linked = await quiet.objects.getPhysicalAddress({ repository, branch: 'main', path: 'linked' });
    const { namespace: storageNamespace } = this.#state.main;
    const pointer = { storageNamespace, identifier: linked.physicalAddress, identifierType: 'full' } as const;
    await this.#state.world.adapter.put(pointer, Buffer.from('linked'));
    this.#state.linked.push({ path: 'main/linked', address: linked.physicalAddress });
    // What was refused waits until its tables are garbage, and is then committed while they are deleted.
    const { items } = await quiet.refs.diffUncommitted({ repository, branch: refused });
    if (items.length > 0) return;
    await put(quiet, repository, refused, 'x', `${(this.#state.counter += 1)}`);
    await this.#quietly(() =>
      this.#refusing.commits.create({ repository, branch: refused, message: 'refused', actor }),
    );
    this.#state.refusedAt = this.#state.world.now;
    this.#state.foundAt = Number.POSITIVE_INFINITY;
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

  /** Two writers and a collector or two, any of which may die anywhere. */
  async #round(): Promise<void> {
    const state = this.#state;
    const { random } = state;
    const { repository } = state.main;
    const hard = random.next() < 0.6;
    const dryRun = random.next() < 0.1;
    await this.#endDeadRuns();
    await this.#quietly(() => state.quiet.gcRuns.start({ repository, user: 'race', hard, dryRun }));
    state.log.push(`run ${hard ? 'hard' : ''}${dryRun ? 'dry' : ''} at ${state.world.now}`);
    state.isSweeping = false;
    state.isListed = false;
    const writers = [await this.#servers.writer(), await this.#servers.writer()];
    const collectors = [await this.#servers.collector()];
    if (random.next() < 0.25) collectors.push(await this.#servers.collector());
    const working = { count: collectors.length };
    state.isCollecting = true;
    const collect = async (collector: Engine): Promise<void> => {
      try {
        await state.world.collect(collector);
      } catch (error) {
        if (!(error instanceof Dropped)) throw error;
      } finally {
        working.count -= 1;
        state.isCollecting = working.count > 0;
      }
    };
    // Most that could go wrong does so after everything was marked.
    const mode = random.pick(['at once', 'listed', 'listed', 'sweeping', 'sweeping']);
    const hasBegun = (): boolean =>
      mode === 'at once' || (mode === 'listed' ? state.isListed : state.isSweeping) || working.count === 0;
    const write = async (writer: RaceWriter): Promise<void> => {
      while (!hasBegun()) await this.#servers.wait();
      try {
        for (let step = 0; step < 40 && (working.count > 0 || step < 2); step += 1) {
          await raceStep(state, writer, () => this.#servers.pause());
        }
      } catch (error) {
        if (!(error instanceof Dropped)) throw error;
      }
    };
    const others = this.#options.external === true ? [this.#collectOutside()] : [];
    await Promise.all([...collectors.map(collect), ...writers.map(write), ...others]);
    await this.#servers.settle();
    state.roundIsOver();
  }

  /** The steps of the published client: its lists are made once, and what they do not name, and is a day old, goes. */
  async #collectOutside(): Promise<void> {
    const { world, main } = this.#state;
    const cutoff = world.now - day;
    const old = (await world.keys(main.namespace)).filter(
      (key) => key.startsWith('data/') && world.modified(`${main.namespace}/${key}`) < cutoff,
    );
    const { engine } = await this.#servers.writer();
    try {
      const kept = await listStaged(world.adapter, engine, main.repository);
      for (const commit of await listCommits(world.adapter, engine, main.repository)) {
        for (const { address } of await this.#state.objectsOf(main.repository, commit)) kept.add(address);
      }
      for (const identifier of old.filter((key) => !kept.has(key))) {
        await this.#servers.pause();
        await world.adapter.delete({
          storageNamespace: main.namespace,
          identifier,
          identifierType: 'relative',
        });
      }
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  /** Whoever looks twice, a minute apart, sees that nobody is at work any more. */
  async #endDeadRuns(): Promise<void> {
    for (let look = 0; look < 3; look += 1) {
      await this.#state.world.collect(this.#state.quiet);
      this.#state.world.now += 61_000;
    }
  }
}
