import { setTimeout as delay } from 'node:timers/promises';
import type { ImportStatusData } from '@svc/encoding';
import { refuseOwnKeys } from '../merges/own-metadata.ts';
import { checkCommitSize } from '../history/commit-limits.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { AcceptedImport, Imports, ImportStatus, StartImportOptions } from '../face/imports.ts';
import { usingForeign } from '../gc/brought-data.ts';
import { checkBranchName } from '../names/names.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { checkSources } from './import-sources.ts';
import {
  createImport,
  isAbandoned,
  isCommitting,
  isFinished,
  readImport,
  replaceImport,
  takeImport,
} from './import-store.ts';
import { ImportCancelled, runImport } from './run-import.ts';

const cancelled = 'Canceled';
const lost = 'Import owner instance no longer available. Please retry.';
const stopped = 'the server was stopped: please start the import again';
/** How often a cancellation looks whether the commit under way has ended. */
const cancelPollMs = 50;

/** Imports of this process, so that closing the engine and cancelling stop them at once. */
export class ImportRunner implements Imports {
  readonly #context: EngineContext;
  readonly #running = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  async start(options: StartImportOptions): Promise<string> {
    const { scope, accepted } = await this.#accept(options);
    this.#begin(scope, accepted);
    return accepted.id;
  }

  async accept(options: StartImportOptions): Promise<AcceptedImport> {
    return (await this.#accept(options)).accepted;
  }

  async run(accepted: AcceptedImport): Promise<boolean> {
    const scope = await this.#context.repositories.open(accepted.repository);
    if (!(await takeImport(this.#context, scope, accepted))) return false;
    this.#begin(scope, accepted);
    return true;
  }

  async #accept(
    options: StartImportOptions,
  ): Promise<{ readonly scope: RepositoryScope; readonly accepted: AcceptedImport }> {
    const context = this.#context;
    checkBranchName(options.branch);
    if (options.paths.length === 0) throw invalid('import without paths: invalid import source', 'import');
    refuseOwnKeys(options.metadata);
    checkCommitSize(options.message ?? '', options.metadata ?? {});
    const scope = await context.repositories.open(options.repository);
    await context.branches.get(scope, options.branch);
    const sources = await checkSources(context, scope, options);
    for (const { foreign } of sources) {
      if (foreign !== undefined) await usingForeign(context, scope, foreign);
    }
    const id = context.xids.next();
    const acceptedAt = await createImport(context, scope, id);
    const { repository, branch, force, message, metadata, actor } = options;
    const accepted = { id, acceptedAt, repository, branch, force, message, metadata, actor, sources };
    return { scope, accepted };
  }

  #begin(scope: RepositoryScope, accepted: AcceptedImport): void {
    const context = this.#context;
    const { id } = accepted;
    const stop = new AbortController();
    const done = runImport(context, { scope, accepted, stop })
      .catch((error: unknown) => {
        context.logger.error({ error, import: id }, 'the outcome of an import could not be recorded');
      })
      .finally(() => this.#running.delete(id));
    this.#running.set(id, { stop, done });
  }

  async status({
    repository,
    id,
  }: {
    readonly repository: string;
    readonly id: string;
  }): Promise<ImportStatus> {
    const context = this.#context;
    const scope = await context.repositories.open(repository);
    const { data } = await readImport(context, scope, id);
    return toStatus(data, isAbandoned(context, data) ? lost : undefined);
  }

  /** Ordered with the commit: after this returns, none appears. A commit under way is waited for. */
  async cancel({ repository, id }: { readonly repository: string; readonly id: string }): Promise<void> {
    const context = this.#context;
    const scope = await context.repositories.open(repository);
    for (;;) {
      const stored = await readImport(context, scope, id);
      if (stored.data.completed)
        throw new EngineError('conflict', 'import already completed', { subject: 'import' });
      if (isFinished(stored.data)) return;
      if (isCommitting(stored.data) && !isAbandoned(context, stored.data)) {
        await delay(cancelPollMs);
        continue;
      }
      if (!(await replaceImport(context, scope, stored, { error: cancelled, metaRangeId: '' }))) continue;
      this.#running.get(id)?.stop.abort(new ImportCancelled());
      return;
    }
  }

  /** Ends what still reads its source, and waits for what commits. */
  async close(): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort(new Error(stopped));
    await Promise.all([...this.#running.values()].map((running) => running.done));
  }
}

function toStatus(data: ImportStatusData, failure: string | undefined): ImportStatus {
  return {
    id: data.id,
    completed: data.completed,
    updateTime: data.updatedAt,
    ingestedObjects: data.progress,
    metaRangeId: data.completed ? data.metaRangeId : undefined,
    commit: data.completed ? data.commit : undefined,
    error: data.error === '' ? failure : data.error,
  };
}
