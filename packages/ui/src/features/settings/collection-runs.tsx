import { Button, Progress } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { ErrorNotice, Skeletons, Tag, Time } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRefusal } from '../shell/repository-context.tsx';
import { CollectionBanner } from './collection-banner.tsx';
import { CollectionDialog } from './collection-dialog.tsx';
import { CollectionReport } from './collection-report.tsx';
import { CollectionSchedule } from './collection-schedule.tsx';
import { Reclaimable } from './reclaimable.tsx';

type Run = components['schemas']['GcRun'];

const isAlive = ({ state }: Run): boolean => state === 'queued' || state === 'running';

/** What waits to be deleted, and the runs of the collector with their reports. */
export function CollectionRuns({ repository }: { readonly repository: string }): ReactNode {
  const path = { repository };
  const refusal = useRefusal()('retention:RunGarbageCollection');
  const [asking, setAsking] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const runs = useQuery({
    queryKey: ['gc-runs', repository],
    queryFn: () =>
      client.get('/repositories/{repository}/gc/runs', { params: { path, query: { amount: 10 } } }),
    refetchInterval: ({ state }) => (state.data?.results.some(isAlive) === true ? 2000 : false),
  });
  const cancel = useWrite((run: string) =>
    client.post('/repositories/{repository}/gc/runs/{run}/cancel', { params: { path: { repository, run } } }),
  );
  const results = runs.data?.results ?? [];
  const isBusy = results.some(isAlive);
  const open = results.find(({ id }) => id === chosen) ?? results.find(({ report }) => report !== undefined);
  return (
    <>
      <CollectionBanner repository={repository} run={results[0]} refusal={refusal} />
      <Reclaimable repository={repository} runs={results}>
        <GuardedButton
          reason={refusal ?? (isBusy ? 'A run is under way' : undefined)}
          onClick={() => setAsking(true)}
        >
          Collect garbage
        </GuardedButton>
      </Reclaimable>
      <CollectionSchedule repository={repository} />
      <section className="box" aria-label="Runs">
        <div className="box-head">
          <h2>Runs</h2>
        </div>
        {runs.error !== null && <ErrorNotice error={runs.error} onRetry={() => void runs.refetch()} />}
        {cancel.error !== null && <ErrorNotice error={cancel.error} />}
        {runs.data === undefined && runs.error === null && <Skeletons rows={2} />}
        {runs.data !== undefined && results.length === 0 && <div className="box-body muted">None yet</div>}
        {results.map((run) => (
          <div key={run.id} className="diff-row top">
            <div className="grow">
              <Tag>{run.state === 'running' ? (run.phase ?? run.state) : run.state}</Tag>{' '}
              {run.options.dry_run === true && <Tag>dry run</Tag>}{' '}
              {run.options.hard === true && <Tag>at once</Tag>} <Time seconds={run.creation_date} />{' '}
              <span className="muted">by {run.user}</span>
              {isAlive(run) && run.total !== undefined && run.total > 0 && (
                <Progress aria-label="Progress" value={(100 * run.done) / run.total} />
              )}
              {run.error !== undefined && <div className="muted wrap">{run.error.message}</div>}
            </div>
            {isAlive(run) && refusal === undefined && (
              <Button variant="default" size="compact-sm" onClick={() => cancel.mutate(run.id)}>
                Cancel
              </Button>
            )}
            {run.report !== undefined && run.id !== open?.id && (
              <Button variant="default" size="compact-sm" onClick={() => setChosen(run.id)}>
                Report
              </Button>
            )}
          </div>
        ))}
      </section>
      {open?.report !== undefined && <CollectionReport repository={repository} run={open} />}
      {asking && <CollectionDialog repository={repository} onClose={() => setAsking(false)} />}
    </>
  );
}
