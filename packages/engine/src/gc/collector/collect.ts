import { join } from 'node:path';
import { timestampFromMillis, timestampToMillis } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import type { GarbageClass, GcClassReport, GcReport, GcRunOptions, GcRunPhase } from '../../face/gc-runs.ts';
import { trimSlash } from '../../repositories/namespaces.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { endUnknownUploads } from '../../uploads/sweep-uploads.ts';
import { findGcRules } from '../gc-rules.ts';
import { checkCollectable } from '../gc-state.ts';
import { condemn, type Condemned } from './condemn.ts';
import { CondemnedList, withoutDeleted } from './condemned-list.ts';
import { parseDataKey } from './data-key.ts';
import { findGarbage, Listing, LoadedShards, type FoundGarbage } from './find-garbage.ts';
import { inOrder } from './garbage-order.ts';
import { GarbageWriter, readGarbageFile } from './garbage-file.ts';
import { Held, readHeld, releaseUnused, surveyOthers } from './held.ts';
import type { CollectorLease } from './lease.ts';
import { markTrees } from './mark-trees.ts';
import { Marks } from './marks.ts';
import { checkMemory } from './memory.ts';
import { checkUncontested, claimNamespace } from './owner.ts';
import { Pace } from './pace.ts';
import { GcPlaces } from './places.ts';
import { reportOf, uploadsRow } from './report.ts';
import { RootFigures } from './root-figures.ts';
import { readRoots, type Roots } from './roots.ts';
import { withScratch } from './scratch.ts';
import { storeDeleted } from './store-deleted.ts';
import { Sweep } from './sweep.ts';

const hourMs = 3_600_000;
/** Clocks of servers and store together. */
const clockErrorMs = hourMs;
/** Moves are recorded for at least so long before anything is deleted. */
const recordedMs = 3 * hourMs;
/** Between the two looks of a run without a window. */
const secondLookMs = 60_000;
/** A server that stops, or a user who cancels, waits no longer than this for it. */
const waitStepMs = 2000;
/** Signed addresses below a partition may be written to for a day after the last was given. */
const foldersLifeMs = 26 * hourMs;
/** Fewer objects than this are deleted whatever part of all they are. */
const brakeObjects = 1000;

export interface CollectOptions {
  readonly runId: string;
  readonly run: GcRunOptions;
  readonly lease: CollectorLease;
  /** Window of the repository, in milliseconds. */
  readonly quarantineMs: number;
  /** Throws to end the run. */
  readonly mayGoOn: () => Promise<void>;
  readonly pause: () => Promise<void>;
  readonly progress: (phase: GcRunPhase, done: number, total?: number) => Promise<void>;
}

/** One whole run under a lease: mark, compare, condemn, sweep. */
export async function collect(
  context: EngineContext,
  scope: RepositoryScope,
  options: CollectOptions,
): Promise<GcReport> {
  return withScratch(join(context.settings.gc.folder, 'tmp'), (scratch) =>
    new Collection(context, scope, options, scratch).run(),
  );
}

/** What a run found to be in use. */
interface Marked {
  readonly marks: Marks;
  /** Tables that some commit reaches; undefined: not all of them are known. */
  readonly tables: ReadonlySet<string> | undefined;
  readonly tableCutoff: number;
  readonly dangling: Roots['dangling'];
}

class Collection {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #options: CollectOptions;
  readonly #scratch: string;
  readonly #places: GcPlaces;
  readonly #held = new Held();
  readonly #begun: number;
  readonly #cutoff: number;
  #rootReports: GcReport['roots'];

  constructor(context: EngineContext, scope: RepositoryScope, options: CollectOptions, scratch: string) {
    this.#context = context;
    this.#scope = scope;
    this.#options = options;
    this.#scratch = scratch;
    this.#places = new GcPlaces(scope);
    this.#begun = context.clock();
    this.#cutoff = this.#begun - context.settings.gc.graceMs - clockErrorMs;
  }

