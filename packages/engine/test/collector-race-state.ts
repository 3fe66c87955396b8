import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import { listCommits, listStaged } from './external-collector.ts';
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
  isSweeping = false;
  counter = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
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
    await stage();
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
  async allowMissing(ref: string): Promise<void> {
    for (const { address } of await this.objectsOf(this.main.repository, ref)) {
      if (await this.world.exists(this.main.namespace, address)) continue;
      this.allowed.add(address);
      this.allowed.add(`${this.main.namespace}/${address}`);
    }
  }

  async checkEverythingIsThere(): Promise<void> {
    for (const { repository, namespace } of [this.main, this.other]) {
      const { items } = await this.quiet.branches.list({ repository, amount: 1000 });
      const { items: tags } = await this.quiet.tags.list({ repository, amount: 1000 });
      const refs = [...items.flatMap(({ id }) => [id, `${id}@`]), ...tags.map(({ id }) => id)];
      for (const ref of refs) {
        for (const { path, address } of await this.objectsOf(repository, ref)) {
          if (this.allowed.has(address) || (await this.world.exists(namespace, address))) continue;
          throw new Error(`${ref}/${path} at ${address} is gone`);
        }
      }
      await this.checkTrees(repository, namespace);
    }
  }

  /** Every commit's tree is whole. */
  async checkTrees(repository: string, namespace: string): Promise<void> {
    const seen = new Set<string>();
    for (const id of await listCommitsAll(this.quiet, repository, this.commits)) {
      const { metaRangeId } = await this.quiet.commits.get({ repository, ref: id });
      if (metaRangeId === '' || seen.has(metaRangeId)) continue;
      seen.add(metaRangeId);
      for (const table of await tablesOf(this.world, namespace, metaRangeId)) {
        if (await this.world.exists(namespace, `_svc/${table}`)) continue;
        throw new Error(`table ${table} of commit ${id} is gone`);
      }
    }
  }

  /** When nobody writes any more, two runs a window apart leave nothing but what is in use. */
  async checkGarbageGoes(): Promise<void> {
    const { repository, namespace } = this.main;
    // What can be brought back is kept as long as its log.
    this.world.now += 60 * day;
    await this.quiet.reflog.expire({ repository, before: this.world.now - 28 * hour });
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
    const live = await listStaged(this.world.adapter, this.quiet, repository);
    for (const commit of await listCommits(this.world.adapter, this.quiet, repository)) {
      for (const { address } of await this.objectsOf(repository, commit)) live.add(address);
    }
    for (const ref of ['main']) {
      for (const { address } of await this.objectsOf(this.other.repository, ref)) {
        live.add(address.slice(namespace.length + 1));
      }
    }
    for (const key of await this.world.keys(namespace)) {
      if (!key.startsWith('data/') || live.has(key)) continue;
      if (this.heldElsewhere.has(`${namespace}/${key}`)) continue;
      throw new Error(`${key} is garbage and still there`);
    }
  }

  readonly heldElsewhere = { has: (uri: string): boolean => this.old.includes(uri) };
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
