import { runResultMessage, secondaryIndexMessage, taskResultMessage } from '@svc/encoding';
import { scanSecondary, type KvStore, type KvWrite } from '@svc/kv';
import type { KeptEvent } from './kept-event.ts';
import type { Run, Task } from './run.ts';

const partition = Buffer.from('actions');
const defaultAmount = 100;
const maxAmount = 1000;
/** Records written in one step. */
const atOnce = 90;

export interface RunPageRequest {
  readonly repository: string;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
  readonly event?: string | undefined;
  readonly passed?: boolean | undefined;
  /** A run id, exclusive. */
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
}

export interface TaskPageRequest {
  readonly repository: string;
  readonly runId: string;
  /** A hook run id, exclusive. */
  readonly after?: string | undefined;
  readonly amount?: number | undefined;
}

export interface RunPage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/** What is written with the records of a run. */
interface MoreOfRun {
  readonly event?: KeptEvent | undefined;
  /** Keeps its files until they are written. */
  readonly files?: KvWrite | undefined;
}

/** The records of runs. They are deleted with their repository. */
export class RunStore {
  readonly #kv: KvStore;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  /** The run itself comes last: whoever finds it finds its tasks. */
  async add(repository: string, run: Run, tasks: readonly Task[], more: MoreOfRun = {}): Promise<void> {
    const { event, files } = more;
    const key = runKey(repository, run.runId);
    const writes: KvWrite[] = tasks.map((task) => ({
      type: 'create',
      key: Buffer.from(`${taskPrefix(repository, run.runId)}${task.hookRunId}`),
      value: taskResultMessage.encode(task),
    }));
    const pointer = secondaryIndexMessage.encode({ primaryKey: key });
    if (run.branchId !== '')
      writes.push({
        type: 'put',
        key: indexKey(repository, 'branches', run.branchId, run.runId),
        value: pointer,
      });
    if (run.commitId !== '')
      writes.push({
        type: 'put',
        key: indexKey(repository, 'commits', run.commitId, run.runId),
        value: pointer,
      });
    if (event !== undefined)
      writes.push({
        type: 'put',
        key: eventKey(repository, run.runId),
        value: Buffer.from(JSON.stringify(event)),
      });
    if (files !== undefined) writes.push(files);
    writes.push({ type: 'put', key, value: encodeRun(run) });
    for (let from = 0; from < writes.length; from += atOnce)
      await this.#kv.change(partition, { key, condition: 'any' }, writes.slice(from, from + atOnce));
  }

  /** Notes that no commit came of a run's operation, together with what follows from it. */
  async withoutCommit(
    repository: string,
    runId: string,
    also: (changed: Run) => Promise<KvWrite | undefined>,
  ): Promise<void> {
    const key = runKey(repository, runId);
    for (;;) {
      const found = await this.#kv.get(partition, key);
      if (found === undefined) return;
      const run = runOf(found.value);
      if (run.commitId === '') return;
      const changed = { ...run, commitId: '' };
      const follows = await also(changed);
      const isDone = await this.#kv.change(partition, { key, condition: found.predicate }, [
        { type: 'put', key, value: encodeRun(changed) },
        { type: 'delete', key: indexKey(repository, 'commits', run.commitId, runId) },
        ...(follows === undefined ? [] : [follows]),
      ]);
      if (isDone) return;
    }
  }

  async get(repository: string, runId: string): Promise<Run | undefined> {
    const found = await this.#kv.get(partition, runKey(repository, runId));
    return found === undefined ? undefined : runOf(found.value);
  }

  /** What a run was about; undefined for one before an event. */
  async getEvent(repository: string, runId: string): Promise<KeptEvent | undefined> {
    const found = await this.#kv.get(partition, eventKey(repository, runId));
    return found === undefined ? undefined : (JSON.parse(found.value.toString()) as KeptEvent);
  }

  async getTask(repository: string, runId: string, hookRunId: string): Promise<Task | undefined> {
    const key = Buffer.from(`${taskPrefix(repository, runId)}${hookRunId}`);
    const found = await this.#kv.get(partition, key);
    return found === undefined ? undefined : taskResultMessage.decode(found.value);
  }

  /** Newest first. */
  list(request: RunPageRequest): Promise<RunPage<Run>> {
    const { repository, branch, commit, event, passed } = request;
    const prefix =
      branch !== undefined
        ? `repos/${repository}/branches/${branch}/`
        : commit !== undefined
          ? `repos/${repository}/commits/${commit}/`
          : `repos/${repository}/runs/`;
    const isIndex = branch !== undefined || commit !== undefined;
    const isWanted = (run: Run): boolean =>
      (event === undefined || run.eventType === event) && (passed === undefined || run.passed === passed);
    return this.#page(prefix, request, isIndex, runOf, isWanted);
  }

  listTasks(request: TaskPageRequest): Promise<RunPage<Task>> {
    const prefix = taskPrefix(request.repository, request.runId);
    return this.#page(prefix, request, false, (value) => taskResultMessage.decode(value));
  }

  async #page<Item>(
    prefixText: string,
    request: { readonly after?: string | undefined; readonly amount?: number | undefined },
    isIndex: boolean,
    decode: (value: Buffer) => Item,
    isWanted: (item: Item) => boolean = () => true,
  ): Promise<RunPage<Item>> {
    const wanted = request.amount === undefined || request.amount <= 0 ? defaultAmount : request.amount;
    const amount = Math.min(wanted, maxAmount);
    const prefix = Buffer.from(prefixText);
    const after = request.after ? Buffer.from(`${prefixText}${request.after}`) : undefined;
    const options = { prefix, after, batch: amount + 1 };
    const items: Item[] = [];
    const pages: AsyncIterable<readonly { readonly value: Buffer; readonly key: Buffer }[]> = isIndex
      ? this.#pointed(options)
      : this.#kv.scan(partition, options);
    for await (const page of pages) {
      for (const { key, value } of page) {
        // Names may hold slashes: `a/` is also the beginning of the runs of branch `a/b`.
        if (key.indexOf(0x2f, prefix.length) !== -1) continue;
        const item = decode(value);
        if (!isWanted(item)) continue;
        if (items.length === amount) return { items, hasMore: true };
        items.push(item);
      }
    }
    return { items, hasMore: false };
  }

  async *#pointed(options: { prefix: Buffer; after: Buffer | undefined; batch: number }) {
    const index = {
      partition,
      primaryPartition: partition,
      primaryKey: (value: Buffer) => secondaryIndexMessage.decode(value).primaryKey,
    };
    for await (const page of scanSecondary(this.#kv, index, options)) {
      yield page.map(({ indexKey: key, value }) => ({ key, value }));
    }
  }
}

function runKey(repository: string, runId: string): Buffer {
  return Buffer.from(`repos/${repository}/runs/${runId}`);
}

function eventKey(repository: string, runId: string): Buffer {
  return Buffer.from(`repos/${repository}/events/${runId}`);
}

function indexKey(repository: string, index: 'branches' | 'commits', name: string, runId: string): Buffer {
  return Buffer.from(`repos/${repository}/${index}/${name}/${runId}`);
}

function taskPrefix(repository: string, runId: string): string {
  return `repos/${repository}/tasks/${runId}/`;
}

function encodeRun(run: Run): Buffer {
  return runResultMessage.encode(run);
}

function runOf(value: Buffer): Run {
  return runResultMessage.decode(value);
}
