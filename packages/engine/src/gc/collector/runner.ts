import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  gcRunPhases,
  gcRunStates,
  repositoryActive,
  timestampFromMillis,
  timestampToMillis,
  type GcRunData,
} from '@svc/encoding';
import type { EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import type { GcReport, GcRunPhase, GcRunState } from '../../face/gc-runs.ts';
import { wholeRound, type JobRound } from '../../face/jobs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { CollectorLease, LeaseLost } from './lease.ts';
import { dequeue, listQueue, type QueuedRun } from './queue.ts';
import { changeRun, findRun, isOver, optionsOf } from './run-store.ts';
import { pruneRuns } from './prune-runs.ts';
import { removePins } from './remove-pins.ts';
import { quarantineOf } from './repository-settings.ts';
import { writeSummary } from './summary.ts';

/** How often a run shows life and looks whether somebody cancelled it. */
const lookMs = 2000;
/** A run that found its repository busy for so long gives up. */
const queuedForMs = 10 * 60_000;
export const collectorLost = 'Collector no longer available. Please retry.';

class RunEnded extends Error {
  readonly state: GcRunState;

  constructor(state: GcRunState, message: string) {
    super(message);
    this.state = state;
  }
}

/** Takes what waits, one run after the other. */
export async function runQueued(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  for await (const queued of listQueue(context)) {
    if (!(await round.mayGoOn())) return;
    try {
      await takeRun(context, queued, round);
    } catch (error) {
      context.logger.error(
        { error, run: queued.runId, repository: queued.repository },
        'a garbage collection could not be carried out',
      );
    }
  }
}

async function takeRun(context: EngineContext, queued: QueuedRun, round: JobRound): Promise<void> {
  const record = await context.repositories.read(queued.repository);
  const scope = record && context.repositories.scopeOf(record.data);
  const isThis =
    scope !== undefined &&
    record?.data.state === repositoryActive &&
    queued.key.subarray(-scope.partition.length).equals(scope.partition);
  const run = isThis ? await findRun(context, scope, queued.runId) : undefined;
  if (scope === undefined || run === undefined || isOver(run.data)) {
    await dequeue(context, queued);
    return;
  }
  const lookedAt = await context.leaseWatch.look(scope.partition);
  const isRunning = run.data.state === gcRunStates.indexOf('running');
  if (lookedAt === 'busy' && isRunning) return;
  if (isRunning) {
    await end(context, scope, queued, { state: 'failed', error: collectorLost });
    return;
  }
  const { kv, steadyTime: time, leaseWatch: watch, clock } = context;
  const lease = await CollectorLease.take(
    { kv, time, watch, clock },
    scope.partition,
    queued.runId,
    context.xids.next(),
  );
  if (lease !== undefined) await carryOut(context, scope, queued, { lease, round, run: run.data });
  else if (clock() - timestampToMillis(run.data.created) > queuedForMs) {
    const error = `repository '${scope.repository.id}' is busy or being restored: try again later`;
    await end(context, scope, queued, { state: 'failed', error });
  }
}

interface Work {
  readonly lease: CollectorLease;
  readonly round: JobRound;
  readonly run: GcRunData;
}

async function carryOut(
  context: EngineContext,
  scope: RepositoryScope,
  queued: QueuedRun,
  { lease, round, run }: Work,
): Promise<void> {
  const { runId } = queued;
  const about = { run: runId, repository: scope.repository.id, user: run.user, options: optionsOf(run) };
  context.logger.info({ ...about, log_audit: true }, 'garbage collection started');
  context.taskObserver?.started('gc_run');
  const begun = performance.now();
  let outcome: Outcome;
  try {
    const started = await changeRun(context, scope, runId, (data) =>
      data.cancel || isOver(data)
        ? undefined
        : { ...data, state: gcRunStates.indexOf('running'), started: timestampFromMillis(context.clock()) },
    );
    if (started === undefined) throw new RunEnded('canceled', 'canceled before it began');
    const life = new RunLife(context, scope, runId, lease, round);
    const { collect } = await import('./collect.ts');
    const report = await collect(context, scope, {
      runId,
      run: optionsOf(run),
      lease,
      quarantineMs: await quarantineOf(context, scope),
      mayGoOn: () => life.look(),
      pause: () => life.pause(),
      progress: (phase, done, total) => life.progress(phase, done, total),
    });
    outcome = { state: 'completed', report };
  } catch (error) {
    outcome = outcomeOf(error);
    const level = outcome.state === 'canceled' ? 'info' : 'warn';
    context.logger[level]({ ...about, error }, 'garbage collection did not end well');
  }
  await settle(context, scope, queued, lease, outcome);
  const seconds = (performance.now() - begun) / 1000;
  context.taskObserver?.ended('gc_run', outcome.state === 'completed' ? 'success' : 'failure', seconds);
  context.collectorObserver?.ended(outcome.state, context.clock());
  if (outcome.report !== undefined) tell(context, scope, outcome.report);
  const { state, report } = outcome;
  context.logger.info(
    { ...about, state, classes: report?.classes, log_audit: true },
    'garbage collection ended',
  );
}

function tell(context: EngineContext, scope: RepositoryScope, report: GcReport): void {
  const observer = context.collectorObserver;
  if (observer === undefined) return;
  const condemned = { objects: 0, bytes: 0 };
  for (const row of report.classes) {
    observer.deleted(row.class, row.deleted);
    observer.failures(row.failed.objects);
    observer.rescued(row.rescued.objects);
    condemned.objects += row.condemned.objects - row.deleted.objects;
    condemned.bytes += row.condemned.bytes - row.deleted.bytes;
  }
  if (!report.dryRun) observer.condemned(scope.repository.instanceUid, condemned);
}

interface Outcome {
  readonly state: 'completed' | 'failed' | 'canceled';
  readonly report?: GcReport | undefined;
  readonly error?: string | undefined;
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof RunEnded) {
    return { state: error.state === 'canceled' ? 'canceled' : 'failed', error: error.message };
  }
  const isOurs = error instanceof EngineError || error instanceof LeaseLost;
  if (isOurs || error instanceof Error) return { state: 'failed', error: error.message };
  return { state: 'failed', error: String(error) };
}

