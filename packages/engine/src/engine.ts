import { bindings } from './bindings/index.ts';
import { branches } from './branches/index.ts';
import { commits } from './history/index.ts';
import { createContext } from './context/engine-context.ts';
import { dumps } from './dump/index.ts';
import type { Bindings } from './face/bindings.ts';
import type { Branches } from './face/branches.ts';
import type { Commits } from './face/commits.ts';
import type { Dumps } from './face/dumps.ts';
import type { Gc } from './face/gc.ts';
import type { GcRuns } from './face/gc-runs.ts';
import type { Imports } from './face/imports.ts';
import type { Job } from './face/jobs.ts';
import type { Merges } from './face/merges.ts';
import type { Metadata } from './face/metadata.ts';
import type { Objects } from './face/objects.ts';
import type { EngineOptions } from './face/options.ts';
import type { Outboxes } from './face/outboxes.ts';
import type { Protection } from './face/protection.ts';
import type { Pulls } from './face/pulls.ts';
import type { Reflog } from './face/reflog.ts';
import type { Refs } from './face/refs.ts';
import type { Repositories } from './face/repositories.ts';
import type { Tags } from './face/tags.ts';
import type { Tasks } from './face/tasks.ts';
import type { Uploads } from './face/uploads.ts';
import type { Usage } from './face/usage.ts';
import { gcRuns } from './gc/collector/index.ts';
import { gc } from './gc/index.ts';
import { ImportRunner } from './import/index.ts';
import { engineJobs } from './jobs.ts';
import { merges } from './merges/index.ts';
import { metadata } from './metadata/index.ts';
import { objects } from './objects/index.ts';
import { protection } from './protection/index.ts';
import { pulls } from './pulls/index.ts';
import { reflog } from './moves/index.ts';
import { outboxes } from './moves/outboxes.ts';
import { refs } from './refs/index.ts';
import { repositories } from './repositories/index.ts';
import { tags } from './tags/index.ts';
import { removeExpired } from './tasks/remove-expired.ts';
import { TaskRunner } from './tasks/task-runner.ts';
import { uploads } from './uploads/index.ts';
import { usage } from './usage/index.ts';

/** The versioning engine: one method per operation, grouped by what it is about. */
export interface Engine {
  readonly repositories: Repositories;
  readonly bindings: Bindings;
  readonly branches: Branches;
  readonly tags: Tags;
  readonly protection: Protection;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly commits: Commits;
  readonly refs: Refs;
  readonly reflog: Reflog;
  readonly outboxes: Outboxes;
  readonly merges: Merges;
  readonly pulls: Pulls;
  readonly imports: Imports;
  readonly dumps: Dumps;
  readonly gc: Gc;
  readonly gcRuns: GcRuns;
  readonly tasks: Tasks;
  readonly metadata: Metadata;
  readonly usage: Usage;
  /** What is to be done beside requests; whoever runs the engine runs these, in one process per server. */
  readonly jobs: readonly Job[];
  /** Ends background work and waits for it. Does not close the stores it was given. */
  close(): Promise<void>;
}

/** An engine over the given stores. Any number of them may share the stores. */
export function createEngine(options: EngineOptions): Engine {
  const context = createContext(options);
  const taskRunner = new TaskRunner(context);
  const imports = new ImportRunner(context);
  const objectOperations = objects(context);
  const mergeOperations = merges(context);
  const usageOperations = usage(context);
  return {
    repositories: repositories(context),
    bindings: bindings(context),
    branches: branches(context),
    tags: tags(context),
    protection: protection(context),
    objects: objectOperations,
    uploads: uploads(context),
    commits: commits(context),
    refs: refs(context),
    reflog: reflog(context),
    outboxes: outboxes(context),
    merges: mergeOperations,
    pulls: pulls(context, mergeOperations),
    imports: {
      start: (request) => imports.start(request),
      accept: (request) => imports.accept(request),
      run: (accepted) => imports.run(accepted),
      status: (request) => imports.status(request),
      cancel: (request) => imports.cancel(request),
    },
    dumps: dumps(context, taskRunner),
    gc: gc(context, taskRunner, objectOperations),
    gcRuns: gcRuns(context),
    tasks: { removeExpired: () => removeExpired(context) },
    metadata: metadata(context),
    usage: usageOperations,
    jobs: engineJobs(context),
    close: async () => {
      await imports.close();
      await taskRunner.close();
      await context.background.close();
      await usageOperations.flush();
      await context.hashPool.close();
      context.repositories.close();
      context.moves.close();
      context.protection.close();
      context.namespaces.close();
    },
  };
}
