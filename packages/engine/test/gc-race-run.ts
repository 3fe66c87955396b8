import { uploadMessage } from '@svc/encoding';
import { createMemStore, type KvStore } from '@svc/kv';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { listCommits, listStaged, noDays } from './external-collector.ts';
import { actor, createWorld, newRepository, put, type World } from './fixture.ts';
import { entryByEntry } from './failing-store.ts';
import { Random, Scheduler } from './scheduler.ts';

const keys = ['a', 'b', 'c', 'd', 'e'];
const names = ['main', 'aa', 'ab', 'ac', 'ad', 'p', 'x', 'y', 'zz'];

/** Runs a collector's calls among everything that moves references about; fails when it would delete what is in use. */
export async function runGcRace(seed: number): Promise<void> {
  const random = new Random(seed);
  const scheduler = new Scheduler(random);
  const world = createWorld();
  const quiet = world.engine();
  const repository = await newRepository(quiet);
  await quiet.gc.setRules({ repository, rules: noDays });
  const race = new GcRace(world, quiet, repository, random);
  await race.prepare();
  const wrapKv = (kv: KvStore): KvStore => scheduler.wrap(entryByEntry(kv), random.next() < 0.5);
  const engines = [world.engine({ wrapKv }), world.engine({ wrapKv })];
  const old = await race.oldAddresses();
  const settings = { ugcPrepareIntervalMs: random.pick([-1, 2]) };
  // Slower than the others, so that much happens between any two of its looks.
  const collector = world.engine({
    wrapKv: (kv) =>
      scheduler.wrap(
        entryByEntry(kv, async () => {
          for (let turn = 0; turn < 6; turn += 1) await scheduler.pause();
        }),
        false,
      ),
    settings,
  });
  // Half of the time all that happens comes while the commits are listed.
  const calm = random.next() < 0.5;
  const staged = calm ? await listStaged(world.adapter, quiet, repository) : undefined;
  let listed = false;
  const listing = (async () => {
    try {
      const addresses = staged ?? (await listStaged(world.adapter, collector, repository));
      return { staged: addresses, commits: await listCommits(world.adapter, collector, repository) };
    } finally {
      listed = true;
    }
  })();
  await Promise.all([listing, ...engines.map((engine) => race.disturbUntil(engine, () => listed))]);
  const live = await listing;
  const kept = new Set(live.staged);
  for (const commit of live.commits) {
    for (const address of await race.addressesOf(commit)) kept.add(address);
  }
  for (const [place, address] of await race.inUse()) {
    if (!old.has(address) || kept.has(address)) continue;
    throw new Error(`seed ${seed}: ${place} would be deleted, after ${race.log.join('; ')}`);
  }
}

class GcRace {
  readonly log: string[] = [];
  readonly #world: World;
  readonly #quiet: Engine;
  readonly #repository: string;
  readonly #random: Random;
  readonly #uploads: { path: string; branch: string; uploadId: string; etag: string }[] = [];
  #counter = 0;

  constructor(world: World, quiet: Engine, repository: string, random: Random) {
    this.#world = world;
    this.#quiet = quiet;
    this.#repository = repository;
    this.#random = random;
  }

