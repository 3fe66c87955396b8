import { runResultMessage, secondaryIndexMessage, taskResultMessage } from '@svc/encoding';
import { scanSecondary, type KvStore } from '@svc/kv';
import type { Run, Task } from './run.ts';

const partition = Buffer.from('actions');
const defaultAmount = 100;
const maxAmount = 1000;

export interface RunPageRequest {
  readonly repository: string;
  readonly branch?: string | undefined;
  readonly commit?: string | undefined;
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

/** The records of runs. They are deleted with their repository. */
export class RunStore {
  readonly #kv: KvStore;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  /** The run itself comes last: whoever finds it finds its tasks. */
  async add(repository: string, run: Run, tasks: readonly Task[]): Promise<void> {
    const writes: Promise<unknown>[] = tasks.map((task) => {
      const key = Buffer.from(`${taskPrefix(repository, run.runId)}${task.hookRunId}`);
      return this.#kv.setIf(partition, key, taskResultMessage.encode(task), 'absent');
    });
    if (run.branchId !== '') writes.push(this.#point(repository, 'branches', run.branchId, run.runId));
    if (run.commitId !== '') writes.push(this.#point(repository, 'commits', run.commitId, run.runId));
    await Promise.all(writes);
    // Last: whoever sees the run sees all of it.
    await this.#kv.set(partition, runKey(repository, run.runId), encodeRun(run));
  }

  /** Notes the commit that came of a run's operation. The changed run, or undefined when there is none. */
  async setCommit(repository: string, runId: string, commitId: string): Promise<Run | undefined> {
    const key = runKey(repository, runId);
    for (;;) {
      const found = await this.#kv.get(partition, key);
      if (found === undefined) return undefined;
      const run = { ...runOf(found.value), commitId };
      await this.#point(repository, 'commits', commitId, runId);
      if (await this.#kv.setIf(partition, key, encodeRun(run), found.predicate)) return run;
    }
  }

  async get(repository: string, runId: string): Promise<Run | undefined> {
    const found = await this.#kv.get(partition, runKey(repository, runId));
    return found === undefined ? undefined : runOf(found.value);
  }

  async getTask(repository: string, runId: string, hookRunId: string): Promise<Task | undefined> {
    const key = Buffer.from(`${taskPrefix(repository, runId)}${hookRunId}`);
    const found = await this.#kv.get(partition, key);
    return found === undefined ? undefined : taskResultMessage.decode(found.value);
  }

  /** Newest first. */
  list(request: RunPageRequest): Promise<RunPage<Run>> {
    const { repository, branch, commit } = request;
    const prefix =
      branch !== undefined
        ? `repos/${repository}/branches/${branch}/`
        : commit !== undefined
          ? `repos/${repository}/commits/${commit}/`
          : `repos/${repository}/runs/`;
    const isIndex = branch !== undefined || commit !== undefined;
    return this.#page(prefix, request, isIndex, runOf);
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
        if (items.length === amount) return { items, hasMore: true };
        items.push(decode(value));
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
      yield page.map(({ indexKey, value }) => ({ key: indexKey, value }));
    }
  }

  #point(repository: string, index: 'branches' | 'commits', name: string, runId: string): Promise<void> {
    const key = Buffer.from(`repos/${repository}/${index}/${name}/${runId}`);
    return this.#kv.set(
      partition,
      key,
      secondaryIndexMessage.encode({ primaryKey: runKey(repository, runId) }),
    );
  }
}

function runKey(repository: string, runId: string): Buffer {
  return Buffer.from(`repos/${repository}/runs/${runId}`);
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
