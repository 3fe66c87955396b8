import { timestampFromMillis } from '@svc/encoding';
import type { TreeRecord } from '../committed/tree.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { within } from '../context/refusals.ts';
import { PageRecords } from '../dump/page-records.ts';
import { EngineError } from '../errors.ts';
import type { AcceptedImport } from '../face/imports.ts';
import type { Commit } from '../face/model.ts';
import { updateHead, type HeadUpdate } from '../heads/update-head.ts';
import { CandidateRun, planAfter } from '../hooks/run-hooks.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { changeRepositoryMetadata } from '../repositories/repository-metadata.ts';
import { makeCommit } from '../store/commit-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { scopeOf } from './import-sources.ts';
import { isFinished, readImport, replaceImport } from './import-store.ts';
import { sourceRecords } from './source-records.ts';

/** How often a running import shows that it is alive. */
const reportMs = 500;

/** Somebody else wrote how it ended. */
export class ImportCancelled extends Error {
  constructor() {
    super('the import was cancelled');
    this.name = 'ImportCancelled';
  }
}

export interface ImportJob {
  readonly scope: RepositoryScope;
  readonly accepted: AcceptedImport;
  readonly stop: AbortController;
}

/** Runs an import to its end and leaves the outcome in its record. */
export async function runImport(context: EngineContext, job: ImportJob): Promise<void> {
  const progress = new ImportProgress(context, job);
  try {
    const entered = { state: await context.gate.enter(job.scope) };
    const importedId = await ingest(context, job, progress).catch((error: unknown) => {
      throw job.stop.signal.aborted ? job.stop.signal.reason : within('error on ingest', error);
    });
    // It goes on reporting: hooks may take long, and an import that shows no life counts as lost.
    if (!(await beginCommit(context, job, importedId, progress.count))) {
      await progress.stop();
      return;
    }
    const commit = await commitImport(context, job, importedId, entered).catch((error: unknown) => {
      throw within('merge import', error);
    });
    await progress.stop();
    await finish(context, job, { completed: true, commit, metaRangeId: commit.metaRangeId });
    await noteImport(context, job.scope, commit);
  } catch (error) {
    await progress.stop();
    if (error instanceof ImportCancelled) return;
    context.logger.warn(
      { error, import: job.accepted.id, repository: job.scope.repository.id },
      'import failed',
    );
    const text = error instanceof Error ? error.message : String(error);
    await finish(context, job, { error: text, metaRangeId: '' });
  }
}

async function ingest(context: EngineContext, job: ImportJob, progress: ImportProgress): Promise<string> {
  const { scope, accepted, stop } = job;
  if (scope.repository.readOnly && accepted.force !== true) {
    throw new EngineError('read_only', 'write range: read-only repository', { subject: 'repository' });
  }
  const adapter = adapterOf(context, scope);
  async function* counted(): AsyncGenerator<readonly TreeRecord[]> {
    for await (const page of sourceRecords(
      adapter,
      scope.repository.storageNamespace,
      accepted.sources,
      stop.signal,
    )) {
      yield page;
      progress.count += page.length;
    }
  }
  progress.start();
  const { metaRangeId } = await context.trees.write(scope.committed, new PageRecords(counted()));
  return metaRangeId;
}

/** The step after which cancelling is refused; false when the import was cancelled before it. */
async function beginCommit(
  context: EngineContext,
  job: ImportJob,
  importedId: string,
  progress: number,
): Promise<boolean> {
  for (;;) {
    const stored = await readImport(context, job.scope, job.accepted.id);
    if (isFinished(stored.data)) return false;
    if (await replaceImport(context, job.scope, stored, { metaRangeId: importedId, progress })) return true;
  }
}

async function commitImport(
  context: EngineContext,
  job: ImportJob,
  importedId: string,
  entered: HeadUpdate['entered'],
): Promise<Commit> {
  const { scope, accepted } = job;
  const { branch, actor } = accepted;
  checkNotReadOnly(scope, accepted.force);
  const run = new CandidateRun(context, scope);
  const update: HeadUpdate = {
    scope,
    branch,
    operation: 'import',
    actor,
    entered,
    hooksAfter: (commit) =>
      planAfter(context, 'post-commit', run.eventOf(commit, { scope, actor, branch, sourceRef: branch })),
  };
  return run.during(() =>
    updateHead(context, update, async (head, turn) => {
      const parent = await context.commits.get(scope, head.data.commitId);
      const metaRangeId = await context.trees.mergeImport(
        scope.committed,
        parent.metaRangeId,
        importedId,
        scopeOf(accepted.sources),
      );
      const fields = {
        committer: actor.committer,
        message:
          accepted.message === undefined || accepted.message === '' ? 'Import objects' : accepted.message,
        creationDate: timestampFromMillis(context.clock()),
        metaRangeId,
        parents: [parent.id],
        metadata: { ...accepted.metadata, '.lakefs.merge.strategy': 'source-wins' },
        version: 1,
        generation: parent.generation + 1,
      };
      const shown = { metaRangeId: parent.metaRangeId, tokens: head.tokens };
      const event = { scope, actor, branch, sourceRef: branch, commit: fields, shown };
      const commit = makeCommit(fields);
      await turn.outside(() => run.about('pre-commit', commit, event));
      return commit;
    }),
  );
}

async function finish(
  context: EngineContext,
  job: ImportJob,
  outcome: { completed?: boolean; error?: string; commit?: Commit; metaRangeId: string },
): Promise<void> {
  for (;;) {
    const stored = await readImport(context, job.scope, job.accepted.id);
    if (isFinished(stored.data)) return;
    if (await replaceImport(context, job.scope, stored, outcome)) return;
  }
}

/** Tells tools when data last came in from outside; losing it costs nothing. */
async function noteImport(context: EngineContext, scope: RepositoryScope, commit: Commit): Promise<void> {
  try {
    await changeRepositoryMetadata(context, scope, (metadata) => {
      metadata['.lakefs.last.import.timestamp'] = String(commit.creationDate.seconds);
    });
  } catch (error) {
    context.logger.warn(
      { error, repository: scope.repository.id },
      'the time of the import was not recorded',
    );
  }
}

/** Shows in the record how far the import is, and notices there that somebody cancelled it. */
class ImportProgress {
  readonly #context: EngineContext;
  readonly #job: ImportJob;
  #timer: NodeJS.Timeout | undefined;
  #reporting: Promise<void> = Promise.resolve();
  count = 0;

  constructor(context: EngineContext, job: ImportJob) {
    this.#context = context;
    this.#job = job;
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#reporting = this.#reporting.then(() => this.#report());
    }, reportMs).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reporting;
  }

  async #report(): Promise<void> {
    const { scope, stop } = this.#job;
    const { id } = this.#job.accepted;
    try {
      const stored = await readImport(this.#context, scope, id);
      if (isFinished(stored.data)) stop.abort(new ImportCancelled());
      else await replaceImport(this.#context, scope, stored, { progress: this.count });
    } catch (error) {
      this.#context.logger.warn({ error, import: id }, 'import progress was not recorded');
    }
  }
}
