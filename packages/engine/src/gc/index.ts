import { gcPrepareStatusMessage } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { Gc, GcCommits } from '../face/gc.ts';
import type { Objects } from '../face/objects.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { TaskKind, TaskRunner } from '../tasks/task-runner.ts';
import { createSymlinks } from './create-symlinks.ts';
import { deleteGcRules, getGcRules, setGcRules } from './gc-rules.ts';
import { prepareGcCommits } from './prepare-commits.ts';
import { prepareGcUncommitted } from './prepare-uncommitted.ts';

const prepareTask: TaskKind<Omit<GcCommits, 'presigned'>> = {
  prefix: 'GCPC',
  operation: 'gc_prepare_commits',
  message: gcPrepareStatusMessage,
};

export function gc(context: EngineContext, taskRunner: TaskRunner, objects: Objects): Gc {
  const writable = async (repository: string): Promise<RepositoryScope> => {
    const scope = await context.repositories.open(repository);
    checkNotReadOnly(scope, false);
    return scope;
  };
  return {
    graceSeconds: context.settings.gc.graceMs / 1000,
    getRules: (repository) => getGcRules(context, repository),
    setRules: ({ repository, rules }) => setGcRules(context, repository, rules),
    deleteRules: (repository) => deleteGcRules(context, repository),
    prepareCommits: async (repository) => {
      const scope = await writable(repository);
      const prepared = await prepareGcCommits(context, scope);
      return { ...prepared, presigned: await presignList(context, scope, prepared.runId) };
    },
    submitPrepareCommits: async (repository) => {
      const scope = await writable(repository);
      return taskRunner.submit(scope, prepareTask, () => prepareGcCommits(context, scope));
    },
    prepareCommitsStatus: async ({ repository, taskId }) => {
      const scope = await context.repositories.open(repository);
      const { info, ...state } = await taskRunner.status(scope, prepareTask, taskId);
      return { ...state, result: info };
    },
    prepareUncommitted: async ({ repository, continuationToken }) =>
      prepareGcUncommitted(context, await writable(repository), continuationToken),
    createSymlinks: (options) => createSymlinks(context, objects, options),
  };
}

/** Absent where the store cannot presign. */
async function presignList(
  context: EngineContext,
  scope: RepositoryScope,
  runId: string,
): Promise<GcCommits['presigned']> {
  const adapter = adapterOf(context, scope);
  if (!adapter.info.preSignSupport) return undefined;
  const identifier = `${scope.committed.metadataPrefix}/retention/gc/commits/run_id=${runId}/commits.csv`;
  const { storageNamespace } = scope.repository;
  return adapter.presign({ storageNamespace, identifier, identifierType: 'relative' }, 'read');
}
