import { timestampFromMillis, timestampToMillis, XidGenerator } from '@svc/encoding';
import { bytesBody, type BlockStores, type ObjectBody } from '@svc/block';
import {
  EngineError,
  type Actor,
  type Commit,
  type Engine,
  type EngineLogger,
  type HookEvent,
  type HookPoints,
  type HookRun,
  type PostEventType,
  type PreEventType,
  type Repository,
} from '@svc/engine';
import type { KvStore, KvWrite } from '@svc/kv';
import type { Action } from './file/index.ts';
import { actionFolders } from './file/folders.ts';
import { ActionLoader } from './loading/load-actions.ts';
import { GlobError } from './matching/match-path.ts';
import { matchActions } from './matching/match-actions.ts';
import { EventQueue, EventTaken, queueOf, type QueuedEvent } from './queue/queued-event.ts';
import { QueueRunner } from './queue/queue-runner.ts';
import { AbortedEvent, countedErrors } from './running/aborted-event.ts';
import { currentDepth } from './running/depth.ts';
import { ConstructionError } from './running/errors.ts';
import { planActions, type Plan } from './running/plan.ts';
import { runPlan, type HookObserver, type Journal, type RunOutcome } from './running/run-plan.ts';
import type { HookMaker } from './running/make-hook.ts';
import type { KeptEvent } from './runs/kept-event.ts';
import { RunFiles } from './runs/run-files.ts';
import { RunStore } from './runs/run-store.ts';
import { runIdBase, type Task } from './runs/run.ts';
import { isCurrent, WaitingFiles } from './runs/waiting-files.ts';

/** How often the log of a hook is written that nobody waits for. */
const liveLogMs = 2000;
/** Files that could not be read for so long are given up. */
const givenUpMs = 3_600_000;
/** How long a stopping server waits for hooks of events that are over. */
const graceMs = 25_000;

export interface ActionHooksOptions {
  readonly kv: KvStore;
  readonly blockStores: BlockStores;
  /** The engine these hooks belong to; it is made after them. */
  readonly engine: () => Pick<Engine, 'commits' | 'objects' | 'repositories'>;
  readonly makeHook: HookMaker;
  readonly logger: EngineLogger;
  /** Keeps a line about each run for auditors. */
  readonly audit?: ((fields: object, message: string) => void) | undefined;
  readonly observer?: HookObserver | undefined;
  /** Called when an event waits in a queue: somebody should call `runQueued` with it. */
  readonly onQueued?: ((queue: string) => void) | undefined;
  readonly clock?: (() => number) | undefined;
  /** False: hooks are switched off, and only what they did is shown. */
  readonly isEnabled?: boolean | undefined;
  readonly leaseTermMs?: number | undefined;
}

/** The hooks of all repositories, as the engine knows them. */
export class ActionHooks implements HookPoints {
  readonly folders: readonly string[] = actionFolders;
  readonly runs: RunStore;
  readonly #files: RunFiles;
  readonly #waitingFiles: WaitingFiles;
  readonly #options: ActionHooksOptions;
  readonly #clock: () => number;
  readonly #runIds: XidGenerator;
  readonly #loader: ActionLoader;
  readonly #queue: EventQueue;
  readonly #runner: QueueRunner;
  readonly #unreadable = new WeakSet<object>();
  readonly #stop = new AbortController();

