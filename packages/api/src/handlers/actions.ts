import { isSkipped, timeText, type Run, type Task } from '@svc/actions';
import { EngineError } from '@svc/engine';
import { Answer } from '../answer/answer.ts';
import type { HandlersOf } from '../call.ts';
import type { ApiOptions } from '../options.ts';
import { RequestError } from '../request/request-error.ts';
import { pageView } from '../views/page.ts';
import { notImplemented } from './shared/not-implemented.ts';

export function actionHandlers({ engine, actions }: ApiOptions): HandlersOf<'actions'> {
  if (actions === undefined) {
    return {
      listRepositoryRuns: notImplemented,
      getRun: notImplemented,
      listRunHooks: notImplemented,
      getRunHookOutput: notImplemented,
    };
  }
  const { runs, files } = actions;
  return {
    async listRepositoryRuns({ params, query }) {
      const [branch, commit] = [query.branch || undefined, query.commit || undefined];
      if (branch !== undefined && commit !== undefined) {
        throw new RequestError(400, "can't use both branchID and MergedCommitID: parameters conflict");
      }
      const repository = await engine.repositories.get(params.repository);
      const { after, amount, status } = query;
      const event = query.event || undefined;
      const passed = status === undefined ? undefined : status === 'completed';
      const filter = { branch, commit, event, passed };
      const page = await runs.list({ repository: repository.id, ...filter, after, amount });
      return pageView({ ...page, nextOffset: page.items.at(-1)?.runId ?? '' }, runView);
    },

    async getRun({ params }) {
      await engine.repositories.get(params.repository);
      const run = await runs.get(params.repository, params.run_id);
      if (run === undefined) throw new EngineError('not_found', 'run not found');
      return runView(run);
    },

    async listRunHooks({ params, query }) {
      await engine.repositories.get(params.repository);
      const { repository, run_id: runId } = params;
      const page = await runs.listTasks({ repository, runId, after: query.after, amount: query.amount });
      return pageView({ ...page, nextOffset: page.items.at(-1)?.hookRunId ?? '' }, hookView);
    },

    async getRunHookOutput({ params }) {
      const repository = await engine.repositories.get(params.repository);
      const { run_id: runId, hook_run_id: hookRunId } = params;
      const task = await runs.getTask(repository.id, runId, hookRunId);
      if (task === undefined) throw new EngineError('not_found', 'hook run not found');
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename=${task.hookRunId}.log`,
        'x-content-type-options': 'nosniff',
      };
      if (isSkipped(task)) return new Answer(200, { ...headers, 'content-length': 0 });
      const log = await files.readLog(repository, runId, hookRunId);
      if (log === undefined) throw new EngineError('data_gone', 'the output of the hook is gone');
      return new Answer(200, { ...headers, 'content-length': log.size }, log);
    },
  };
}

function runView(run: Run) {
  return {
    run_id: run.runId,
    branch: run.branchId,
    start_time: timeText(run.startTime),
    end_time: timeText(run.endTime),
    event_type: run.eventType,
    status: run.passed ? ('completed' as const) : ('failed' as const),
    commit_id: run.commitId,
  };
}

function hookView(task: Task) {
  const skipped = isSkipped(task);
  return {
    hook_run_id: task.hookRunId,
    action: task.actionName,
    hook_id: task.hookId,
    start_time: timeText(task.startTime),
    ...(skipped ? {} : { end_time: timeText(task.endTime) }),
    status: skipped ? ('skipped' as const) : task.passed ? ('completed' as const) : ('failed' as const),
  };
}
