import { BlockError, type DeleteFailure, type ObjectPointer } from '@svc/block';
import { repositoryActive } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { commitKey } from '../../store/keys.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import type { ClassTallies } from './condemn.ts';
import { parseDataKey, partitionBegun } from './data-key.ts';
import { LoadedShards } from './find-garbage.ts';
import type { Garbage, GarbageWriter } from './garbage-file.ts';
import { readHeld, type Held } from './held.ts';
import type { CollectorLease } from './lease.ts';
import { Marks } from './marks.ts';
import type { GcPlaces } from './places.ts';
import { readPins } from './roots.ts';
import { TreeMarker } from './tree-marker.ts';

const largestBatch = 5000;
const keysPerCall = 1000;
/** A batch is as large as this many seconds of deletes. */
const batchSeconds = 2;
const callMs = 20_000;
/** Delete calls of a batch that are under way at a time. A disk is busy with one, and others want to write to it. */
const callsAtOnce = (store: string): number => (store === 'local' ? 1 : 4);

interface Refused {
  readonly keys: ReadonlySet<string>;
  /** False: one of the requests may still be at work. */
  readonly isTrusted: boolean;
}

interface DeleteCall {
  readonly keys: readonly Garbage[];
  isSent: boolean;
  /** Undefined: it was not sent, or nobody knows what became of it. */
  refused: Refused | undefined;
}

export interface SweepParts {
  readonly lease: CollectorLease;
  readonly places: GcPlaces;
  readonly held: Held;
  readonly classes: ClassTallies;
  readonly deletesPerSecond: number;
  /** Empty folders of partitions begun before go, too; milliseconds. */
  readonly foldersBefore: number;
  /** What was found to be in use, or was refused by the store. */
  readonly kept: GarbageWriter;
  readonly failed: GarbageWriter;
  readonly deleted: GarbageWriter;
  /** Folder for the marks of pinned trees. */
  readonly folder: string;
  /** Between batches; throws to end the run. */
  readonly mayGoOn: () => Promise<void>;
  readonly pause: () => Promise<void>;
}

/** What became of a call that was sent. */
function isKnown({ refused }: DeleteCall): boolean {
  return refused?.isTrusted === true;
}

/** The repository is no more the one that was marked. */
export class RepositoryChanged extends Error {}

/** Deletes what is due, batch by batch; before each one it looks for what came back to life. */
export class Sweep {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #parts: SweepParts;
  readonly #pinned: Marks;
  readonly #marker: TreeMarker;
  readonly #pinnedTrees = new Set<string>();
  /** Of what was deleted. */
  readonly #partitions = new Set<string>();
  #done = 0;

  constructor(context: EngineContext, scope: RepositoryScope, parts: SweepParts) {
    this.#context = context;
    this.#scope = scope;
    this.#parts = parts;
    this.#pinned = new Marks(parts.folder);
    this.#marker = new TreeMarker(context.trees, scope.committed, this.#pinned, parts);
  }

