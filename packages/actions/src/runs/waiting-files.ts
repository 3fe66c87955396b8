import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { EngineError, type Engine, type EngineLogger, type Repository } from '@svc/engine';
import { Lease, type HeldLease, type KvStore, type KvWrite } from '@svc/kv';
import type { RunContent, RunFiles, RunPlace } from './run-files.ts';
import type { Run, Task } from './run.ts';

const partition = Buffer.from('actions');
const prefix = 'files/';
/** Longer logs go to the namespace at once: a step of the key-value store holds 1 MiB. */
const mostBytes = 128 * 1024;
/** Runs whose files are written at the same time. */
const atOnce = 8;
/** So many that writing them must not take its time. */
const manyRuns = 300;
const leaseName = 'hooks/files';

type Place = RunPlace & Pick<Repository, 'id' | 'instanceUid'>;

interface Kept {
  readonly repository: Place;
  readonly run: Run;
  readonly tasks: readonly Task[];
  /** Base64. */
  readonly logs: Readonly<Record<string, string>>;
}

interface WaitingFilesOptions {
  readonly kv: KvStore;
  readonly files: RunFiles;
  readonly repositories: () => Pick<Engine['repositories'], 'get'>;
  readonly logger: EngineLogger;
}

/**
 * Files of runs on their way to the storage namespace. Nobody waits for them: what they will hold is kept with the
 * record of the run, in the same step, and read there until they are written.
 */
export class WaitingFiles {
  readonly #options: WaitingFilesOptions;
  #writing: Promise<void> | undefined;

  constructor(options: WaitingFilesOptions) {
    this.#options = options;
  }

  /** The write that keeps the files of a run; undefined when they are too large for that. */
  plan(repository: Repository, { run, tasks, logs }: RunContent): KvWrite | undefined {
    let bytes = 0;
    for (const log of logs.values()) bytes += log.length;
    if (bytes > mostBytes) return undefined;
    const { id, instanceUid, storageId, storageNamespace, metadataPrefix } = repository;
    const kept: Kept = {
      repository: { id, instanceUid, storageId, storageNamespace, metadataPrefix },
      run,
      tasks,
      logs: Object.fromEntries([...logs].map(([name, log]) => [name, log.toString('base64')])),
    };
    const value = Buffer.from(JSON.stringify(kept));
    return { type: 'put', key: keyOf(repository, run.runId), value };
  }

  /** What a run's files will hold; undefined when they are written. */
  async find(repository: Repository, runId: string): Promise<RunContent | undefined> {
    const found = await this.#options.kv.get(partition, keyOf(repository, runId));
    return found === undefined ? undefined : contentOf(keptOf(found.value));
  }

  /** Writes the files of all runs that wait; of several servers one does. */
  writeAll(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const { kv } = this.#options;
    const lease = new Lease(kv, { name: leaseName, owner: `${hostname()}:${process.pid}` });
    let held: HeldLease | undefined;
    try {
      for await (const page of kv.scan(partition, { prefix: Buffer.from(prefix) })) {
        if (held === undefined) held = await lease.acquire();
        else if (!(await held.renew())) return;
        if (held === undefined) return;
        for (let from = 0; from < page.length; from += atOnce) {
          const began = performance.now();
          await Promise.all(page.slice(from, from + atOnce).map(({ key }) => this.#write(key)));
          // Requests have the disk half of the time, unless too many files wait.
          if (page.length < manyRuns) await delay(performance.now() - began);
        }
      }
    } finally {
      await held?.release().catch(() => undefined);
    }
  }

  async #write(key: Buffer): Promise<void> {
    const { kv, files, logger } = this.#options;
    try {
      for (;;) {
        const found = await kv.get(partition, key);
        if (found === undefined) return;
        const { repository, ...kept } = keptOf(found.value);
        if (await this.#isCurrent(repository)) await files.writeAll(repository, contentOf(kept));
        // A run that was changed meanwhile has another manifest.
        if (await kv.deleteIf(partition, key, found.predicate)) return;
      }
    } catch (error) {
      logger.warn(
        { error, key: key.toString() },
        'the files of a run of hooks could not be written; trying again later',
      );
    }
  }

  /** The files of a repository that was deleted are nobody's. */
  #isCurrent(repository: Place): Promise<boolean> {
    return isCurrent(this.#options.repositories(), repository);
  }
}

/** Whether a repository is there and the same, not one made anew under its name. */
export async function isCurrent(
  repositories: Pick<Engine['repositories'], 'get'>,
  { id, instanceUid }: Pick<Repository, 'id' | 'instanceUid'>,
): Promise<boolean> {
  try {
    return (await repositories.get(id)).instanceUid === instanceUid;
  } catch (error) {
    if (error instanceof EngineError && (error.kind === 'not_found' || error.kind === 'in_deletion'))
      return false;
    throw error;
  }
}

function keyOf({ id, instanceUid }: Pick<Repository, 'id' | 'instanceUid'>, runId: string): Buffer {
  return Buffer.from(`${prefix}${id}-${instanceUid}/${runId}`);
}

function keptOf(value: Buffer): Kept {
  return JSON.parse(value.toString()) as Kept;
}

function contentOf({ run, tasks, logs }: Omit<Kept, 'repository'>): RunContent {
  const entries = Object.entries(logs).map(([name, log]) => [name, Buffer.from(log, 'base64')] as const);
  return { run, tasks, logs: new Map(entries) };
}
