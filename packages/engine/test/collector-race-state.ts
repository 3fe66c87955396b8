import { timestampToMillis } from '@svc/encoding';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import {
  branchTokens,
  openUploads,
  parentsOf,
  readRaceRoots,
  stagedAddresses,
  treesOf,
} from './collector-race-roots.ts';
import { day, GcWorld, hour } from './gc-world.ts';
import { Random } from './scheduler.ts';

export const paths = ['a', 'b', 'c', 'd'];
export const branches = ['main', 'p', 'q', 'r'];
/** Its commits are refused now and then after their tables were written. */
export const refused = 'refused';

export interface Place {
  readonly repository: string;
  readonly namespace: string;
}

/** What is known of a race, and what must be true of it. */
export class RaceState {
  readonly world = new GcWorld();
  readonly log: string[] = [];
  readonly random: Random;
  /** Objects that were gone when something on an expired commit was made: it may not have them. */
  readonly allowed = new Set<string>();
  quiet!: Engine;
  main!: Place;
  other!: Place;
  readonly old: string[] = [];
  readonly commits: string[] = [];
  readonly linked: { path: string; address: string }[] = [];
  readonly uploads: { path: string; branch: string; uploadId: string; etag: string }[] = [];
  isCollecting = false;
  isSweeping = false;
  /** The run has seen what the store holds: what is written from now on must show by itself. */
  isListed = false;
  /** When a commit was refused that waits to be made again, and when a run has found its tables. */
  refusedAt = Number.POSITIVE_INFINITY;
  foundAt = Number.POSITIVE_INFINITY;
  readonly aliases: string[] = [];
  /** What the other repository was told to use. */
  readonly heldElsewhere = new Set<string>();
  counter = 0;

  /** A collector of another make works beside ours. */
  readonly hasExternal: boolean;

  constructor(seed: number, hasExternal = false) {
    this.random = new Random(seed);
    this.hasExternal = hasExternal;
  }

  /** Its tables are so old that a run deletes them now. */
  get isRefusedDue(): boolean {
    return this.isListed && this.world.now - this.foundAt > day + hour;
  }

  roundIsOver(): void {
    if (this.world.now - this.refusedAt > day + 2 * hour)
      this.foundAt = Math.min(this.foundAt, this.world.now);
  }

  /** Addresses that may be garbage soon. */
  async rememberAddresses(branch: string): Promise<void> {
    for (const { address } of await this.objectsOf(this.main.repository, branch)) {
      if (this.old.length < 200 && !address.includes('://'))
        this.old.push(`${this.main.namespace}/${address}`);
    }
  }

  /** What was there before it was staged is there afterwards; what was gone may be named all the same. */
  async staying(uri: string, stage: () => Promise<unknown>): Promise<void> {
    const { namespace } = this.main;
    const wasThere = await this.world.exists(namespace, uri);
    // Before: the entry may be committed and read by others at any time.
    if (!wasThere) this.allow(uri);
    try {
      await stage();
    } catch (error) {
      // It went before the entry was acknowledged; a commit may have taken the entry along meanwhile.
      if (error instanceof EngineError && error.kind === 'data_gone') this.allow(uri);
      throw error;
    }
    if (await this.world.exists(namespace, uri)) return;
    if (wasThere && !this.allowed.has(uri)) throw new Error(`${uri} was staged and is gone`);
  }

  allow(uri: string): void {
    this.allowed.add(uri);
    this.allowed.add(uri.slice(this.main.namespace.length + 1));
  }

