import { BlockError, type BlockStores, type ObjectBody, type ObjectPointer } from '@svc/block';
import type { Repository } from '@svc/engine';
import { timeText, type Run, type Task } from './run.ts';

/** Whose namespace it is. */
export type RunPlace = Pick<Repository, 'storageId' | 'storageNamespace' | 'metadataPrefix'>;

/** A run and what its files hold. */
export interface RunContent {
  readonly run: Run;
  readonly tasks: readonly Task[];
  readonly logs: ReadonlyMap<string, Buffer>;
}

/** Logs and manifests of runs in the repository's storage namespace; no branch ever holds them. */
export class RunFiles {
  readonly #stores: BlockStores;

  constructor(stores: BlockStores) {
    this.#stores = stores;
  }

  async writeLog(repository: RunPlace, runId: string, hookRunId: string, log: Buffer): Promise<void> {
    await this.#adapter(repository).put(pointerTo(repository, runId, `${hookRunId}.log`), log);
  }

  /** Undefined when the file is gone. */
  async readLog(repository: RunPlace, runId: string, hookRunId: string): Promise<ObjectBody | undefined> {
    try {
      return await this.#adapter(repository).get(pointerTo(repository, runId, `${hookRunId}.log`));
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return undefined;
      throw error;
    }
  }

  async writeManifest(repository: RunPlace, run: Run, tasks: readonly Task[]): Promise<void> {
    await this.#adapter(repository).put(manifestOf(repository, run), manifestBytes(run, tasks));
  }

  /** All files of a run. Whoever writes them again writes the same logs. */
  async writeAll(repository: RunPlace, { run, tasks, logs }: RunContent): Promise<void> {
    const adapter = this.#adapter(repository);
    await Promise.all([
      ...[...logs].map(([hookRunId, log]) =>
        adapter.put(pointerTo(repository, run.runId, `${hookRunId}.log`), log, { immutable: true }),
      ),
      this.writeManifest(repository, run, tasks),
    ]);
  }

  #adapter(repository: RunPlace) {
    return this.#stores.get(repository.storageId);
  }
}

function pointerTo(repository: RunPlace, runId: string, name: string): ObjectPointer {
  return {
    storageNamespace: repository.storageNamespace,
    identifier: `${repository.metadataPrefix}/actions/log/${runId}/${name}`,
    identifierType: 'relative',
  };
}

function manifestOf(repository: RunPlace, { runId }: Run): ObjectPointer {
  return pointerTo(repository, runId, 'run.manifest');
}

function manifestBytes(run: Run, tasks: readonly Task[]): Buffer {
  return Buffer.from(JSON.stringify({ run: runView(run), hooks: tasks.map(taskView) }));
}

function runView(run: Run): object {
  return {
    run_id: run.runId,
    branch_id: run.branchId,
    source_ref: run.sourceRef,
    event_type: run.eventType,
    ...(run.commitId === '' ? {} : { commit_id: run.commitId }),
    start_time: timeText(run.startTime),
    end_time: timeText(run.endTime),
    passed: run.passed,
    ...(run.rerunOf === undefined ? {} : { rerun_of: run.rerunOf }),
  };
}

function taskView(task: Task): object {
  return {
    run_id: task.runId,
    hook_run_id: task.hookRunId,
    hook_id: task.hookId,
    action_name: task.actionName,
    start_time: timeText(task.startTime),
    end_time: timeText(task.endTime),
    passed: task.passed,
  };
}
