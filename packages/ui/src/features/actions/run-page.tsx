import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Download } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, ErrorNotice, ExactTime, Skeletons, usePageTitle } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { HookRun } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { secondsOf } from '../pulls/pull-state.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { durationOf, RunStatus } from './run-status.tsx';

/** More hooks than anybody writes. */
const mostHooks = 1000;
/** Longer logs are downloaded. */
const shownCharacters = 500_000;

export function RunPage(): ReactNode {
  const { id: repository } = useRepository();
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
  });
  const hooks = useQuery({
    queryKey: ['run-hooks', repository, runId],
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
          </div>
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
            <dt>Started</dt>
            <dd>
              <ExactTime seconds={secondsOf(run.start_time)} />
              {run.end_time !== undefined && `, took ${durationOf(run.start_time, run.end_time)}`}
            </dd>
          </dl>
        </div>
      </section>
      {hooks.error !== null && <ErrorNotice error={hooks.error} onRetry={() => void hooks.refetch()} />}
      {Object.entries(byAction).map(([action, ofAction = []]) => (
        <section className="box" key={action} aria-label={`Action ${action}`}>
          <div className="box-head">
            <h2>{action}</h2>
          </div>
          {ofAction.map((hook) => (
            <Hook key={hook.hook_run_id} repository={repository} runId={runId} hook={hook} />
          ))}
        </section>
      ))}
    </div>
  );
}

function Hook({ repository, runId, hook }: { repository: string; runId: string; hook: HookRun }): ReactNode {
  const isSkipped = hook.status === 'skipped';
  const [opened, setOpened] = useState(hook.status === 'failed');
  const path = { repository, run_id: runId, hook_run_id: hook.hook_run_id };
  const address = `/api/v1/repositories/${encodeURIComponent(repository)}/actions/runs/${encodeURIComponent(runId)}/hooks/${encodeURIComponent(hook.hook_run_id)}/output`;
  const log = useQuery({
    queryKey: ['hook-output', repository, runId, hook.hook_run_id],
    queryFn: ({ signal }) =>
      client
        .get('/repositories/{repository}/actions/runs/{run_id}/hooks/{hook_run_id}/output', {
          params: { path },
          signal,
        })
        // An empty log is no text at all.
        .then((text: string | undefined) => text ?? ''),
    enabled: opened && !isSkipped,
    staleTime: Number.POSITIVE_INFINITY,
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
          {log.data === '' ? 'It wrote nothing.' : log.data.slice(0, shownCharacters)}
        </pre>
      )}
    </div>
  );
}
