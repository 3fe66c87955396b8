import { Table } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { Notice, Time } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import { formatCount } from '../../lib/format.ts';
import { CollectionObjects } from './collection-objects.tsx';
import { classNames } from './garbage-classes.ts';
import { shownCount as shown } from './shown-count.ts';

type Run = components['schemas']['GcRun'];
type Root = components['schemas']['GcRootReport'];

const rootNames: Readonly<Record<Root['root'], string>> = {
  branch: 'Branch',
  tags: 'Tags',
  reflog: 'What moves of refs can bring back',
  bindings: 'Aliases and views',
  keeps: 'Rescued commits',
};

/** What a run found and did. */
export function CollectionReport({
  repository,
  run: { id, ...listed },
}: {
  readonly repository: string;
  readonly run: Run;
}): ReactNode {
  // A list of runs leaves out what keeps data.
  const whole = useQuery({
    queryKey: ['gc-run', repository, id],
    queryFn: () =>
      client.get('/repositories/{repository}/gc/runs/{run}', { params: { path: { repository, run: id } } }),
  });
  const run = whole.data ?? listed;
  const { report } = run;
  if (report === undefined) return null;
  const stayed = report.dry_run
    ? 0
    : report.classes.reduce(
        (sum, row) => sum + row.due.objects - row.deleted.objects - row.failed.objects,
        0,
      );
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
        {stayed > 0 && (
          <Notice kind="info" title={`${formatCount(stayed)} of what was due stayed`}>
            It came into use again, or the moves of branches and tags have been recorded here for less than 27
            hours: nothing is deleted before.
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
        <CollectionObjects key={id} repository={repository} run={id} />
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
