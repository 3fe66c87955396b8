import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { ErrorNotice, ExactTime, Time } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import { shownCount } from './shown-count.ts';

type Run = components['schemas']['GcRun'];
type Count = components['schemas']['GcCount'];

/** What the next run would delete, as the last one found it. */
function dueOf(run: Run | undefined): Count {
  const sum = { objects: 0, bytes: 0 };
  for (const { due, deleted } of run?.report?.classes ?? []) {
    sum.objects += due.objects - deleted.objects;
    sum.bytes += due.bytes - deleted.bytes;
  }
  return sum;
}

/** How much can be freed, and when. */
export function Reclaimable({
  repository,
  runs,
  children,
}: {
  readonly repository: string;
  /** Newest first. */
  readonly runs: readonly Run[];
  readonly children: ReactNode;
}): ReactNode {
  const waiting = useQuery({
    queryKey: ['gc-quarantine', repository, runs[0]?.id, runs[0]?.state],
    queryFn: () =>
      client.get('/repositories/{repository}/gc/quarantine', { params: { path: { repository } } }),
  });
  const last = runs.find(({ state, options }) => state === 'completed' && options.rules === undefined);
  // Without a window everything is due.
  const due = dueOf(last?.options.hard === true ? undefined : last);
  return (
    <section className="box" aria-label="Reclaimable">
      <div className="box-head">
        <h2>Reclaimable</h2>
      </div>
      <div className="box-body stack">
        {waiting.error !== null && <ErrorNotice error={waiting.error} />}
        {waiting.data !== undefined && (
          <div>
            {waiting.data.objects === 0
              ? 'Nothing waits to be deleted'
              : `${shownCount(waiting.data)} waiting to be deleted`}
            {waiting.data.next_due !== undefined && (
              <span className="muted">
                , the first of it from <ExactTime seconds={waiting.data.next_due} /> on
              </span>
            )}
          </div>
        )}
        {due.objects > 0 && <div>{shownCount(due)} go with the next run</div>}
        <div className="muted">
          {last === undefined ? (
            'Never collected'
          ) : (
            <>
              Last run <Time seconds={last.end_date ?? last.creation_date} />
            </>
          )}
        </div>
        <div className="row">{children}</div>
      </div>
    </section>
  );
}
