import { timestampFromMillis, type Timestamp } from '@svc/encoding';
import type { HookEvent } from '@svc/engine';
import { never, type Run, type Task } from '../runs/run.ts';
import { ConditionError, evaluateCondition } from './condition.ts';
import { HookFailure } from './errors.ts';
import { HookOutput } from './hook-output.ts';
import type { Plan, PlannedTask } from './plan.ts';

/** Output kept of one hook. */
const outputLimit = 10 * 1024 ** 2;

export type TaskStatus = 'completed' | 'failed' | 'skipped';

/** Told of every hook that ended. */
export interface HookObserver {
  hookEnded(hook: {
    readonly event: string;
    readonly type: string;
    readonly status: TaskStatus;
    readonly seconds: number;
  }): void;
}

/** What is known of a run that another process began, and where its progress is noted. */
export interface Journal {
  readonly begun: ReadonlySet<string>;
  readonly ended: ReadonlyMap<string, Task>;
  begin(hookRunId: string): Promise<void>;
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
  const { event, runId, clock, journal } = options;
  const { hookRunId, actionName, description } = task;
  const output = new HookOutput(outputLimit);
  const startTime = timestampFromMillis(clock());
  const identity = { runId, hookRunId, hookId: description.id, actionName };
  let reason: string | undefined;
  try {
    if (journal?.begun.has(hookRunId) === true)
      throw new HookFailure('the server stopped while the hook ran');
    if (!evaluateCondition(description.condition, hasFailed)) {
      const skipped: Task = { ...identity, startTime: never, endTime: never, passed: false };
      await journal?.end(skipped);
      options.observer?.hookEnded({
        event: event.type,
        type: description.type,
        status: 'skipped',
        seconds: 0,
      });
      return { task: skipped };
    }
    await journal?.begin(hookRunId);
    await task.hook.run({
      event,
      runId,
      actionName,
      hookId: description.id,
      output,
      signal: options.signal,
      isAwaited: options.isAwaited,
      depth: options.depth,
    });
  } catch (error) {
    reason = reasonOf(error);
    output.end(reason);
  }
  const endTime = timestampFromMillis(clock());
  await options.writeLog(hookRunId, output.bytes());
  const passed = reason === undefined;
  const ended: Task = { ...identity, startTime, endTime, passed };
  await journal?.end(ended);
  options.observer?.hookEnded({
    event: event.type,
    type: description.type,
    status: passed ? 'completed' : 'failed',
    seconds: Math.max(0, endTime.seconds - startTime.seconds + (endTime.nanos - startTime.nanos) / 1e9),
  });
  return reason === undefined ? { task: ended } : { task: ended, error: messageOf(task, reason) };
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