  async objectsOf(repository: string, ref: string): Promise<{ path: string; address: string }[]> {
    const found: { path: string; address: string }[] = [];
    try {
      const page = await this.quiet.objects.list({ repository, ref, amount: 1000 });
      page.visit((item) => {
        if (item.kind === 'object') found.push({ path: item.path, address: item.address });
      });
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'not_found') throw error;
    }
    return found;
  }

  /** What it shows has been acknowledged now: from here on nothing more may go. */
  async allowMissing(ref: string, pause: () => Promise<void>): Promise<void> {
    // Somebody may have it in the trash for a moment; nothing of it is deleted then.
    while (!(await this.#isThere())) await pause();
    for (const { address } of await this.objectsOf(this.main.repository, ref)) {
      if (await this.world.exists(this.main.namespace, address)) continue;
      this.allowed.add(address);
      this.allowed.add(`${this.main.namespace}/${address}`);
    }
  }

  /** The commits that a branch has shown for so long, clocks apart. */
  async positionsOf(branch: string, milliseconds: number): Promise<Set<string>> {
    const { repository } = this.main;
    const since = this.world.now - milliseconds - 2 * hour;
    const moves = await this.quiet.reflog.list({ repository, ref: branch, types: ['branch'], amount: 1000 });
    const shown = moves.items
      .filter(({ time }) => timestampToMillis(time) >= since)
      .flatMap(({ oldCommitId, newCommitId }) => [oldCommitId, newCommitId]);
    return new Set(shown.filter((id) => id !== undefined));
  }

  async #staged(repository: string): Promise<Set<string>> {
    const found = new Set(await openUploads(this.world));
    const { items } = await this.quiet.branches.list({ repository, amount: 1000 });
    for (const { id } of items) {
      const { tokens } = await branchTokens(this.world, this.quiet, repository, id);
      for (const address of await stagedAddresses(this.world, tokens)) found.add(address);
    }
    return found;
  }

  async #isThere(): Promise<boolean> {
    const { items } = await this.quiet.repositories.listDeleted({});
    return items.every(({ id }) => id !== this.main.repository);
  }

  /** Whatever can be read, or brought back, has its data. */
  async checkEverythingIsThere(): Promise<void> {
    for (const { repository, namespace } of [this.main, this.other]) {
      const roots = await readRaceRoots(this.world, this.quiet, repository);
      for (const [name, ref] of roots) {
        for (const { path, address } of await this.objectsOf(repository, ref)) {
          if (this.allowed.has(address) || (await this.world.exists(namespace, address))) continue;
          throw new Error(`${name}/${path} at ${address} is gone`);
        }
      }
      await this.checkTrees(repository, namespace);
      await this.#checkHistory(repository, roots);
    }
  }

  /** No commit that something leads to is gone, and none of its history. */
  async #checkHistory(repository: string, roots: readonly [name: string, ref: string][]): Promise<void> {
    const parents = await parentsOf(this.world, this.quiet, repository);
    for (const [name, ref] of roots) {
      if (isCommitId(ref) && !parents.has(ref)) throw new Error(`commit ${ref} of ${name} is gone`);
    }
    for (const [commit, ids] of parents) {
      const gone = ids.find((id) => !parents.has(id));
      if (gone !== undefined) throw new Error(`commit ${gone}, a parent of ${commit}, is gone`);
    }
  }

  /** Commits that nothing leads to and that are nobody's parent. */
  async #dangling(): Promise<string[]> {
    const { repository } = this.main;
    const parents = await parentsOf(this.world, this.quiet, repository);
    const roots = await readRaceRoots(this.world, this.quiet, repository);
    const named = new Set([...roots.map(([, ref]) => ref), ...[...parents.values()].flat()]);
    return [...parents.keys()].filter((id) => !named.has(id));
  }

  /** Every commit's tree is whole. */
  async checkTrees(repository: string, namespace: string): Promise<Set<string>> {
    const trees = await treesOf(this.world, this.quiet, repository);
    for (const [table, commit] of trees) {
      if (await this.world.exists(namespace, `_svc/${table}`)) continue;
      throw new Error(`table ${table} of commit ${commit} is gone`);
    }
    return new Set(trees.keys());
  }

  /** When nobody writes any more, runs a window apart leave nothing but what is in use. */
  async checkGarbageGoes(): Promise<void> {
    const { repository, namespace } = this.main;
    this.world.now += 60 * day;
    const dangling = await this.#dangling();
    for (let run = 0; run < 4; run += 1) {
      this.world.now += 9 * day;
      try {
        await this.quiet.gcRuns.start({ repository, user: 'race' });
      } catch (error) {
        // One that died with its server still waits in the queue.
        if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
      }
      await this.world.collect(this.quiet);
      this.world.now += 61_000;
      await this.world.collect(this.quiet);
    }
    await this.checkEverythingIsThere();
    const commits = await parentsOf(this.world, this.quiet, repository);
    const left = dangling.find((id) => commits.has(id));
    if (left !== undefined) throw new Error(`nothing leads to commit ${left}, and it is still there`);
    const live = await this.#staged(repository);
    for (const [, ref] of await readRaceRoots(this.world, this.quiet, repository)) {
      for (const { address } of await this.objectsOf(repository, ref)) live.add(address);
    }
    const tables = await this.checkTrees(repository, namespace);
    for (const key of await this.world.keys(namespace)) {
      if (/^_svc\/[0-9a-f]{64}$/.test(key) && !tables.has(key.slice('_svc/'.length))) {
        throw new Error(`table ${key} is garbage and still there`);
      }
      if (!key.startsWith('data/') || live.has(key)) continue;
      if (this.heldElsewhere.has(`${namespace}/${key}`)) continue;
      throw new Error(`${key} is garbage and still there`);
    }
  }
}

function isCommitId(ref: string): boolean {
  return /^[0-9a-f]{64}$/.test(ref);
}
