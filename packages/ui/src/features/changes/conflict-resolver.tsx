import { Button, Select, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Notice, Skeletons } from '../../kit/basics.tsx';
import type { Conflict, ConflictList } from '../../lib/api.ts';
import { plural } from '../../lib/format.ts';
import { isStale, matcherOf, noDecisions, resolutionsOf, takeOf } from '../../lib/resolutions.ts';
import type { Choice, Decisions, SideTake } from '../../lib/resolutions.ts';
import { ConflictRow } from './conflict-row.tsx';
import type { Meeting } from './meetings.ts';
import type { MergeSteering } from './merge-dialog.tsx';
import { MergePreviewLine } from './merge-preview.tsx';

const pageSize = 200;

const words = {
  merge: ['Choose what the merge takes.', 'Merge as chosen'],
  'cherry-pick': ['Choose what the branch gets.', 'Apply as chosen'],
  revert: ['Choose what the branch gets.', 'Revert as chosen'],
} as const;

/** A page with something on it, or the last one: the server may look for long and find nothing yet. */
async function readConflicts(meeting: Meeting, from: string): Promise<ConflictList> {
  for (let after = from; ;) {
    const page = await meeting.read({ after, amount: pageSize });
    if (page.results.length > 0 || !page.pagination.has_more) return page;
    after = page.pagination.next_offset;
  }
}

/** Lists what is in conflict and lets somebody settle it, one by one or many at once. */
export function ConflictResolver({
  repository,
  meeting,
  busy = false,
  onMerge,
}: {
  repository: string;
  meeting: Meeting;
  busy?: boolean;
  onMerge: (steering: MergeSteering) => void;
}): ReactNode {
  const { source, destination } = meeting;
  const [request, action] = words[meeting.kind];
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['conflicts', ...meeting.key],
    initialPageParam: '',
    queryFn: ({ pageParam }) => readConflicts(meeting, pageParam),
    getNextPageParam: ({ pagination }) => (pagination.has_more ? pagination.next_offset : undefined),
    staleTime: 0,
  });
  const [decisions, setDecisions] = useState<Decisions>(noDecisions);
  const [filter, setFilter] = useState('');
  const [shownTakes, setShownTakes] = useState<'all' | 'unresolved'>('all');
  const conflicts = useMemo(() => data?.pages.flatMap(({ results }) => results) ?? [], [data]);
  const matches = useMemo(() => matcherOf(filter), [filter]);
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  const head = data?.pages[0];
  if (head === undefined) return <Skeletons rows={3} />;
  if (conflicts.length === 0) return null;

  const settled = conflicts.filter((conflict) => takeOf(decisions, conflict) !== undefined).length;
  const stale = conflicts.filter((conflict) => isStale(decisions, conflict)).length;
  const shown = conflicts.filter(
    (conflict) =>
      matches?.(conflict.path) === true &&
      (shownTakes === 'all' || takeOf(decisions, conflict) === undefined),
  );
  const choose = ({ path }: Conflict, choice: Choice): void =>
    setDecisions((was) => ({ ...was, choices: new Map(was.choices).set(path, choice) }));
  /** A rule also settles what has not been read yet; it comes before older ones, and single choices give way to it. */
  const chooseAll = (take: SideTake): void =>
    setDecisions(({ choices, rules }) => ({
      choices: new Map([...choices].filter(([path]) => matches?.(path) !== true)),
      // One for all paths leaves nothing to older ones.
      rules: [
        { pattern: filter, take },
        ...(filter === '' ? [] : rules.filter(({ pattern }) => pattern !== filter)),
      ],
    }));
  const steering: MergeSteering = {
    expected_source: head.source_commit_id,
    expected_destination: head.destination_commit_id,
    resolutions: resolutionsOf(decisions, conflicts),
  };
  const total = `${conflicts.length}${hasNextPage ? '+' : ''}`;
  return (
    <section className="box" aria-label="Conflicts">
      <div className="box-head">
        <h2>Conflicts</h2>
        <span className="muted" aria-live="polite">
          {settled} of {total} settled
        </span>
        <div className="right row">
          {meeting.kind === 'merge' && (
            <MergePreviewLine
              repository={repository}
              source={source}
              destination={destination}
              steering={steering}
            />
          )}
          <Button
            size="compact-sm"
            loading={busy}
            disabled={settled < conflicts.length}
            title={settled < conflicts.length ? 'Settle every conflict first' : undefined}
            onClick={() => onMerge(steering)}
          >
            {action}
          </Button>
        </div>
      </div>
      <div className="box-body stack tight">
        <div className="muted small">
          Both {source} and {destination} changed these objects. {request}
        </div>
        {stale > 0 && (
          <Notice kind="warn" title={`The branches moved: ${plural(stale, 'choice')} to look at again`}>
            {plural(decisions.choices.size - stale, 'other choice')} kept.
          </Notice>
        )}
        <div className="row">
          <TextInput
            size="xs"
            aria-label="Filter conflicts"
            placeholder="Filter: text or glob"
            value={filter}
            error={matches === undefined ? 'This pattern cannot be read' : undefined}
            onChange={(event) => setFilter(event.currentTarget.value)}
          />
          <Select
            size="xs"
            aria-label="Which conflicts are shown"
            allowDeselect={false}
            value={shownTakes}
            onChange={(value) => setShownTakes(value === 'unresolved' ? 'unresolved' : 'all')}
            data={[
              { value: 'all', label: 'All' },
              { value: 'unresolved', label: 'Not settled' },
            ]}
          />
          <span className="small muted">{filter === '' ? 'For all:' : 'For all that match:'}</span>
          <BulkButton label={source} onClick={() => chooseAll('source')} disabled={matches === undefined} />
          <BulkButton
            label={destination}
            onClick={() => chooseAll('destination')}
            disabled={matches === undefined}
          />
          <BulkButton label="base" onClick={() => chooseAll('base')} disabled={matches === undefined} />
          <BulkButton label="delete" onClick={() => chooseAll('delete')} disabled={matches === undefined} />
        </div>
        {decisions.rules.length > 0 && (
          <ul className="row conflict-rules" aria-label="Rules">
            {decisions.rules.map(({ pattern, take }) => (
              <li key={pattern}>
                <button
                  type="button"
                  className="tag pressable"
                  aria-label={`Remove the rule for ${pattern === '' ? 'all paths' : pattern}`}
                  onClick={() =>
                    setDecisions((was) => ({
                      ...was,
                      rules: was.rules.filter((rule) => rule.pattern !== pattern),
                    }))
                  }
                >
                  {pattern === '' ? 'all paths' : pattern}:{' '}
                  {take === 'source' ? source : take === 'destination' ? destination : take} ✕
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <ul className="conflict-list">
        {shown.map((conflict) => (
          <ConflictRow
            key={conflict.path}
            repository={repository}
            conflict={conflict}
            commits={head}
            branches={{ source, destination }}
            take={takeOf(decisions, conflict)}
            stale={isStale(decisions, conflict)}
            canAppend={meeting.kind === 'merge'}
            onChoose={(choice) => choose(conflict, choice)}
          />
        ))}
      </ul>
      {hasNextPage && (
        <div className="box-body">
          <Button
            variant="default"
            size="compact-sm"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Show more conflicts
          </Button>
        </div>
      )}
    </section>
  );
}

function BulkButton({
  label,
  onClick,
  disabled,
}: {
  label: string;
  onClick: () => void;
  disabled: boolean;
}): ReactNode {
  return (
    <Button
      variant="default"
      size="compact-xs"
      aria-label={`For all: ${label}`}
      disabled={disabled}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}
