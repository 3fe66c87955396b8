import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Download, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, ErrorNotice, ExactTime, Skeletons, usePageTitle } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { HookRun } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { secondsOf } from '../pulls/pull-state.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { durationOf, RunStatus } from './run-status.tsx';

/** More hooks than anybody writes. */
const mostHooks = 1000;
/** Longer logs are downloaded. */
const shownCharacters = 500_000;

/** While a run has not ended, the next look at it comes after this long: sooner in its first half minute. */
function lookAgainMs(run: Pick<HookRun, 'status' | 'start_time'> | undefined): number | false {
  if (run?.status !== 'running') return false;
  return Date.now() - Date.parse(run.start_time) < 30_000 ? 2000 : 10_000;
}

export function RunPage(): ReactNode {
  const { id: repository, read_only: isReadOnly } = useRepository();
  const navigate = useNavigate();
  const { runId } = useParams({ from: '/app/repositories/$repo/actions/$runId' });
  usePageTitle(`Run ${runId}`, repository);
  const path = { repository, run_id: runId };
  const {
    data: run,
    error,
    refetch,
  } = useQuery({
    queryKey: ['run', repository, runId],
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/actions/runs/{run_id}', { params: { path }, signal }),
    refetchInterval: ({ state }) => lookAgainMs(state.data),
  });
  const rerun = useWrite(
    () => client.post('/repositories/{repository}/actions/runs/{run_id}/rerun', { params: { path } }),
    ({ run_id: made }) =>
      void navigate({
        to: '/repositories/$repo/actions/$runId',
        params: { repo: repository, runId: made },
      }),
  );
  const isRunning = run?.status === 'running';
  const hooks = useQuery({
    // Asked once more when the run has ended.
    queryKey: ['run-hooks', repository, runId, run?.status],
    enabled: run !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: () => lookAgainMs(run),
    queryFn: ({ signal }) =>
      client.get('/repositories/{repository}/actions/runs/{run_id}/hooks', {
        params: { path, query: { amount: mostHooks } },
        signal,
      }),
  });
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (run === undefined) return <Skeletons rows={8} />;
  const byAction = Object.groupBy(hooks.data?.results ?? [], ({ action }) => action);
  return (
    <div className="stack">
      <section className="box" aria-label="Run">
        <div className="box-body stack">
          <div className="row">
            <h1 className="page-title">{run.event_type}</h1>
            <RunStatus status={run.status} />
            {run.event_type.startsWith('post-') && !isRunning && isReadOnly !== true && (
              <Button
                className="push"
                variant="default"
                size="xs"
                leftSection={<RotateCcw size={13} aria-hidden />}
                loading={rerun.isPending}
                onClick={() => rerun.mutate(undefined)}
              >
                Run again
              </Button>
            )}
          </div>
          {rerun.error !== null && <ErrorNotice error={rerun.error} />}
          <dl className="facts">
            <dt>Run</dt>
            <dd className="row nowrap">
              <code>{run.run_id}</code>
              <CopyButton text={run.run_id} label="Copy run id" />
            </dd>
            {run.branch !== '' && (
              <>
                <dt>Branch</dt>
                <dd>
                  <Link
                    to="/repositories/$repo/objects"
                    params={{ repo: repository }}
                    search={{ ref: run.branch }}
                  >
                    {run.branch}
                  </Link>
                </dd>
              </>
            )}
            {run.commit_id !== '' && (
              <>
                <dt>Commit</dt>
                <dd>
                  <Link
                    className="mono"
                    to="/repositories/$repo/commits/$commitId"
                    params={{ repo: repository, commitId: run.commit_id }}
                  >
                    {shortId(run.commit_id)}
                  </Link>
                </dd>
              </>
            )}
            {run.rerun_of !== undefined && (
              <>
                <dt>Repeats</dt>
                <dd>
                  <Link
                    className="mono"
                    to="/repositories/$repo/actions/$runId"
                    params={{ repo: repository, runId: run.rerun_of }}
                  >
                    {run.rerun_of}
                  </Link>
                </dd>
              </>
            )}
            <dt>Started</dt>
            <dd>
              <ExactTime seconds={secondsOf(run.start_time)} />
              {run.end_time !== undefined && `, took ${durationOf(run.start_time, run.end_time)}`}
            </dd>
          </dl>
        </div>
      </section>
      {hooks.error !== null && <ErrorNotice error={hooks.error} onRetry={() => void hooks.refetch()} />}
      {isRunning && hooks.data?.results.length === 0 && (
        <div className="box box-body muted">No hook has begun yet.</div>
      )}
      {Object.entries(byAction).map(([action, ofAction = []]) => (
        <section className="box" key={action} aria-label={`Action ${action}`}>
          <div className="box-head">
            <h2>{action}</h2>
          </div>
          {ofAction.map((hook) => (
            <Hook key={`${runId}/${hook.hook_run_id}`} repository={repository} runId={runId} hook={hook} />
          ))}
        </section>
      ))}
    </div>
  );
}

function Hook({ repository, runId, hook }: { repository: string; runId: string; hook: HookRun }): ReactNode {
  const isSkipped = hook.status === 'skipped';
  const isRunning = hook.status === 'running';
  const [opened, setOpened] = useState(hook.status === 'failed' || isRunning);
  const path = { repository, run_id: runId, hook_run_id: hook.hook_run_id };
  const address = `/api/v1/repositories/${encodeURIComponent(repository)}/actions/runs/${encodeURIComponent(runId)}/hooks/${encodeURIComponent(hook.hook_run_id)}/output`;
  const log = useQuery<string>({
    queryKey: ['hook-output', repository, runId, hook.hook_run_id, hook.status],
    placeholderData: (was) => was,
    queryFn: ({ signal }) =>
      client
        .get('/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output', {
          params: { path },
          signal,
        })
        // An empty log is no text at all.
        .then((text: string | undefined) => text ?? ''),
    enabled: opened && !isSkipped,
    staleTime: isRunning ? 0 : Number.POSITIVE_INFINITY,
    refetchInterval: () => lookAgainMs(hook),
  });
  const Chevron = opened ? ChevronDown : ChevronRight;
  return (
    <div className="hook-run">
      <div className="row">
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<Chevron size={14} aria-hidden />}
          aria-expanded={opened}
          disabled={isSkipped}
          onClick={() => setOpened(!opened)}
        >
          {hook.hook_id}
        </Button>
        <RunStatus status={hook.status} />
        <span className="small muted">{durationOf(hook.start_time, hook.end_time)}</span>
        {opened && !isSkipped && (
          <span className="row push">
            {log.data !== undefined && <CopyButton text={log.data} label={`Copy log of ${hook.hook_id}`} />}
            <a className="row small" href={address} download={`${hook.hook_run_id}.log`}>
              <Download size={13} aria-hidden /> Download
            </a>
          </span>
        )}
      </div>
      {opened && log.error !== null && <ErrorNotice error={log.error} onRetry={() => void log.refetch()} />}
      {opened && log.data !== undefined && (
        <pre className="hook-log" tabIndex={0} aria-label={`Log of ${hook.hook_id}`}>
          {log.data === ''
            ? isRunning
              ? 'Nothing yet.'
              : 'It wrote nothing.'
            : log.data.slice(0, shownCharacters)}
        </pre>
      )}
    </div>
  );
}
