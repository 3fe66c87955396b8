import { BlockError, type ObjectPointer } from '@svc/block';
import { gcStateMessage, gcSweeping } from '@svc/encoding';
import { KvError, type KvStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { listCommits, listStaged, noDays } from './external-collector.ts';
import { actor, newRepository, put } from './fixture.ts';
import { entryByEntry } from './failing-store.ts';
import { day, GcWorld, hour, type Around } from './gc-world.ts';
import { Random, Scheduler } from './scheduler.ts';

const paths = ['a', 'b', 'c', 'd'];
const branches = ['main', 'p', 'q', 'r'];
/** Its commits are refused now and then after their tables were written. */
const refused = 'refused';
/** A delete call is over so soon after its batch began; what is in flight holds the clock back. */
const batchLifeMs = 39_000;

export interface RaceOptions {
  readonly seed: number;
  readonly rounds: number;
  /** Breaks the rules between writers and collectors on purpose. */
  readonly sabotage?: Sabotage | undefined;
}

/** What each rule is there for shows when it is broken. */
export const sabotages = [
  'writers do not look whether something is collected',
  'writers do not wait for the batch',
  'tables are not looked for',
  'pins are not read',
  'staged values are not read',
  'what was written again is deleted',
] as const;
export type Sabotage = (typeof sabotages)[number];

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

interface Place {
  readonly repository: string;
  readonly namespace: string;
}

class Race {
  readonly world = new GcWorld();
  readonly log: string[] = [];
  steps = 0;
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #options: RaceOptions;
  /** Objects that were gone when something on an expired commit was made: it may not have them. */
  readonly #allowed = new Set<string>();
  #quiet!: Engine;
  #refusing!: Engine;
  #main!: Place;
  #other!: Place;
  #old: string[] = [];
  #commits: string[] = [];
  #linked: { path: string; address: string }[] = [];
  readonly #uploads: { path: string; branch: string; uploadId: string; etag: string }[] = [];
  /** When the batch in flight began; undefined: there is none. */
  #batchBegan: number | undefined;
  #isSweeping = false;
  #counter = 0;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#scheduler = new Scheduler(this.#random);
  }

  async run(): Promise<void> {
    await this.#prepare();
    for (let round = 0; round < this.#options.rounds; round += 1) {
      await this.#enrich();
      this.world.now += this.#random.pick([13 * hour, 28 * hour, 28 * hour, 3 * day]);
      await this.#round();
      await this.#checkEverythingIsThere();
    }
    await this.#checkGarbageGoes();
  }

  async #prepare(): Promise<void> {
    const { world } = this;
    this.#quiet = await world.engine({ gc: { quarantineMs: day } });
    this.#main = await this.#newPlace();
    this.#other = await this.#newPlace();
    const { repository } = this.#main;
    await this.#quiet.gc.setRules({ repository, rules: noDays });
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
      await this.#quiet.branches.create({ repository, name, source: 'main', actor });
    }
  }

  /** Old commits with data of their own, overwritten and deleted objects, and tables that no commit took. */
  async #enrich(): Promise<void> {
    const { repository } = this.#main;
    const quiet = this.#quiet;
    const branch = this.#random.pick(branches);
    await this.#quietly(() => quiet.branches.create({ repository, name: branch, source: 'main', actor }));
    for (let turn = 0; turn < 3; turn += 1) {
      for (const path of paths) {
        await put(quiet, repository, branch, path, `${path}${(this.#counter += 1)}`);
        if (this.#random.next() < 0.3) await this.#rememberAddresses(branch);
      }
      await this.#quietly(async () => {
        const { id } = await quiet.commits.create({ repository, branch, message: `${turn}`, actor });
        this.#commits.push(id);
      });
    }
    // What was refused waits until its tables are garbage, and is then committed while they are deleted.
    const { items } = await quiet.refs.diffUncommitted({ repository, branch: refused });
    if (items.length > 0) return;
    await put(quiet, repository, refused, 'x', `${(this.#counter += 1)}`);
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
    const repository = await newRepository(this.#quiet);
    const { storageNamespace: namespace } = await this.#quiet.repositories.get(repository);
    return { repository, namespace };
  }

  /** Two writers and a collector, which may die anywhere. */
  async #round(): Promise<void> {
    const random = this.#random;
    const { repository } = this.#main;
    const hard = random.next() < 0.6;
    const dryRun = random.next() < 0.1;
    await this.#endDeadRuns();
    try {
      await this.#quiet.gcRuns.start({ repository, user: 'race', hard, dryRun });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
    this.log.push(`run ${hard ? 'hard' : ''}${dryRun ? 'dry' : ''} at ${this.world.now}`);
    const writers = [await this.#writer(), await this.#writer()];
    const dropAfter = random.next() < 0.25 ? random.below(400) : Number.POSITIVE_INFINITY;
    const collector = await this.#collector(dropAfter);
    let isOver = false;
    const collecting = this.world
      .collect(collector)
      .catch((error: unknown) => {
        if (!(error instanceof Dropped)) throw error;
      })
      .finally(() => {
        isOver = true;
      });
    // Most that could go wrong does so after everything was marked.
    const isLate = random.next() < 0.7;
    this.#isSweeping = false;
    const write = async (engine: Engine): Promise<void> => {
      while (isLate && !this.#isSweeping && !isOver) await this.#scheduler.pause();
      for (let step = 0; step < 40 && (!isOver || step < 2); step += 1) await this.#step(engine);
    };
    await Promise.all([collecting, ...writers.map(write)]);
    this.#batchBegan = undefined;
  }

  /** Whoever looks twice, a minute apart, sees that nobody is at work any more. */
  async #endDeadRuns(): Promise<void> {
    for (let look = 0; look < 3; look += 1) {
      await this.world.collect(this.#quiet);
      this.world.now += 61_000;
    }
  }

  #around: Around = async (_name, call) => {
    await this.#pause();
    const result = await call();
    if (this.#random.next() < 0.3) await this.#pause();
    return result;
  };

  async #pause(): Promise<void> {
    this.steps += 1;
    await this.#scheduler.pause();
  }

  #counted(kv: KvStore): KvStore {
    const wrapped = this.#scheduler.wrap(kv, this.#random.next() < 0.5);
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
    const wanted = this.world.now + milliseconds;
    const most = this.#batchBegan === undefined ? wanted : this.#batchBegan + batchLifeMs;
    this.world.now = Math.max(this.world.now, Math.min(wanted, most));
    await this.#pause();
  };

  async #writer(): Promise<Engine> {
    const skew = this.#random.pick([0, -30 * 60_000, 30 * 60_000]);
    const sabotage = this.#options.sabotage;
    return this.world.engine({
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
        this.log.push(`the collector died at its call ${calls}`);
      }
      if (isDropped) throw new Dropped();
    };
    const slow = async (): Promise<void> => {
      if (!this.#isSweeping) await this.#pause();
    };
    return this.world.engine({
      wrapKv: (kv) => {
        const scanned = entryByEntry(sabotagedCollector(kv, sabotage), slow);
        return this.#observed(this.#counted(scanned), drop);
      },
      around: async (name, call, about) => {
        drop();
        if (name === 'properties' && sabotage === 'what was written again is deleted') {
          const uri = this.world.adapter.absoluteUri(about as ObjectPointer);
          if (!uri.endsWith('owner.json')) throw new BlockError('not_found', 'nobody has written it again');
        }
        return this.#around(name, call, about);
      },
      skew: this.#random.pick([0, -4 * 60_000, 4 * 60_000]),
      gc: { deletesPerSecond: this.#random.pick([0, 1]), quarantineMs: day },
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
            if (state.phase === gcSweeping) this.#isSweeping = true;
            this.#batchBegan = state.phase === gcSweeping && state.inFlight ? this.world.now : undefined;
          }
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  }

  async #step(engine: Engine): Promise<void> {
    const random = this.#random;
    const { repository } = this.#main;
    const [branch, other, path] = [random.pick(branches), random.pick(branches), random.pick(paths)];
    const value = String((this.#counter += 1));
    const name = random.pick([
      'put',
      'put',
      'put',
      'put',
      'delete',
      'commit',
      'commit',
      'commit',
      'old commit',
      'merge',
      'merge by id',
      'commit refused',
      'commit refused',
      'commit refused',
      'revert',
      'cherry-pick',
      'hard reset',
      'rollback',
      'reset',
      'branch',
      'branch by id',
      'branch by id',
      'delete branch',
      'tag',
      'tag by id',
      'tag by id',
      'delete tag',
      'undelete',
      'copy',
      'stage',
      'stage',
      'stage elsewhere',
      'link',
      'get address',
      'begin upload',
      'complete',
      'metadata',
      'rename',
      'import',
    ]);
    const commit = (): string => random.pick(this.#commits) ?? 'main';
    const noteCommit = ({ id }: { id: string }): void => {
      this.#commits.push(id);
      this.log.push(`commit ${id.slice(0, 8)}`);
    };
    let byId: string | undefined;
    const operations: Record<string, () => Promise<unknown>> = {
      put: () => put(engine, repository, branch, path, value),
      delete: () => engine.objects.delete({ repository, branch, path }),
      commit: async () =>
        noteCommit(await engine.commits.create({ repository, branch, message: value, actor })),
      'old commit': async () =>
        noteCommit(await engine.commits.create({ repository, branch, message: value, actor, date: 1000 })),
      'commit refused': async () => {
        if (!this.#isSweeping) return;
        noteCommit(await engine.commits.create({ repository, branch: refused, message: value, actor }));
      },
      merge: async () =>
        noteCommit(
          await engine.merges.merge({
            repository,
            source: branch,
            destination: other,
            actor,
            strategy: 'source-wins',
          }),
        ),
      'merge by id': async () => {
        byId = branch;
        noteCommit(
          await engine.merges.merge({
            repository,
            source: commit(),
            destination: branch,
            actor,
            strategy: 'source-wins',
          }),
        );
      },
      revert: async () => {
        byId = branch;
        noteCommit(await engine.commits.revert({ repository, branch, ref: commit(), actor }));
      },
      'cherry-pick': async () => {
        byId = branch;
        noteCommit(await engine.commits.cherryPick({ repository, branch, ref: commit(), actor }));
      },
      'hard reset': async () => {
        byId = branch;
        await engine.branches.hardReset({ repository, branch, ref: commit(), actor });
      },
      rollback: async () => {
        byId = branch;
        await engine.reflog.rollback({ repository, branch, to: commit(), mode: 'commit', actor });
      },
      reset: () => engine.branches.reset({ repository, branch, type: 'common_prefix', path: '' }),
      branch: () => engine.branches.create({ repository, name: branch, source: other, actor }),
      'branch by id': async () => {
        const id = `x${value}`;
        byId = id;
        await engine.branches.create({ repository, name: id, source: commit(), actor });
      },
      'delete branch': () =>
        branch === 'main' ? Promise.resolve() : engine.branches.delete({ repository, branch, actor }),
      tag: () => engine.tags.create({ repository, id: `t${value}`, ref: branch, actor }),
      'tag by id': async () => {
        byId = `t${value}`;
        await engine.tags.create({ repository, id: byId, ref: commit(), actor });
      },
      'delete tag': async () => {
        const { items } = await engine.tags.list({ repository, amount: 100 });
        if (items.length > 0) await engine.tags.delete({ repository, id: random.pick(items).id, actor });
      },
      undelete: async () => {
        byId = branch;
        await engine.reflog.undelete({ repository, type: 'branch', id: branch, actor });
      },
      copy: () =>
        engine.objects.copy({
          source: { repository, ref: branch, path },
          destination: { repository, branch: other, path: random.pick(paths) },
        }),
      stage: async () => {
        const physicalAddress = random.pick(this.#old);
        if (physicalAddress === undefined) return;
        const brought = { repository, branch, path, physicalAddress, checksum: 'x', size: 1 };
        const stage = () => engine.objects.stage({ ...brought, mayReadRepository: () => true });
        await this.#staying(physicalAddress, stage);
      },
      'stage elsewhere': async () => {
        const physicalAddress = random.pick(this.#old);
        if (physicalAddress === undefined) return;
        const brought = { repository: this.#other.repository, branch: 'main', path, physicalAddress };
        const given = { ...brought, checksum: 'x', size: 1, mayReadRepository: () => true };
        await this.#staying(physicalAddress, () => engine.objects.stage(given));
      },
      'get address': async () => {
        const linked = await engine.objects.getPhysicalAddress({ repository, branch, path });
        const pointer = {
          storageNamespace: this.#main.namespace,
          identifier: linked.physicalAddress,
        } as const;
        await this.world.adapter.put({ ...pointer, identifierType: 'full' }, Buffer.from(value));
        this.#linked.push({ path: `${branch}/${path}`, address: linked.physicalAddress });
      },
      link: async () => {
        const linked = this.#linked.pop();
        if (linked === undefined) return;
        const [to = '', key = ''] = linked.path.split('/');
        const size = value.length;
        await engine.objects.link({
          repository,
          branch: to,
          path: key,
          physicalAddress: linked.address,
          checksum: 'x',
          size,
        });
      },
      'begin upload': async () => {
        const target = { repository, branch, path };
        const { uploadId } = await engine.uploads.create({ ...target, owner: 'me' });
        const body = Buffer.from(value);
        const { etag } = await engine.uploads.putPart({ ...target, uploadId, partNumber: 1, body });
        this.#uploads.push({ path, branch, uploadId, etag });
      },
      complete: async () => {
        const upload = this.#uploads.pop();
        if (upload === undefined) return;
        const { etag, ...target } = upload;
        await engine.uploads.complete({ repository, ...target, parts: [{ partNumber: 1, etag }] });
      },
      metadata: () => engine.objects.updateMetadata({ repository, branch, path, metadata: { value } }),
      rename: async () => {
        await engine.branches.create({ repository, name: `n${value}`, source: branch, actor });
        if (branch !== 'main') await engine.branches.delete({ repository, branch, actor });
      },
      import: async () => {
        const uri = `mem://outside/${value}`;
        const pointer = {
          storageNamespace: 'mem://outside',
          identifier: value,
          identifierType: 'relative',
        } as const;
        await this.world.adapter.put(pointer, Buffer.from(value));
        const imported = { type: 'object', path: uri, destination: path } as const;
        const id = await engine.imports.start({ repository, branch, paths: [imported], actor });
        while (!(await isOver(engine, repository, id))) await this.#pause();
      },
    };
    if (random.next() < 0.3) await this.#rememberAddresses(branch);
    try {
      await operations[name]?.();
      this.log.push(`${name} ${branch} ${other} ${path} ${value}`);
      if (byId !== undefined) await this.#allowMissing(byId);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  /** Addresses that may be garbage soon. */
  async #rememberAddresses(branch: string): Promise<void> {
    for (const { address } of await this.#objectsOf(this.#main.repository, branch)) {
      if (this.#old.length < 200 && !address.includes('://'))
        this.#old.push(`${this.#main.namespace}/${address}`);
    }
  }

  /** What was there before it was staged is there afterwards; what was gone may be named all the same. */
  async #staying(uri: string, stage: () => Promise<unknown>): Promise<void> {
    const { namespace } = this.#main;
    const wasThere = await this.world.exists(namespace, uri);
    // Before: the entry may be committed and read by others at any time.
    if (!wasThere) this.#allow(uri);
    await stage();
    if (await this.world.exists(namespace, uri)) return;
    if (wasThere && !this.#allowed.has(uri)) throw new Error(`${uri} was staged and is gone`);
  }

  #allow(uri: string): void {
    this.#allowed.add(uri);
    this.#allowed.add(uri.slice(this.#main.namespace.length + 1));
  }

  async #objectsOf(repository: string, ref: string): Promise<{ path: string; address: string }[]> {
    const found: { path: string; address: string }[] = [];
    try {
      const page = await this.#quiet.objects.list({ repository, ref, amount: 1000 });
      page.visit((item) => {
        if (item.kind === 'object') found.push({ path: item.path, address: item.address });
      });
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'not_found') throw error;
    }
    return found;
  }

  /** What it shows has been acknowledged now: from here on nothing more may go. */
  async #allowMissing(ref: string): Promise<void> {
    for (const { address } of await this.#objectsOf(this.#main.repository, ref)) {
      if (await this.world.exists(this.#main.namespace, address)) continue;
      this.#allowed.add(address);
      this.#allowed.add(`${this.#main.namespace}/${address}`);
    }
  }

  async #checkEverythingIsThere(): Promise<void> {
    for (const { repository, namespace } of [this.#main, this.#other]) {
      const { items } = await this.#quiet.branches.list({ repository, amount: 1000 });
      const { items: tags } = await this.#quiet.tags.list({ repository, amount: 1000 });
      const refs = [...items.flatMap(({ id }) => [id, `${id}@`]), ...tags.map(({ id }) => id)];
      for (const ref of refs) {
        for (const { path, address } of await this.#objectsOf(repository, ref)) {
          if (this.#allowed.has(address) || (await this.world.exists(namespace, address))) continue;
          throw new Error(`${ref}/${path} at ${address} is gone`);
        }
      }
      await this.#checkTrees(repository, namespace);
    }
  }

  /** Every commit's tree is whole. */
  async #checkTrees(repository: string, namespace: string): Promise<void> {
    const seen = new Set<string>();
    for (const id of await listCommitsAll(this.#quiet, repository, this.#commits)) {
      const { metaRangeId } = await this.#quiet.commits.get({ repository, ref: id });
      if (metaRangeId === '' || seen.has(metaRangeId)) continue;
      seen.add(metaRangeId);
      for (const table of await tablesOf(this.world, namespace, metaRangeId)) {
        if (await this.world.exists(namespace, `_svc/${table}`)) continue;
        throw new Error(`table ${table} of commit ${id} is gone`);
      }
    }
  }

  /** When nobody writes any more, two runs a window apart leave nothing but what is in use. */
  async #checkGarbageGoes(): Promise<void> {
    const { repository, namespace } = this.#main;
    // What can be brought back is kept as long as its log.
    this.world.now += 60 * day;
    await this.#quiet.reflog.expire({ repository, before: this.world.now - 28 * hour });
    for (let run = 0; run < 4; run += 1) {
      this.world.now += 9 * day;
      try {
        await this.#quiet.gcRuns.start({ repository, user: 'race' });
      } catch (error) {
        // One that died with its server still waits in the queue.
        if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
      }
      await this.world.collect(this.#quiet);
      this.world.now += 61_000;
      await this.world.collect(this.#quiet);
    }
    const live = await listStaged(this.world.adapter, this.#quiet, repository);
    for (const commit of await listCommits(this.world.adapter, this.#quiet, repository)) {
      for (const { address } of await this.#objectsOf(repository, commit)) live.add(address);
    }
    for (const ref of ['main']) {
      for (const { address } of await this.#objectsOf(this.#other.repository, ref)) {
        live.add(address.slice(namespace.length + 1));
      }
    }
    for (const key of await this.world.keys(namespace)) {
      if (!key.startsWith('data/') || live.has(key)) continue;
      if (this.#heldElsewhere.has(`${namespace}/${key}`)) continue;
      throw new Error(`${key} is garbage and still there`);
    }
  }

  readonly #heldElsewhere = { has: (uri: string): boolean => this.#old.includes(uri) };
}

function sabotagedWriter(kv: KvStore, sabotage: Sabotage | undefined): KvStore {
  if (sabotage === undefined) return kv;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const call = member as (...args: unknown[]) => unknown;
      const isState = (args: unknown[]): boolean => Buffer.from(args[1] as Buffer).toString() === 'gc/state';
      if (sabotage === 'writers do not look whether something is collected') {
        if (name === 'valueAtOnce')
          return (...args: unknown[]) => (isState(args) ? undefined : call.apply(target, args));
        if (name === 'get')
          return async (...args: unknown[]) => (isState(args) ? undefined : call.apply(target, args));
        if (name === 'change') return (...args: unknown[]) => call.apply(target, args.slice(0, 3));
      }
      if (sabotage === 'writers do not wait for the batch') {
        const calm = (value: Buffer): Buffer =>
          gcStateMessage.encode({ ...gcStateMessage.decode(value), inFlight: false });
        if (name === 'valueAtOnce')
          return (...args: unknown[]) => {
            const value = call.apply(target, args) as Buffer | undefined;
            return isState(args) && value !== undefined ? calm(value) : value;
          };
        if (name === 'get')
          return async (...args: unknown[]) => {
            const found = (await call.apply(target, args)) as { value: Buffer } | undefined;
            return isState(args) && found !== undefined ? { ...found, value: calm(found.value) } : found;
          };
      }
      return call.bind(target);
    },
  });
}

function sabotagedCollector(kv: KvStore, sabotage: Sabotage | undefined): KvStore {
  const hidden = sabotage === 'pins are not read' ? 'gc/pins/' : undefined;
  const isBlind = sabotage === 'staged values are not read';
  if (hidden === undefined && !isBlind) return kv;
  return new Proxy(kv, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...args: unknown[]) => unknown;
      if (name !== 'scan') return call;
      return async function* (partition: Buffer, options: { prefix?: Buffer } = {}) {
        if (hidden !== undefined && options.prefix?.toString().startsWith(hidden) === true) return;
        if (isBlind && options.prefix === undefined && Buffer.from(partition).includes(':')) return;
        yield* target.scan(partition, options);
      };
    },
  });
}

async function isOver(engine: Engine, repository: string, id: string): Promise<boolean> {
  const { completed, error } = await engine.imports.status({ repository, id });
  return completed || error !== undefined;
}

async function listCommitsAll(
  engine: Engine,
  repository: string,
  known: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const id of known) {
    try {
      found.push((await engine.commits.get({ repository, ref: id })).id);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }
  return found;
}

async function tablesOf(world: GcWorld, namespace: string, id: string): Promise<string[]> {
  const pointer = {
    storageNamespace: namespace,
    identifier: `_svc/${id}`,
    identifierType: 'relative',
  } as const;
  if (!(await world.exists(namespace, `_svc/${id}`))) return [id];
  const { readOutline } = await import('../src/committed/format/tree-outline.ts');
  const body = await world.adapter.get(pointer);
  const outline = readOutline(body.bytes ?? Buffer.alloc(0));
  return [id, ...(outline?.ranges.map((range) => range.id) ?? [])];
}
