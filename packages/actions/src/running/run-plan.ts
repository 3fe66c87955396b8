import { timestampFromMillis, type Timestamp } from '@svc/encoding';
import type { HookEvent } from '@svc/engine';
import type { BegunTask } from '../queue/queued-event.ts';
import { never, type Run, type Task } from '../runs/run.ts';
import { ConditionError, evaluateCondition } from './condition.ts';
import { HookOutput } from './hook-output.ts';
import type { Plan, PlannedTask } from './plan.ts';

/** Output kept of one hook. */
const outputLimit = 10 * 1024 ** 2;

export type TaskStatus = 'completed' | 'failed' | 'skipped';

/** Told of every hook that ended. */
export interface HookObserver {
  hookEnded(hook: {
    readonly event: string;
    readonly action: string;
    readonly type: string;
    readonly status: TaskStatus;
    readonly seconds: number;
  }): void;
}

/** What is known of a run that another process began, and where its progress is noted. */
export interface Journal {
  readonly begun: ReadonlySet<string>;
  readonly ended: ReadonlyMap<string, Task>;
  begin(task: BegunTask): Promise<void>;
  end(task: Task): Promise<void>;
}

export interface RunOptions {
  readonly event: HookEvent;
  readonly runId: string;
  readonly isAwaited: boolean;
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly clock: () => number;
  readonly writeLog: (hookRunId: string, log: Buffer) => Promise<void>;
  /** How often the log of a running hook is written; without it only when the hook ends. */
  readonly liveLogMs?: number | undefined;
  readonly observer?: HookObserver | undefined;
  readonly journal?: Journal | undefined;
}

export interface RunOutcome {
  readonly run: Run;
  readonly tasks: readonly Task[];
  /** Of each action that failed the first failure, in the order they ended. */
  readonly errors: readonly string[];
}

/**
 * Runs all actions at once and the hooks of each in order. Rejects when a log could not be written, once everything has
 * ended.
 */
export async function runPlan(plan: Plan, options: RunOptions): Promise<RunOutcome> {
  const errors: string[] = [];
  const actions = plan.map((tasks) => runAction(tasks, options, (error) => errors.push(error)));
  const settled = await Promise.allSettled(actions);
  const broken = settled.find((result) => result.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
  const tasks = settled.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
  return { run: runOf(options, tasks, errors.length === 0), tasks, errors };
}

async function runAction(
  tasks: readonly PlannedTask[],
  options: RunOptions,
  fail: (error: string) => void,
): Promise<Task[]> {
  const results: Task[] = [];
  let hasFailed = false;
  for (const task of tasks) {
    const known = options.journal?.ended.get(task.hookRunId);
    const outcome: TaskOutcome =
      known === undefined ? await runTask(task, hasFailed, options) : { task: known };
    results.push(outcome.task);
    const failed = !outcome.task.passed && outcome.task.startTime.seconds !== never.seconds;
    if (failed && !hasFailed) fail(outcome.error ?? messageOf(task, 'failed before the server stopped'));
    hasFailed ||= failed;
  }
  return results;
}

interface TaskOutcome {
  readonly task: Task;
  readonly error?: string;
}

async function runTask(task: PlannedTask, hasFailed: boolean, options: RunOptions): Promise<TaskOutcome> {
  const { runId, clock, journal } = options;
  const { hookRunId, actionName, description } = task;
  const output = new HookOutput(outputLimit);
  const startTime = timestampFromMillis(clock());
  const identity = { runId, hookRunId, hookId: description.id, actionName };
  let reason = journal?.begun.has(hookRunId) === true ? stoppedReason : undefined;
  if (reason === undefined) {
    const decided = decide(description.condition, hasFailed);
    if (decided === false) {
      const skipped: Task = { ...identity, startTime: never, endTime: never, passed: false };
      await journal?.end(skipped);
      observe(options, task, 'skipped', 0);
      return { task: skipped };
    }
    if (decided !== true) reason = decided.reason;
  }
  if (reason === undefined) {
    // Whoever may not note this must not run it.
    await journal?.begin({ hookRunId, hookId: description.id, actionName, startTime });
    const live = liveLog(output, hookRunId, options);
    reason = await runHook(task, output, options);
    await live.stop();
  }
  if (reason !== undefined) output.end(reason);
  const endTime = timestampFromMillis(clock());
  await options.writeLog(hookRunId, output.bytes());
  const passed = reason === undefined;
  const ended: Task = { ...identity, startTime, endTime, passed };
  await journal?.end(ended);
  const seconds = endTime.seconds - startTime.seconds + (endTime.nanos - startTime.nanos) / 1e9;
  observe(options, task, passed ? 'completed' : 'failed', Math.max(0, seconds));
  return reason === undefined ? { task: ended } : { task: ended, error: messageOf(task, reason) };
}

/** Writes the log of a hook now and then while it runs. */
function liveLog(
  output: HookOutput,
  hookRunId: string,
  { liveLogMs, writeLog }: RunOptions,
): { stop(): Promise<void> } {
  if (liveLogMs === undefined) return { stop: () => Promise.resolve() };
  let written = 0;
  let writing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (writing !== undefined || output.size === written) return;
    written = output.size;
    // The whole log is written in the end; who cannot write it then says so.
    writing = writeLog(hookRunId, output.bytes())
      .catch(() => undefined)
      .finally(() => (writing = undefined));
  }, liveLogMs);
  return {
    async stop() {
      clearInterval(timer);
      await writing;
    },
  };
}