  async run(): Promise<GcReport> {
    const { runId, run, lease } = this.#options;
    const { generation } = lease;
    await checkCollectable(this.#context, this.#scope);
    await claimNamespace(this.#context, this.#scope, this.#places, {
      generation,
      runId,
      takeOver: run.takeOver,
    });
    const condemnedList = new CondemnedList(this.#context, this.#scope, { runId, lease });
    const before = run.takeOver ? undefined : await condemnedList.read();
    const listing = new Listing();
    const list = new GarbageWriter(join(this.#scratch, 'list'));
    const due = new GarbageWriter(join(this.#scratch, 'due'));
    const condemned = await this.#mark('marks', (marked) =>
      condemn(this.#find(listing, marked), {
        before: condemnedList.entries(before),
        now: this.#begun,
        windowOf: (garbage) => this.#windowOf(garbage),
        looksFor: (garbage) => this.#looksFor(garbage, marked),
        notBefore: timestampToMillis(before?.notBefore ?? timestampFromMillis(0)),
        list,
        due,
      }),
    );
    await list.finish();
    await due.finish();
    await checkCollectable(this.#context, this.#scope);
    const adapter = adapterOf(this.#context, this.#scope);
    if (run.dryRun) await list.store(adapter, this.#places.pointer(this.#places.list(runId, 'condemned')));
    else {
      await condemnedList.replace(list);
      if (due.objects > 0 && (await this.#mayDelete())) {
        const deleted = await this.#sweep(due, listing, condemned);
        if (deleted.objects > 0) {
          const left = new GarbageWriter(join(this.#scratch, 'left'));
          await condemnedList.replace(await withoutDeleted(list, deleted, left));
        }
      }
      await this.#release();
    }
    const { storageNamespace } = this.#scope.repository;
    return reportOf(listing, condemned, await this.#uploads(), {
      dryRun: run.dryRun,
      cutoff: this.#cutoff,
      roots: this.#rootReports,
      storeDeletion: await adapter.deletion(storageNamespace),
      location: `${trimSlash(storageNamespace)}/${this.#places.summary(runId)}`,
    });
  }

  async #release(): Promise<void> {
    const before = this.#begun - this.#context.settings.gc.graceMs - recordedMs;
    try {
      await releaseUnused(this.#context, this.#scope, before, this.#options.pause);
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'corrupt') throw error;
      const { id } = this.#scope.repository;
      this.#context.logger.warn(
        { error, repository: id },
        'what is used of other repositories stays registered',
      );
    }
  }

  /** Uploads without a record wait long enough by themselves: nothing can come of them any more. */
  async #uploads(): Promise<GcClassReport[]> {
    const { run, mayGoOn } = this.#options;
    if (!run.classes.includes('uploads')) return [];
    const uploads = await endUnknownUploads(this.#context, this.#scope, {
      dryRun: run.dryRun,
      mayGoOn: async () => {
        await mayGoOn();
        return true;
      },
    });
    return [uploadsRow(uploads)];
  }

  #windowOf(garbage: GarbageClass): number {
    const { quarantineMs } = this.#options;
    if (garbage === 'tables' || garbage === 'commits') return Math.max(quarantineMs, 24 * hourMs);
    return this.#isHard ? 0 : quarantineMs;
  }

  get #isHard(): boolean {
    const { run, quarantineMs } = this.#options;
    return run.hard || quarantineMs === 0;
  }

  #looksFor(garbage: GarbageClass, { tables, dangling }: Marked): boolean {
    const { classes } = this.#options.run;
    if (garbage === 'commits') return classes.includes('metadata') && dangling !== undefined;
    if (garbage === 'tables')
      return this.#context.settings.gc.metadata && classes.includes('metadata') && tables !== undefined;
    return classes.includes('objects');
  }

  /** Hands what is in use to `use`; the marks are gone afterwards. */
  async #mark<T>(name: string, use: (marked: Marked) => Promise<T>): Promise<T> {
    const context = this.#context;
    const { mayGoOn, pause, progress } = this.#options;
    await progress('marking', 0);
    const marks = new Marks(join(this.#scratch, name));
    try {
      await readHeld(context, this.#scope, this.#held);
      await surveyOthers(context, this.#scope, this.#held, pause);
      const rules = this.#options.run.rules ?? (await findGcRules(context, this.#scope));
      const { graceMs, danglingCommitsMs: danglingMs } = context.settings.gc;
      const begun = this.#begun;
      const how = { rules, begun, graceMs, danglingMs, mayGoOn };
      const roots = await readRoots(context, this.#scope, marks, how);
      await checkCollectable(context, this.#scope);
      let done = 0;
      const { tables, sizes } = await markTrees(context, this.#scope, marks, roots, {
        pause: async () => {
          await progress('marking', done, roots.commits.count);
          await pause();
        },
        progress: (commits) => {
          done = commits;
        },
        scratch: this.#scratch,
      });
      const commits = roots.commits.count;
      checkMemory(context.settings.gc.memoryBytes, { commits, ranges: sizes.size, marks });
      const { trees } = context;
      const { committed } = this.#scope;
      this.#rootReports ??= await new RootFigures({ trees, committed, roots, sizes, pause }).find();
      await progress('comparing', 0);
      const tableCutoff = Math.min(this.#cutoff, roots.tablesBefore);
      return await use({ marks, tables, tableCutoff, dangling: roots.dangling });
    } finally {
      marks.close();
    }
  }

  #find(listing: Listing, marked: Marked): AsyncGenerator<FoundGarbage> {
    const dangling = this.#looksFor('commits', marked) ? marked.dangling : undefined;
    const commits = (dangling ?? []).map(({ id, createdAt }): FoundGarbage => ({
      address: id,
      size: 0,
      modified: createdAt,
      class: 'commits',
    }));
    return inOrder(this.#findStored(listing, marked), commits);
  }

  async *#findStored(listing: Listing, marked: Marked): AsyncGenerator<FoundGarbage> {
    const { marks, tables, tableCutoff } = marked;
    const { pause, progress } = this.#options;
    const { steadyTime, settings } = this.#context;
    // A list call of these is none to a service.
    const isLocal = ['local', 'mem'].includes(adapterOf(this.#context, this.#scope).type);
    const pace = new Pace(steadyTime, isLocal ? 0 : settings.gc.listsPerSecond);
    const found = findGarbage(this.#context, this.#scope, this.#places, listing, {
      marks,
      tables: this.#looksFor('tables', marked) ? tables : undefined,
      cutoff: this.#cutoff,
      tableCutoff,
      held: this.#held,
      objects: this.#looksFor('expired', marked),
      nextList: () => pace.next(),
      pause: async () => {
        await progress('comparing', listing.listed.objects);
        await pause();
      },
    });
    for await (const garbage of found) {
      if (garbage.class === 'tables' && !(await this.#isObjectTable(garbage.address))) continue;
      yield garbage;
    }
  }

  /** Tables of dumps are named in files that lie with users; what is no table is not ours. */
  async #isObjectTable(key: string): Promise<boolean> {
    const { committed } = this.#scope;
    const table = await this.#context.trees.describe(
      committed,
      key.slice(committed.metadataPrefix.length + 1),
    );
    return table !== undefined && table.entity === undefined;
  }

  /** Refs that moved before moves were recorded cannot be known. */
  async #mayDelete(): Promise<boolean> {
    const { graceMs } = this.#context.settings.gc;
    const since = (await this.#context.moves.since(this.#scope)) / 1000;
    return this.#begun - since >= graceMs + recordedMs;
  }

  /** Answers what is gone. */
  async #sweep(due: GarbageWriter, listing: Listing, condemned: Condemned): Promise<GarbageWriter> {
    const context = this.#context;
    const { runId, lease, mayGoOn, pause, progress } = this.#options;
    this.#brake(condemned, listing);
    const adapter = adapterOf(context, this.#scope);
    const plan = this.#isHard ? await this.#lookAgain(due) : due;
    const places = this.#places;
    await checkUncontested(context, this.#scope, places, runId);
    // Before the first delete: whatever is missing later is named here.
    await plan.store(adapter, places.pointer(places.list(runId, 'plan')));
    const writer = (name: string): GarbageWriter => new GarbageWriter(join(this.#scratch, name));
    const [kept, failed, deleted] = [writer('kept'), writer('failed'), writer('deleted')];
    await lease.beginSweep();
    await progress('sweeping', 0, plan.objects);
    const sweep = new Sweep(context, this.#scope, {
      lease,
      places,
      held: this.#held,
      classes: condemned.classes,
      deletesPerSecond: context.settings.gc.deletesPerSecond,
      foldersBefore: this.#cutoff - foldersLifeMs,
      kept,
      failed,
      deleted,
      folder: join(this.#scratch, 'pinned'),
      mayGoOn: async () => {
        await mayGoOn();
        await checkUncontested(context, this.#scope, places, runId);
      },
      pause,
    });
    try {
      await sweep.run(readGarbageFile(plan.path), (done) => progress('sweeping', done, plan.objects));
    } finally {
      await Promise.all([kept.finish(), failed.finish(), deleted.finish()]);
    }
    await progress('reporting', plan.objects, plan.objects);
    for (const [list, kind] of [
      [kept, 'kept'],
      [failed, 'failed'],
    ] as const) {
      if (list.objects > 0) await list.store(adapter, places.pointer(places.list(runId, kind)));
    }
    await storeDeleted(adapter, places, runId, deleted, this.#scratch);
    return deleted;
  }

  #brake({ classes: { expired, uncommitted } }: Condemned, listing: Listing): void {
    const most = this.#options.run.maxPercent ?? this.#context.settings.gc.maxPercent;
    const { objects } = listing.listed;
    const due = expired.due.objects + uncommitted.due.objects;
    const percent = Math.ceil((100 * due) / Math.max(1, objects));
    if (due <= brakeObjects || percent <= most) return;
    throw new EngineError(
      'conflict',
      `would delete ${due} of ${objects} objects (${percent} %): check the rules, then run again with max_percent`,
      { subject: 'repository' },
    );
  }

  /** Without a window a second whole look takes its place. */
  async #lookAgain(due: GarbageWriter): Promise<GarbageWriter> {
    const { steadyTime } = this.#context;
    const { lease, mayGoOn } = this.#options;
    for (let waited = 0; waited < secondLookMs; waited += waitStepMs) {
      await steadyTime.rest(waitStepMs);
      await lease.beat();
      await mayGoOn();
    }
    const still = new GarbageWriter(join(this.#scratch, 'due-again'));
    await this.#mark('marks-again', async ({ marks, tables, dangling }) => {
      const shards = new LoadedShards(marks);
      const isDangling = new Set(dangling?.map(({ id }) => id));
      const prefix = this.#scope.committed.metadataPrefix.length + 1;
      for await (const garbage of readGarbageFile(due.path)) {
        const data = parseDataKey(garbage.address);
        const isUsed =
          garbage.class === 'commits'
            ? !isDangling.has(garbage.address)
            : data === undefined
              ? tables?.has(garbage.address.slice(prefix)) !== false
              : shards.of(data.partition).use(garbage.address) === 'active';
        if (!isUsed && !this.#held.has(garbage.address)) await still.add(garbage);
      }
    });
    await still.finish();
    return still;
  }
}