  constructor(options: ActionHooksOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    this.#runIds = new XidGenerator({ clock: this.#clock });
    this.runs = new RunStore(options.kv);
    this.#files = new RunFiles(options.blockStores);
    this.#waitingFiles = new WaitingFiles({
      kv: options.kv,
      files: this.#files,
      repositories: () => options.engine().repositories,
      logger: options.logger,
    });
    this.#loader = new ActionLoader(options.engine);
    this.#queue = new EventQueue(options.kv);
    this.#runner = new QueueRunner({
      kv: options.kv,
      queue: this.#queue,
      logger: options.logger,
      leaseTermMs: options.leaseTermMs,
      handle: (queued, signal) => this.#handle(queued, signal),
    });
  }

  async before(event: HookEvent<PreEventType>): Promise<HookRun | undefined> {
    const actions = await this.#load(event);
    if (actions.length === 0) return undefined;
    const runId = this.#newRunId();
    const plan = this.#planOrAbort(event, runId, actions);
    if (plan.length === 0) return undefined;
    const logs = new Map<string, Buffer>();
    const outcome = await runPlan(plan, {
      event,
      runId,
      isAwaited: true,
      depth: currentDepth(),
      signal: this.#stop.signal,
      clock: this.#clock,
      writeLog(hookRunId, log) {
        logs.set(hookRunId, log);
        return Promise.resolve();
      },
      observer: this.#options.observer,
    });
    const { repository } = event;
    const files = this.#waitingFiles.plan(repository, { ...outcome, logs });
    if (files === undefined) await this.#files.writeAll(repository, { ...outcome, logs });
    await this.runs.add(repository.id, outcome.run, outcome.tasks, { files });
    this.#noteRun(event, outcome);
    if (outcome.errors.length > 0) {
      this.#noteFailure(event, runId, 'hooks refused an operation', outcome.errors);
      throw aborted(event, runId, countedErrors(outcome.errors));
    }
    return { runId };
  }

  /** Which files the event is about to show can often not be read yet: then it is put on record to look later. */
  async noteAfter(event: HookEvent<PostEventType>): Promise<readonly KvWrite[]> {
    if (this.#listensNobody(event)) return [];
    const { commit, ...told } = event;
    return [await this.#queue.plan(this.#newlyQueued({ event: told, tellsCommit: commit !== undefined }))];
  }

  #newlyQueued(kept: KeptEvent): QueuedEvent {
    const queuedAt = timestampFromMillis(this.#clock());
    return { ...kept, runId: this.#newRunId(), queuedAt, depth: currentDepth(), begun: [], ended: [] };
  }

  /** Runs the hooks of an event once more, as the user who wants it. The id of the new run. */
  async rerun(repository: Repository, runId: string, actor: Actor): Promise<string> {
    if (this.#options.isEnabled === false)
      throw new EngineError('invalid', 'hooks are switched off on this server (actions.enabled)');
    if (repository.readOnly) throw new EngineError('read_only', 'read-only repository');
    if ((await this.findRunning(repository, runId)) !== undefined)
      throw new EngineError('conflict', 'the run has not ended yet');
    if ((await this.runs.get(repository.id, runId)) === undefined)
      throw new EngineError('not_found', 'run not found');
    const kept = await this.runs.getEvent(repository.id, runId);
    if (kept === undefined)
      throw new EngineError('invalid', 'only hooks after an event can run again: repeat the operation');
    const { event, tellsCommit } = kept;
    const queued = this.#newlyQueued({ event: { ...event, repository, actor }, tellsCommit, rerunOf: runId });
    await this.#queue.put(queued);
    this.#options.onQueued?.(queueOf(repository));
    return queued.runId;
  }

  /** A run whose hooks wait or run. */
  findRunning(repository: Repository, runId: string): Promise<QueuedEvent | undefined> {
    return this.#queue.get({ queue: queueOf(repository), runId });
  }

  /** The runs of a repository whose hooks wait or run; the newest first. */
  listRunning(repository: Repository): AsyncIterable<QueuedEvent> {
    return this.#queue.list(queueOf(repository));
  }

  async after(event: HookEvent<PostEventType>): Promise<void> {
    this.#options.onQueued?.(queueOf(event.repository));
    // So that the next event of the same files is known to concern nobody. What is wrong with them is told by the run.
    if (event.files !== undefined && this.#remembered(event) === undefined)
      void this.#load(event).catch(() => undefined);
    return Promise.resolve();
  }

  #listensNobody(event: HookEvent<PostEventType>): boolean {
    try {
      const actions = this.#remembered(event);
      return actions !== undefined && matchActions(actions, event).length === 0;
    } catch {
      return false;
    }
  }

  #remembered({ repository, sourceRef: ref, files }: HookEvent): readonly Action[] | undefined {
    return this.#loader.remembered({ repository, ref, files });
  }

  async withdraw(repository: Repository, { runId }: HookRun): Promise<void> {
    try {
      await this.runs.withoutCommit(repository.id, runId, async (run) => {
        const waiting = await this.#waitingFiles.find(repository, runId);
        const { items } = await this.runs.listTasks({ repository: repository.id, runId, amount: 1000 });
        return this.#waitingFiles.plan(repository, { run, tasks: items, logs: waiting?.logs ?? new Map() });
      });
    } catch (error) {
      this.#options.logger.warn(
        { error, repository: repository.id, run: runId },
        'a run of hooks names a commit that does not exist',
      );
    }
  }

  isUnreadable(error: unknown): boolean {
    return typeof error === 'object' && error !== null && this.#unreadable.has(error);
  }

  /** What a hook has written; undefined when it is gone. */
  async readLog(repository: Repository, runId: string, hookRunId: string): Promise<ObjectBody | undefined> {
    const waiting = await this.#waitingFiles.find(repository, runId);
    const log = waiting?.logs.get(hookRunId);
    return log === undefined ? this.#files.readLog(repository, runId, hookRunId) : bytesBody(log);
  }

  /** Writes logs and manifests to the namespaces that are so far in the key-value store only. */
  writeFiles(): Promise<void> {
    return this.#waitingFiles.writeAll();
  }

  /** Runs hooks of events that are over, those of other servers that died included. */
  runQueued(queue?: string): Promise<void> {
    return this.#runner.wake(queue);
  }

  /** Whether events that are over wait for their hooks, or are with them. */
  async hasWaiting(): Promise<boolean> {
    const { done } = await this.#queue.waiting().next();
    return done !== true;
  }

  /** Waits for the hooks of events that are over. */
  async close(): Promise<void> {
    await this.#runner.close(graceMs);
    this.#stop.abort();
  }

  #newRunId(): string {
    return this.#runIds.nextDescending(runIdBase);
  }

  async #load(event: HookEvent): Promise<readonly Action[]> {
    const { repository, sourceRef: ref, files } = event;
    try {
      return await this.#loader.load({ repository, ref, files });
    } catch (error) {
      if (error instanceof AbortedEvent) throw aborted(event, this.#newRunId(), error.message);
      if (typeof error === 'object' && error !== null) this.#unreadable.add(error);
      throw error;
    }
  }

  #plan(event: HookEvent, actions: readonly Action[]): Plan {
    return planActions(matchActions(actions, event), (hook) => this.#options.makeHook(hook));
  }

  #planOrAbort(event: HookEvent, runId: string, actions: readonly Action[]): Plan {
    try {
      return this.#plan(event, actions);
    } catch (error) {
      if (error instanceof GlobError || error instanceof ConstructionError) {
        throw aborted(event, runId, error.message);
      }
      throw error;
    }
  }

  async #handle(queued: QueuedEvent, signal: AbortSignal): Promise<void> {
    const { runId, depth } = queued;
    const { logger } = this.#options;
    let event: HookEvent = queued.event;
    if (!(await this.#isCurrent(event))) return;
    let plan: Plan;
    try {
      if (queued.tellsCommit) event = { ...event, commit: await this.#commitOf(event) };
      plan = this.#planOrAbort(event, runId, await this.#load(event));
    } catch (error) {
      const isGivenUp = this.#clock() - timestampToMillis(queued.queuedAt) > givenUpMs;
      if (!(error instanceof EngineError) && !isGivenUp) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      logger.info({ ...factsOf(event, runId), reason }, 'hooks failed');
      return;
    }
    if (plan.length === 0) return;
    const outcome = await runPlan(plan, {
      event,
      runId,
      isAwaited: false,
      depth,
      signal,
      clock: this.#clock,
      writeLog: async (hookRunId, log) => {
        await this.#queue.check(queued);
        await this.#files.writeLog(event.repository, runId, hookRunId, log);
      },
      observer: this.#options.observer,
      liveLogMs,
      journal: journalOf(this.#queue, queued, signal),
    });
    // Whoever takes over records it: hooks that were broken off here did not fail by themselves.
    if (signal.aborted || !(await this.#isCurrent(event))) return;
    const { tellsCommit, rerunOf } = queued;
    const run = { ...outcome.run, rerunOf };
    await this.#files.writeManifest(event.repository, run, outcome.tasks);
    const kept = { event: queued.event, tellsCommit, rerunOf };
    await this.runs.add(event.repository.id, run, outcome.tasks, { event: kept });
    this.#noteRun(event, { ...outcome, run });
    if (outcome.errors.length > 0) this.#noteFailure(event, runId, 'hooks failed', outcome.errors);
  }

  #commitOf({ repository, commitId = '' }: HookEvent): Promise<Commit> {
    return this.#options.engine().commits.get({ repository: repository.id, ref: commitId });
  }

  /** Whose operation called which hooks, and what came of it. */
  #noteRun(event: HookEvent, { run, tasks }: RunOutcome): void {
    const hooks = tasks.map(({ actionName, hookId, passed }) => ({
      action: actionName,
      hook: hookId,
      passed,
    }));
    const { commitId, passed, rerunOf } = run;
    const fields = { ...factsOf(event, run.runId), commit: commitId || undefined, passed, rerunOf, hooks };
    this.#options.audit?.({ ...fields, log_audit: true }, 'hooks ran');
  }

  /** Who did what, and which hook objected. */
  #noteFailure(event: HookEvent, run: string, message: string, errors: readonly string[]): void {
    this.#options.logger.info({ ...factsOf(event, run), reason: countedErrors(errors) }, message);
  }

  /** A repository deleted meanwhile, or made anew under its name, has no part in the event. */
  #isCurrent({ repository }: HookEvent): Promise<boolean> {
    return isCurrent(this.#options.engine().repositories, repository);
  }
}

function factsOf({ type, repository, branch, tag, actor }: HookEvent, run: string) {
  return { event: type, repository: repository.id, branch, tag, user: actor.userId, run };
}

function aborted(event: HookEvent, runId: string, reason: string): EngineError {
  return new EngineError('hook_aborted', `${event.type} hook aborted, run id '${runId}': ${reason}`);
}

/** Notes progress in the queue, as long as the process has a right to the event. */
function journalOf(queue: EventQueue, queued: QueuedEvent, signal: AbortSignal): Journal {
  const begun = [...queued.begun];
  const ended = new Map(queued.ended.map((task) => [task.hookRunId, task]));
  let writing = Promise.resolve();
  const write = (): Promise<void> => {
    writing = writing.then(async () => {
      if (signal.aborted) throw new EventTaken('the server stops');
      await queue.note({ ...queued, begun, ended: [...ended.values()] });
    });
    return writing;
  };
  const note = async (change: () => void): Promise<void> => {
    change();
    await write();
  };
  return {
    begun: new Set(queued.begun.map(({ hookRunId }) => hookRunId)),
    ended: new Map(ended),
    begin: (task) => note(() => begun.push(task)),
    end: (task: Task) => note(() => ended.set(task.hookRunId, task)),
  };
}