  async prepare(): Promise<void> {
    const repository = this.#repository;
    for (const branch of names.slice(5)) {
      await this.#quiet.branches.create({ repository, name: branch, source: 'main', actor });
      await put(this.#quiet, repository, branch, 'own', branch);
      await this.#quiet.commits.create({ repository, branch, message: branch, actor });
    }
    for (let step = 0; step < 10; step += 1) await this.#step(this.#quiet, 0.5);
    const { items } = await this.#quiet.branches.list({ repository: this.#repository });
    for (const { id: branch } of items.slice(-3)) {
      const target = { repository: this.#repository, branch, path: `upload-${branch}` };
      const { uploadId } = await this.#quiet.uploads.create({ ...target, owner: 'me' });
      const body = Buffer.from(branch);
      const { etag } = await this.#quiet.uploads.putPart({ ...target, uploadId, partNumber: 1, body });
      this.#uploads.push({ path: target.path, branch, uploadId, etag });
    }
    this.log.length = 0;
  }

  async disturbUntil(engine: Engine, isDone: () => boolean): Promise<void> {
    while (!isDone()) await this.#step(engine, 0.1);
  }

  /** What a store would show as old: everything there is now, and objects of uploads that have begun. */
  async oldAddresses(): Promise<Set<string>> {
    const old = new Set<string>();
    const { storageNamespace } = await this.#quiet.repositories.get(this.#repository);
    for await (const page of this.#world.adapter.walk(`${storageNamespace}/data/`)) {
      for (const { relativeKey } of page) old.add(`data/${relativeKey}`);
    }
    const kv = createMemStore(this.#world.state);
    for await (const page of kv.scan(Buffer.from('multiparts'))) {
      for (const { value } of page) old.add(uploadMessage.decode(value).physicalAddress);
    }
    return old;
  }

  async addressesOf(ref: string): Promise<string[]> {
    const addresses: string[] = [];
    const page = await this.#quiet.objects.list({ repository: this.#repository, ref, amount: 1000 });
    page.visit((item) => {
      if (item.kind === 'object') addresses.push(item.address);
    });
    return addresses;
  }

  /** Every object that a branch or a tag shows. */
  async inUse(): Promise<[string, string][]> {
    const repository = this.#repository;
    const found: [string, string][] = [];
    const { items } = await this.#quiet.branches.list({ repository, amount: 1000 });
    const { items: tags } = await this.#quiet.tags.list({ repository, amount: 1000 });
    const refs = items.flatMap(({ id }) => [id, `${id}@`]).concat(tags.map(({ id }) => id));
    for (const ref of refs) {
      for (const address of await this.addressesOf(ref)) found.push([ref, address]);
    }
    return found;
  }

  async #step(engine: Engine, writes: number): Promise<void> {
    const random = this.#random;
    const repository = this.#repository;
    const [branch, other, path] = [random.pick(names), random.pick(names), random.pick(keys)];
    const value = String((this.#counter += 1));
    const committing = { repository, branch, message: value, actor };
    const operations: Record<string, () => Promise<unknown>> = {
      commit: () => engine.commits.create(committing),
      'commit of long ago': () => engine.commits.create({ ...committing, date: 1000 }),
      merge: () => engine.merges.merge({ repository, source: branch, destination: other, actor }),
      rename: async () => {
        await engine.branches.create({ repository, name: other, source: branch, actor });
        await engine.branches.delete({ repository, branch, actor });
      },
      'tag and delete': async () => {
        await engine.tags.create({ repository, id: `t${value}`, ref: branch, actor });
        await engine.branches.delete({ repository, branch, actor });
      },
      'branch for a tag': async () => {
        const { items } = await engine.tags.list({ repository });
        const tag = items[0]?.id ?? '';
        await engine.branches.create({ repository, name: other, source: tag, actor });
        await engine.tags.delete({ repository, id: tag, actor });
      },
      metadata: () => engine.objects.updateMetadata({ repository, branch, path, metadata: { value } }),
      remove: () => engine.objects.delete({ repository, branch, path }),
      reset: () => engine.branches.reset({ repository, branch, type: 'object', path }),
      'reset a prefix': () => engine.branches.reset({ repository, branch, type: 'common_prefix', path: '' }),
      complete: async () => {
        const upload = this.#uploads.pop();
        if (upload === undefined) return;
        const { etag, ...target } = upload;
        await engine.uploads.complete({ repository, ...target, parts: [{ partNumber: 1, etag }] });
      },
      clean: () => this.#clean(),
    };
    const often = ['rename', 'rename', 'rename', 'commit', 'metadata', 'complete'];
    const name = random.next() < writes ? 'write' : random.pick([...Object.keys(operations), ...often]);
    try {
      await (operations[name] ?? (() => put(engine, repository, branch, path, value)))();
      this.log.push(`${name} ${branch} ${other} ${path}`);
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
    }
  }

  /** As the cleaner does a while after tokens were retired. */
  async #clean(): Promise<void> {
    const kv = createMemStore(this.#world.state);
    for await (const page of kv.scan(Buffer.from('cleanup-tokens'))) {
      for (const { key: token } of page) {
        for await (const entries of kv.scan(token)) {
          for (const { key } of entries) await kv.delete(token, key);
        }
      }
    }
  }
}
