import { isSkipped, timeText, type QueuedEvent, type Run, type Task } from '@svc/actions';
import { EngineError, type Repository } from '@svc/engine';
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
      rerunHooks: notImplemented,
      listRunHooks: notImplemented,
      getRunHookOutput: notImplemented,
    };
  }
  const { runs } = actions;
  return {
    async listRepositoryRuns({ params, query }) {
      const [branch, commit] = [query.branch || undefined, query.commit || undefined];
      if (branch !== undefined && commit !== undefined) {
        throw new RequestError(400, "can't use both branchID and MergedCommitID: parameters conflict");
      }
      const repository = await engine.repositories.get(params.repository);
      const { after, amount, status } = query;
      const event = query.event || undefined;
      if (status === 'running') return listRunning(actions, repository, { branch, commit, event });
      const passed = status === undefined ? undefined : status === 'completed';
      const filter = { branch, commit, event, passed };
      const page = await runs.list({ repository: repository.id, ...filter, after, amount });
      return pageView({ ...page, nextOffset: page.items.at(-1)?.runId ?? '' }, runView);
    },

    async getRun({ params }) {
      const repository = await engine.repositories.get(params.repository);
      const running = await actions.findRunning(repository, params.run_id);
      if (running !== undefined) return runningView(running);
      const run = await runs.get(repository.id, params.run_id);
      if (run === undefined) throw new EngineError('not_found', 'run not found');
      const rerunOf = (await runs.getEvent(repository.id, run.runId))?.rerunOf;
      return { ...runView(run), ...(rerunOf === undefined ? {} : { rerun_of: rerunOf }) };
    },

    async rerunHooks({ params, actor }) {
      const repository = await engine.repositories.get(params.repository);
      return { run_id: await actions.rerun(repository, params.run_id, actor) };
    },

    async listRunHooks({ params, query }) {
      const repository = await engine.repositories.get(params.repository);
      const { run_id: runId } = params;
      const running = await actions.findRunning(repository, runId);
      if (running !== undefined) return runningHooks(running);
      const request = { repository: repository.id, runId, after: query.after, amount: query.amount };
      const page = await runs.listTasks(request);
      return pageView({ ...page, nextOffset: page.items.at(-1)?.hookRunId ?? '' }, hookView);
    },

    async getRunHookOutput({ params }) {
      const repository = await engine.repositories.get(params.repository);
      const { run_id: runId, hook_run_id: hookRunId } = params;
      const running = await actions.findRunning(repository, runId);
      const task =
        running === undefined
          ? await runs.getTask(repository.id, runId, hookRunId)
          : running.ended.find((ended) => ended.hookRunId === hookRunId);
      const isBegun = running?.begun.some((begun) => begun.hookRunId === hookRunId) === true;
      if (task === undefined && !isBegun) throw new EngineError('not_found', 'hook run not found');
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename=${hookRunId}.log`,
        'x-content-type-options': 'nosniff',
      };
      const nothing = new Answer(200, { ...headers, 'content-length': 0 });
      if (task !== undefined && isSkipped(task)) return nothing;
      const log = await actions.readLog(repository, runId, hookRunId);
      // A hook that has just begun has written nothing yet.
      if (log === undefined && isBegun) return nothing;
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

/** The most that are shown of those that have not ended. */
const mostRunning = 1000;

interface RunFilter {
  readonly branch: string | undefined;
  readonly commit: string | undefined;
  readonly event: string | undefined;
}

async function listRunning(
  actions: NonNullable<ApiOptions['actions']>,
  repository: Repository,
  { branch, commit, event }: RunFilter,
) {
  const items: QueuedEvent[] = [];
  for await (const queued of actions.listRunning(repository)) {
    const { branch: onBranch, commitId, type } = queued.event;
    const isWanted =
      (branch === undefined || branch === onBranch) &&
      (commit === undefined || commit === commitId) &&
      (event === undefined || event === type);
    if (isWanted) items.push(queued);
    if (items.length === mostRunning) break;
  }
  return pageView({ items, hasMore: false, nextOffset: '' }, runningView);
}

function runningView({ runId, event, queuedAt, begun, rerunOf }: QueuedEvent) {
  return {
    run_id: runId,
    branch: event.branch ?? '',
    start_time: timeText(begun[0]?.startTime ?? queuedAt),
    event_type: event.type,
    status: 'running' as const,
    commit_id: event.commitId ?? '',
    ...(rerunOf === undefined ? {} : { rerun_of: rerunOf }),
  };
}

/** What has begun of a run, in the order of its hooks. */
function runningHooks({ begun, ended }: QueuedEvent) {
  const done = new Set(ended.map(({ hookRunId }) => hookRunId));
  const views = [
    ...ended.map(hookView),
    ...begun
      .filter(({ hookRunId }) => !done.has(hookRunId))
      .map(({ hookRunId, hookId, actionName, startTime }) => ({
        hook_run_id: hookRunId,
        action: actionName,
        hook_id: hookId,
        start_time: timeText(startTime),
        status: 'running' as const,
      })),
  ];
  const items = views.toSorted((a, b) => (a.hook_run_id < b.hook_run_id ? -1 : 1));
  return pageView({ items, hasMore: false, nextOffset: '' }, (view) => view);
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
