import { Button, Progress, Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { ErrorNotice, Notice, Skeletons, Tag, Time } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { CollectionSchedule } from './collection-schedule.tsx';

type Run = components['schemas']['GcRun'];
type Count = components['schemas']['GcCount'];
type Root = components['schemas']['GcRootReport'];

const isAlive = ({ state }: Run): boolean => state === 'queued' || state === 'running';
const shown = ({ objects, bytes }: Count): string =>
  objects === 0 ? '–' : `${formatCount(objects)} (${formatBytes(bytes)})`;

const classNames: Readonly<Record<string, string>> = {
  expired: 'Expired by the rules',
  uncommitted: 'Never committed',
  tables: 'Metadata no commit uses',
  commits: 'Commits nothing leads to',
  uploads: 'Unfinished uploads',
};

const rootNames: Readonly<Record<Root['root'], string>> = {
  branch: 'Branch',
  tags: 'Tags',
  reflog: 'What moves of refs can bring back',
  bindings: 'Aliases and views',
  keeps: 'Rescued commits',
};

/** What waits to be deleted, and the runs of the collector with their reports. */
export function CollectionRuns({ repository }: { readonly repository: string }): ReactNode {
  const path = { repository };
  const [asking, setAsking] = useState(false);
  const [chosen, setChosen] = useState<string>();
  const runs = useQuery({
    queryKey: ['gc-runs', repository],
    queryFn: () =>
      client.get('/repositories/{repository}/gc/runs', { params: { path, query: { amount: 10 } } }),
    refetchInterval: ({ state }) => (state.data?.results.some(isAlive) === true ? 2000 : false),
  });
  const waiting = useQuery({
    queryKey: ['gc-quarantine', repository, runs.data?.results[0]?.state],
    queryFn: () => client.get('/repositories/{repository}/gc/quarantine', { params: { path } }),
  });
  const start = useWrite(
    (dryRun: boolean) =>
      client.post('/repositories/{repository}/gc/runs', { params: { path }, body: { dry_run: dryRun } }),
    () => setAsking(false),
  );
  const cancel = useWrite((run: string) =>
    client.post('/repositories/{repository}/gc/runs/{run}/cancel', { params: { path: { repository, run } } }),
  );
  const results = runs.data?.results ?? [];
  const isBusy = results.some(isAlive);
  const reported =
    results.find(({ id }) => id === chosen) ?? results.find(({ report }) => report !== undefined);
  // A list of runs leaves out what keeps data.
  const whole = useQuery({
    queryKey: ['gc-run', repository, reported?.id],
    enabled: reported?.report !== undefined,
    queryFn: () =>
      client.get('/repositories/{repository}/gc/runs/{run}', {
        params: { path: { repository, run: reported?.id ?? '' } },
      }),
  });
  const open = whole.data?.id === reported?.id ? whole.data : reported;
  return (
    <>
      <section className="box" aria-label="Waiting to be deleted">
        <div className="box-head">
          <h2>Waiting to be deleted</h2>
        </div>
        <div className="box-body stack">
          {waiting.error !== null && <ErrorNotice error={waiting.error} />}
          {waiting.data !== undefined && (
            <div>
              {waiting.data.objects === 0 ? 'Nothing' : shown(waiting.data)}
              {waiting.data.next_due !== undefined && (
                <span className="muted">
                  , the first of it <Time seconds={waiting.data.next_due} />
                </span>
              )}
            </div>
          )}
          {start.error !== null && <ErrorNotice error={start.error} />}
          <div className="row">
            <Button loading={start.isPending} disabled={isBusy} onClick={() => start.mutate(true)}>
              Look for garbage
            </Button>
            <Button variant="default" disabled={isBusy} onClick={() => setAsking(true)}>
              Collect garbage
            </Button>
          </div>
        </div>
      </section>
      <CollectionSchedule repository={repository} />
      <section className="box" aria-label="Runs">
        <div className="box-head">
          <h2>Runs</h2>
        </div>
        {runs.error !== null && <ErrorNotice error={runs.error} onRetry={() => void runs.refetch()} />}
        {runs.data === undefined && runs.error === null && <Skeletons rows={2} />}
        {runs.data !== undefined && results.length === 0 && <div className="box-body muted">None yet</div>}
        {results.map((run) => (
          <div key={run.id} className="diff-row top">
            <div className="grow">
              <Tag>{run.state === 'running' ? (run.phase ?? run.state) : run.state}</Tag>{' '}
              {run.options.dry_run === true && <Tag>dry run</Tag>} <Time seconds={run.creation_date} />{' '}
              <span className="muted">by {run.user}</span>
              {isAlive(run) && run.total !== undefined && run.total > 0 && (
                <Progress aria-label="Progress" value={(100 * run.done) / run.total} />
              )}
              {run.error !== undefined && <div className="muted wrap">{run.error.message}</div>}
            </div>
            {isAlive(run) && (
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
      {open?.report !== undefined && <Report run={open} />}
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title="Collect garbage"
        action="Collect garbage"
        busy={start.isPending}
        error={start.error}
        onSubmit={() => start.mutate(false)}
      >
        What is garbage now is listed. What has been listed for the whole window, and is still garbage, is
        deleted from the object store and cannot be brought back.
      </ConfirmDialog>
    </>
  );
}

function Report({ run }: { readonly run: Run }): ReactNode {
  const { report } = run;
  if (report === undefined) return null;
  return (
    <section className="box" aria-label="Report">
      <div className="box-head">
        <h2>
          Report of <Time seconds={run.creation_date} />
        </h2>
      </div>
      <div className="box-body stack">
        {run.options.rules !== undefined && (
          <Notice kind="info" title="These rules were only tried">
            They would free what stands in “{classNames['expired']}”, once its window is over.
          </Notice>
        )}
        <div className="muted">
          {shown(report.listed)} looked at, {shown(report.live)} in use, {shown(report.unknown)} not ours and
          left alone
          {report.held.map(({ repository, count }) => (
            <span key={repository}>
              , {shown(count)} used by <code>{repository}</code>
            </span>
          ))}
        </div>
        {(report.store_deletion === 'versioned' || report.store_deletion === 'soft') && (
          <Notice kind="info" title="The store keeps what is deleted for a time">
            By rules of its own, so the space is free only when these end.
          </Notice>
        )}
        <div className="scrolls-sideways" tabIndex={0} role="group" aria-label="Garbage by class">
          <Table>
            <Table.Thead>
              <Table.Tr>
                {['Class', 'Garbage', 'Waiting', 'Deleted', 'In use again', 'Refused by the store'].map(
                  (name) => (
                    <Table.Th key={name}>{name}</Table.Th>
                  ),
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {report.classes.map((row) => (
                <Table.Tr key={row.class}>
                  <Table.Td>{classNames[row.class] ?? row.class}</Table.Td>
                  {[row.garbage, row.condemned, row.deleted, row.rescued, row.failed].map((count, index) => (
                    <Table.Td key={index}>{shown(count)}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </div>
        {report.roots !== undefined && report.roots.length > 0 && <KeptBy roots={report.roots} />}
      </div>
    </section>
  );
}

function KeptBy({ roots }: { readonly roots: readonly Root[] }): ReactNode {
  return (
    <>
      <h3>What keeps data</h3>
      <div className="muted">
        Counted in whole ranges of the commits that each keeps. Deleting it would free at most what it keeps
        alone.
      </div>
      <div className="scrolls-sideways" tabIndex={0} role="group" aria-label="What keeps data">
        <Table>
          <Table.Thead>
            <Table.Tr>
              {['Kept by', 'Commits', 'Data', 'Kept by nothing else'].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {roots.map((root) => (
              <Table.Tr key={`${root.root} ${root.branch_id ?? ''}`}>
                <Table.Td>
                  {rootNames[root.root]} {root.branch_id !== undefined && <code>{root.branch_id}</code>}
                </Table.Td>
                <Table.Td>{formatCount(root.commits)}</Table.Td>
                <Table.Td>{shown(root)}</Table.Td>
                <Table.Td>{shown({ objects: root.only_objects, bytes: root.only_bytes })}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </>
  );
}
