import {
  instanceHeartbeatMessage,
  isTaskId,
  nanoId,
  timestampFromMillis,
  timestampToMillis,
  type Message,
  type NewEvent,
  type Task,
} from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound } from '../context/refusals.ts';
import type { TaskState } from '../face/tasks.ts';
import { catalogPartition } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

const heartbeatMs = 5000;
/** An owner silent for longer is gone, and its tasks with it. */
const ownerLostMs = 30_000;
/** A server that stops waits so long for its tasks. */
const graceMs = 20_000;

/** A kind of asynchronous operation: how its ids start and what its record holds besides the task. */
export interface TaskKind<Info> {
  readonly prefix: string;
  readonly operation: string;
  readonly message: Message<{ readonly task: Task | undefined; readonly info: Info | undefined }>;
}

export interface TaskReport<Info> extends TaskState {
  readonly info: Info | undefined;
}

/** Runs asynchronous operations of this process and answers for those of any process. */
export class TaskRunner {
  readonly #context: EngineContext;
  readonly #instanceId: string;
  readonly #running = new Set<Promise<void>>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(context: EngineContext) {
    this.#context = context;
    this.#instanceId = context.xids.next();
  }

  /** Starts the work and returns the task's id at once. */
  async submit<Info>(
    scope: RepositoryScope,
    kind: TaskKind<Info>,
    work: () => Promise<Info>,
  ): Promise<string> {
    const id = kind.prefix + nanoId();
    const task: Task = {
      id,
      done: false,
      updatedAt: this.#now(),
      progress: 0,
      errorMessage: '',
      statusCode: 0,
      operation: kind.operation,
      ownerInstanceId: this.#instanceId,
    };
    await this.#beat();
    await this.#save(scope, kind, { task, info: undefined });
    const running = this.#run(scope, kind, task, work).finally(() => {
      this.#running.delete(running);
      if (this.#running.size === 0) this.#stopBeating();
    });
    this.#running.add(running);
    this.#heartbeat ??= setInterval(() => {
      this.#beat().catch((error: unknown) => {
        this.#context.logger.warn({ error }, 'task heartbeat failed');
      });
    }, heartbeatMs).unref();
    return id;
  }

  async status<Info>(scope: RepositoryScope, kind: TaskKind<Info>, id: string): Promise<TaskReport<Info>> {
    if (!isTaskId(id, kind.prefix)) throw notFound('task');
    const found = await this.#context.kv.get(scope.partition, taskKey(id));
    const status = found === undefined ? undefined : kind.message.decode(found.value);
    if (status?.task === undefined) throw notFound('task');
    const { task } = status;
    const report = {
      id,
      done: task.done,
      updateTime: task.updatedAt,
      progress: task.progress,
      error: task.errorMessage === '' ? undefined : task.errorMessage,
      info: status.info,
    };
    if (task.done) return report;
    const beat = await findHeartbeat(this.#context, task.ownerInstanceId);
    if (beat === undefined || this.#context.clock() - timestampToMillis(beat) > ownerLostMs) {
      return { ...report, done: true, error: 'Task owner instance no longer available. Please retry.' };
    }
    const isNewer = timestampToMillis(beat) > timestampToMillis(task.updatedAt);
    return isNewer ? { ...report, updateTime: beat } : report;
  }

  /** Waits for what runs here, but not for ever. What is left ends with the process, and so does the owner's heartbeat. */
  async close(): Promise<void> {
    const { promise: graceIsOver, resolve } = Promise.withResolvers<void>();
    const grace = setTimeout(resolve, graceMs);
    await Promise.race([Promise.all(this.#running), graceIsOver]);
    clearTimeout(grace);
    this.#stopBeating();
  }

  async #run<Info>(
    scope: RepositoryScope,
    kind: TaskKind<Info>,
    task: Task,
    work: () => Promise<Info>,
  ): Promise<void> {
    const { logger, taskObserver } = this.#context;
    taskObserver?.started(kind.operation);
    const started = performance.now();
    let outcome: { readonly task: Task; readonly info: Info | undefined };
    try {
      outcome = { task: { ...task, done: true, statusCode: 200 }, info: await work() };
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error);
      logger.warn({ error, task: task.id, operation: kind.operation }, 'task failed');
      outcome = { task: { ...task, done: true, statusCode: 500, errorMessage }, info: undefined };
    }
    const ending = outcome.task.statusCode === 200 ? 'success' : 'failure';
    taskObserver?.ended(kind.operation, ending, (performance.now() - started) / 1000);
    try {
      await this.#end(scope, kind, { ...outcome, task: { ...outcome.task, updatedAt: this.#now() } });
    } catch (error) {
      // The owner's heartbeat ends with the process, so a reader learns of the loss.
      logger.error({ error, task: task.id }, 'the end of a task could not be recorded');
    }
  }

  async #end<Info>(
    scope: RepositoryScope,
    kind: TaskKind<Info>,
    status: { readonly task: Task; readonly info: Info | undefined },
  ): Promise<void> {
    const { kv, told } = this.#context;
    const { id, errorMessage } = status.task;
    const key = taskKey(id);
    const event = taskEvent(id, { operation: kind.operation, error: errorMessage });
    await kv.change(scope.partition, { key, condition: 'any' }, [
      { type: 'put', key, value: kind.message.encode(status) },
      told(event),
    ]);
  }

  #save<Info>(
    scope: RepositoryScope,
    kind: TaskKind<Info>,
    status: { readonly task: Task; readonly info: Info | undefined },
  ): Promise<void> {
    return this.#context.kv.set(scope.partition, taskKey(status.task.id), kind.message.encode(status));
  }

  async #beat(): Promise<void> {
    const value = instanceHeartbeatMessage.encode({ updatedAt: this.#now() });
    await this.#context.kv.set(catalogPartition, instanceKey(this.#instanceId), value);
  }

  #stopBeating(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  #now(): Task['updatedAt'] {
    return timestampFromMillis(this.#context.clock());
  }
}

/** What is told of an asynchronous operation that is over. */
export function taskEvent(
  id: string,
  task: { operation: string; error: string; user?: string; commitId?: string | undefined },
): NewEvent {
  return {
    type: 'svc.task.finished',
    subject: `task/${id}`,
    user: task.user ?? '',
    data: {
      operation: task.operation,
      ok: task.error === '',
      ...(task.error !== '' && { error: task.error }),
      ...(task.commitId !== undefined && { commit_id: task.commitId }),
    },
  };
}

/** When a process that has tasks last showed that it lives. */
export async function findHeartbeat(
  context: EngineContext,
  instanceId: string,
): Promise<Task['updatedAt'] | undefined> {
  if (instanceId === '') return undefined;
  const found = await context.kv.get(catalogPartition, instanceKey(instanceId));
  return found === undefined ? undefined : instanceHeartbeatMessage.decode(found.value).updatedAt;
}

export const tasksPrefix: Buffer = Buffer.from('tasks/');

function taskKey(id: string): Buffer {
  return Buffer.from(`tasks/${id}`);
}

function instanceKey(id: string): Buffer {
  return Buffer.from(`instances/${id}`);
}