const stoppedReason = 'action failed: the server stopped while the hook ran';

/** Whether a hook is to run, or why that cannot be said. */
function decide(condition: string, hasFailed: boolean): boolean | { readonly reason: string } {
  try {
    return evaluateCondition(condition, hasFailed);
  } catch (error) {
    return { reason: reasonOf(error) };
  }
}

/** Why a hook failed, or undefined when it passed. */
async function runHook(
  { hook, actionName, description }: PlannedTask,
  output: HookOutput,
  { event, runId, signal, isAwaited, depth }: RunOptions,
): Promise<string | undefined> {
  try {
    await hook.run({ event, runId, actionName, hookId: description.id, output, signal, isAwaited, depth });
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}

function observe(
  { observer, event }: RunOptions,
  { actionName, description }: PlannedTask,
  status: TaskStatus,
  seconds: number,
): void {
  observer?.hookEnded({ event: event.type, action: actionName, type: description.type, status, seconds });
}

function reasonOf(error: unknown): string {
  if (error instanceof ConditionError) return error.message;
  return `action failed: ${error instanceof Error ? error.message : String(error)}`;
}

function messageOf(task: PlannedTask, reason: string): string {
  return `hook run id '${task.hookRunId}' failed on action '${task.actionName}' hook '${task.description.id}': ${reason}`;
}

function runOf({ event, runId, clock }: RunOptions, tasks: readonly Task[], passed: boolean): Run {
  const executed = tasks.filter((task) => task.startTime.seconds !== never.seconds);
  const now = timestampFromMillis(clock());
  const earliest = (times: readonly Timestamp[]) => times.toSorted(compare)[0] ?? now;
  return {
    runId,
    branchId: event.branch ?? '',
    sourceRef: event.sourceRef,
    eventType: event.type,
    // A run that failed is for no commit.
    commitId: event.commitId ?? (passed ? event.candidateId : undefined) ?? '',
    startTime: earliest(executed.map((task) => task.startTime)),
    endTime:
      executed
        .map((task) => task.endTime)
        .toSorted(compare)
        .at(-1) ?? now,
    passed,
  };
}

function compare(left: Timestamp, right: Timestamp): number {
  return left.seconds - right.seconds || left.nanos - right.nanos;
}