/** The report first: a run whose lease is free again has told what it did. */
async function settle(
  context: EngineContext,
  scope: RepositoryScope,
  queued: QueuedRun,
  lease: CollectorLease,
  outcome: Outcome,
): Promise<void> {
  const isOwner = !lease.isLost;
  try {
    if (isOwner && outcome.report !== undefined) {
      await writeSummary(context, scope, queued.runId, outcome.report);
    }
  } catch (error) {
    context.logger.warn({ error, run: queued.runId }, 'the summary of a garbage collection was not stored');
  }
  await lease.release();
  await end(context, scope, queued, outcome);
  if (!isOwner) return;
  await removePins(context, scope, lease.generation);
  await pruneRuns(context, scope);
}

async function end(
  context: EngineContext,
  scope: RepositoryScope,
  queued: QueuedRun,
  { state, report, error }: Outcome,
): Promise<void> {
  const now = timestampFromMillis(context.clock());
  await changeRun(context, scope, queued.runId, (data) =>
    isOver(data)
      ? undefined
      : {
          ...data,
          state: gcRunStates.indexOf(state),
          phase: 0,
          ended: now,
          updated: now,
          report: report === undefined ? data.report : JSON.stringify({ ...report, roots: undefined }),
          error: error ?? '',
        },
  );
  await dequeue(context, queued);
}

/** Shows how far a run is, and notices that it must end. */
class RunLife {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #runId: string;
  readonly #lease: CollectorLease;
  readonly #round: JobRound;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #phase: GcRunPhase = '';
  #phaseBegan = performance.now();
  #done = 0;
  #total = 0;
  #busySince = performance.now();

  constructor(
    context: EngineContext,
    scope: RepositoryScope,
    runId: string,
    lease: CollectorLease,
    round: JobRound,
  ) {
    this.#context = context;
    this.#scope = scope;
    this.#runId = runId;
    this.#lease = lease;
    this.#round = round;
  }

  async look(): Promise<void> {
    this.#lease.check();
    const now = this.#context.steadyTime.now();
    if (now - this.#lookedAt < lookMs) return;
    this.#lookedAt = now;
    if (!(await this.#round.mayGoOn())) throw new RunEnded('failed', 'server stopped');
    await this.#write();
  }

  /** Rests as long as the work took, or as `gc.cpu_percent` says. */
  async pause(): Promise<void> {
    await nextTurn();
    const { cpuPercent } = this.#context.settings.gc;
    const busy = performance.now() - this.#busySince;
    if (cpuPercent < 100 && busy > 1) {
      await this.#context.steadyTime.rest(busy * (100 / cpuPercent - 1));
    }
    await this.look();
    this.#busySince = performance.now();
  }

  async progress(phase: GcRunPhase, done: number, total = 0): Promise<void> {
    const isNew = phase !== this.#phase;
    if (isNew) {
      const seconds = (performance.now() - this.#phaseBegan) / 1000;
      if (this.#phase !== '') this.#context.collectorObserver?.phase(this.#phase, seconds);
      this.#phaseBegan = performance.now();
    }
    this.#phase = phase;
    this.#done = done;
    this.#total = total;
    if (isNew) await this.#write();
    else await this.look();
  }

  async #write(): Promise<void> {
    const changed = await changeRun(this.#context, this.#scope, this.#runId, (data) =>
      data.cancel || isOver(data)
        ? undefined
        : {
            ...data,
            phase: gcRunPhases.indexOf(this.#phase),
            done: this.#done,
            total: this.#total,
            updated: timestampFromMillis(this.#context.clock()),
          },
    );
    if (changed === undefined) throw new RunEnded('canceled', 'canceled');
  }
}