  async run(due: AsyncIterable<Garbage>, progress: (done: number) => Promise<void>): Promise<void> {
    const { deletesPerSecond } = this.#parts;
    const size =
      deletesPerSecond === 0 ? largestBatch : Math.min(largestBatch, batchSeconds * deletesPerSecond);
    let batch: Garbage[] = [];
    try {
      for await (const garbage of due) {
        batch.push(garbage);
        if (batch.length < Math.max(1, size)) continue;
        await this.#batch(batch);
        await progress(this.#done);
        batch = [];
      }
      if (batch.length > 0) await this.#batch(batch);
      await progress(this.#done);
      await this.#removeFolders();
    } finally {
      this.#pinned.close();
    }
  }

  /** Nothing is written any more into partitions that were begun so long ago. */
  async #removeFolders(): Promise<void> {
    const adapter = adapterOf(this.#context, this.#scope);
    for (const partition of this.#partitions) {
      const begun = partitionBegun(partition) ?? Number.POSITIVE_INFINITY;
      if (begun >= this.#parts.foldersBefore) continue;
      await adapter.removeEmptyFolder?.(this.#parts.places.pointer(`data/${partition}`));
    }
  }

  async #batch(batch: readonly Garbage[]): Promise<void> {
    const { lease, mayGoOn, deletesPerSecond } = this.#parts;
    const { steadyTime } = this.#context;
    await mayGoOn();
    const begun = steadyTime.now();
    await lease.beginBatch();
    const condemned = await this.#stillGarbage(batch);
    const hasTimedOut = await this.#delete(condemned);
    if (hasTimedOut) await lease.settle();
    await lease.endBatch();
    this.#done += batch.length;
    if (deletesPerSecond === 0) return;
    const rest = (1000 * condemned.length) / deletesPerSecond - (steadyTime.now() - begun);
    if (rest > 0) await steadyTime.rest(rest);
  }

  /** After the batch was announced: whoever pins from now on waits until it is over. */
  async #stillGarbage(batch: readonly Garbage[]): Promise<Garbage[]> {
    const { held, kept } = this.#parts;
    await this.#checkRepository();
    await readHeld(this.#context, this.#scope, held);
    const pinned = await this.#readPins();
    const shards = new LoadedShards(this.#pinned);
    const left: Garbage[] = [];
    for (const garbage of batch) {
      const data = parseDataKey(garbage.address);
      const isBack =
        data === undefined
          ? pinned.has(garbage.address)
          : held.has(garbage.address) || shards.of(data.partition).use(garbage.address) !== 'none';
      if (isBack || (garbage.class === 'tables' && (await this.#wasRewritten(garbage))))
        await kept.add(garbage);
      else left.push(garbage);
    }
    return left;
  }

  async #checkRepository(): Promise<void> {
    const { id, instanceUid } = this.#scope.repository;
    const record = await this.#context.repositories.read(id);
    if (record?.data.state === repositoryActive && record.data.instanceUid === instanceUid) return;
    throw new RepositoryChanged(`repository '${id}' was deleted while it was collected`);
  }

  /** Answers the keys of tables that pinned trees use, pinned commits and their parents. */
  async #readPins(): Promise<Set<string>> {
    const commits: string[] = [];
    const extraTrees = new Set<string>();
    const marks = { addText: (address: string) => this.#pinned.addText(address) };
    await readPins(this.#context, this.#scope, { marks, extraTrees, commits });
    const pinned = new Set(commits);
    for (const id of commits) {
      const commit = await this.#context.commits.find(this.#scope, id);
      for (const parent of commit?.parents ?? []) pinned.add(parent);
      if (commit !== undefined && commit.metaRangeId !== '') extraTrees.add(commit.metaRangeId);
    }
    for (const tree of extraTrees) {
      if (this.#pinnedTrees.has(tree)) continue;
      await this.#marker.mark(tree, '', true);
      this.#pinnedTrees.add(tree);
    }
    const prefix = this.#scope.committed.metadataPrefix;
    for (const id of this.#marker.tables) pinned.add(`${prefix}/${id}`);
    return pinned;
  }

  /** A table that was written again is somebody's. */
  async #wasRewritten({ address, modified }: Garbage): Promise<boolean> {
    try {
      const pointer = this.#parts.places.pointer(address);
      const now = await adapterOf(this.#context, this.#scope).properties(pointer, { skipEtag: true });
      // One answer may have the second only, another the millisecond.
      return Math.abs(now.lastModified.getTime() - modified) >= 1000;
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return false;
      throw error;
    }
  }

  /** True when it is not known what became of a call. */
  async #delete(condemned: readonly Garbage[]): Promise<boolean> {
    const calls: DeleteCall[] = [];
    for (let start = 0; start < condemned.length; start += keysPerCall) {
      const keys = condemned.slice(start, start + keysPerCall);
      calls.push({ keys, isSent: false, refused: undefined });
    }
    let isOver = false;
    const send = async (call: DeleteCall): Promise<boolean> => {
      if (!(await this.#parts.lease.mayDelete()) || isOver) return false;
      call.isSent = true;
      call.refused = await this.#deleteKeys(call.keys);
      return isKnown(call);
    };
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let call = calls[next++]; call !== undefined && !isOver; call = calls[next++]) {
        let goesOn = false;
        try {
          goesOn = await send(call);
        } finally {
          if (!goesOn) isOver = true;
        }
      }
    };
    // Whatever was sent is over before anything else is done, also when one fails.
    const lanesAtOnce = callsAtOnce(adapterOf(this.#context, this.#scope).type);
    const lanes = await Promise.allSettled(Array.from({ length: lanesAtOnce }, lane));
    await this.#note(calls);
    const isUnsure = calls.some((call) => call.isSent && !isKnown(call));
    const failed = lanes.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return isUnsure;
    if (isUnsure && !this.#parts.lease.isLost) await this.#parts.lease.settle();
    throw failed.reason;
  }

  /** In the order of the list. */
  async #note(calls: readonly DeleteCall[]): Promise<void> {
    const { classes, failed, deleted } = this.#parts;
    for (const { keys, refused } of calls) {
      for (const garbage of keys) {
        if (refused === undefined) {
          await failed.add(garbage);
          continue;
        }
        const isRefused = refused.keys.has(garbage.address);
        const tally = classes[garbage.class];
        (isRefused ? tally.failed : tally.deleted).add(garbage.size);
        const data = parseDataKey(garbage.address);
        if (data !== undefined) this.#partitions.add(data.partition);
        await (isRefused ? failed : deleted).add(garbage);
      }
    }
  }

  /** Undefined when it is not known what became of the call. */
  async #deleteKeys(keys: readonly Garbage[]): Promise<Refused | undefined> {
    const { lease, places } = this.#parts;
    const refused = new Set<string>();
    for (const garbage of keys) {
      if (garbage.class !== 'commits') continue;
      if (!lease.isInTime() || !(await this.#deleteRecord(garbage.address))) refused.add(garbage.address);
    }
    const stored = keys.filter((garbage) => garbage.class !== 'commits');
    const failures = await this.#deleteWithin(stored.map(({ address }) => places.pointer(address)));
    if (failures === undefined) return undefined;
    for (const { pointer } of failures) refused.add(pointer.identifier);
    return { keys: refused, isTrusted: !failures.some(({ error }) => error.kind === 'unavailable') };
  }

  async #deleteRecord(commitId: string): Promise<boolean> {
    const { kv, commits } = this.#context;
    const key = commitKey(commitId);
    const found = await kv.get(this.#scope.partition, key);
    if (found !== undefined && !(await kv.deleteIf(this.#scope.partition, key, found.predicate)))
      return false;
    commits.forget(this.#scope, commitId);
    return true;
  }

  /** Undefined when it is not known what became of the call. */
  async #deleteWithin(pointers: readonly ObjectPointer[]): Promise<DeleteFailure[] | undefined> {
    if (pointers.length === 0) return [];
    const { lease } = this.#parts;
    const tooLate = new AbortController();
    const timer = setTimeout(() => tooLate.abort(new BlockError('unavailable', 'no answer')), callMs);
    try {
      return await adapterOf(this.#context, this.#scope).deleteMany(pointers, {
        mayGoOn: () => lease.isInTime(),
        signal: tooLate.signal,
      });
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}
