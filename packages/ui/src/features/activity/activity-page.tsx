import { Select } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Activity as ActivityIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Skeletons, Tag, usePageTitle } from '../../kit/basics.tsx';
import { Main } from '../shell/layout.tsx';
import { EventRow } from './event-row.tsx';
import { useActivity } from './use-activity.ts';

const filters = [
  { value: '', label: 'Everything' },
  { value: 'svc.branch.*', label: 'Branches' },
  { value: 'svc.tag.*', label: 'Tags' },
  { value: 'svc.pull.*', label: 'Pull requests' },
  { value: 'svc.repository.*,svc.protection.*,svc.task.*', label: 'Repositories and tasks' },
  { value: 'svc.user.*,svc.group.*,svc.policy.*,svc.credentials.*', label: 'Access' },
];

export function RepositoryActivityPage(): ReactNode {
  const { repo } = useParams({ from: '/app/repositories/$repo' });
  const { types } = useSearch({ from: '/app/repositories/$repo/activity' });
  const navigate = useNavigate({ from: '/repositories/$repo/activity' });
  usePageTitle('Activity', repo);
  const choose = (chosen: string | undefined): void => void navigate({ search: { types: chosen } });
  return (
    <ActivityList key={`${repo} ${types ?? ''}`} repository={repo} types={types ?? ''} onTypes={choose} />
  );
}

export function ActivityPage(): ReactNode {
  const { types } = useSearch({ from: '/app/activity' });
  const navigate = useNavigate({ from: '/activity' });
  usePageTitle('Activity');
  const choose = (chosen: string | undefined): void => void navigate({ search: { types: chosen } });
  return (
    <Main>
      <ActivityList key={types ?? ''} repository={undefined} types={types ?? ''} onTypes={choose} />
    </Main>
  );
}

function ActivityList({
  repository,
  types,
  onTypes,
}: {
  repository: string | undefined;
  types: string;
  onTypes: (types: string | undefined) => void;
}): ReactNode {
  const { events, state, error } = useActivity(repository, types);
  return (
    <>
      <div className="page-head">
        <h1>Activity</h1>
        <Tag kind={state === 'live' ? 'added' : 'changed'}>{state === 'live' ? 'Live' : 'Connecting …'}</Tag>
        <div className="right">
          <Select
            aria-label="Show"
            data={repository === undefined ? filters : filters.slice(0, -1)}
            value={types}
            allowDeselect={false}
            onChange={(chosen) => onTypes(chosen === null || chosen === '' ? undefined : chosen)}
          />
        </div>
      </div>
      {error !== undefined && <ErrorNotice error={error} />}
      {events === undefined && error === undefined && <Skeletons rows={8} />}
      {events?.length === 0 && (
        <EmptyState icon={<ActivityIcon size={36} aria-hidden />} title="Nothing has happened lately">
          Commits, merges, new and deleted branches and everything else that changes appears here at once.
        </EmptyState>
      )}
      {events !== undefined && events.length > 0 && (
        <div className="box">
          <ul className="plain-list" aria-label="Events">
            {events.map((event) => (
              <EventRow key={event.sequence} event={event} showRepository={repository === undefined} />
            ))}
          </ul>
        </div>
      )}
    </>
  );
}
