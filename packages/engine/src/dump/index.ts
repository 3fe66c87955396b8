import { dumpStatusMessage, restoreStatusMessage, type Message, type Task } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import type { Dumps, RefsManifest } from '../face/dumps.ts';
import { holdingCollection } from '../gc/gc-state.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import type { TaskKind, TaskRunner } from '../tasks/task-runner.ts';
import { dumpRefs, writeManifest } from './dump-refs.ts';
import { checkBare, checkManifest, restoreRefs } from './restore-refs.ts';

const dumpTask: TaskKind<RefsManifest> = { prefix: 'DR', operation: 'dump_refs', message: dumpStatusMessage };

const restoreTask: TaskKind<never> = {
  prefix: 'RR',
  operation: 'restore_refs',
  // A restore has nothing to report besides the task itself.
  message: restoreStatusMessage as Message<{ readonly task: Task | undefined; readonly info: undefined }>,
};

export function dumps(context: EngineContext, taskRunner: TaskRunner): Dumps {
  return {
    dump: async (repository) => {
      const scope = await context.repositories.open(repository);
      const manifest = await dumpRefs(context, scope);
      await writeManifest(context, scope, manifest);
      return manifest;
    },
    restore: async (options) => {
      checkManifest(options.manifest);
      const scope = await context.repositories.open(options.repository);
      checkNotReadOnly(scope, options.force);
      await checkBare(context, scope);
      await holdingCollection(context, scope, () => restoreRefs(context, scope, options));
    },
    submitDump: async (repository) => {
      const scope = await context.repositories.open(repository);
      return taskRunner.submit(scope, dumpTask, () => dumpRefs(context, scope));
    },
    dumpStatus: async ({ repository, taskId }) => {
      const scope = await context.repositories.open(repository);
      const { info, ...state } = await taskRunner.status(scope, dumpTask, taskId);
      return { ...state, refs: info };
    },
    submitRestore: async (options) => {
      checkManifest(options.manifest);
      const scope = await context.repositories.open(options.repository);
      await checkBare(context, scope);
      return taskRunner.submit(scope, restoreTask, async () => {
        checkNotReadOnly(scope, options.force);
        await holdingCollection(context, scope, () => restoreRefs(context, scope, options));
        return undefined as never;
      });
    },
    restoreStatus: async ({ repository, taskId }) => {
      const scope = await context.repositories.open(repository);
      const { info: _none, ...state } = await taskRunner.status(scope, restoreTask, taskId);
      return state;
    },
  };
}
