import { useNavigate } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, usePageTitle } from '../../kit/basics.tsx';
import { useChoice, useChoiceColumn } from '../../kit/choice.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { FailureNotice, useRemoval } from '../../kit/removal.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import type { Column } from '../../kit/virtual-list.tsx';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { FetchPage } from '../../lib/paged-list.ts';

interface NamedListProps<Row extends { id: string }> {
  readonly title: string;
  readonly noun: 'user' | 'group' | 'policy';
  readonly to: '/auth/users' | '/auth/groups' | '/auth/policies';
  readonly prefix: string;
  readonly intro: string;
  readonly fetchPage: FetchPage<Row>;
  readonly columns: readonly Column<Row>[];
  readonly snippet: string;
  readonly nameOf?: (row: Row) => string;
  readonly remove?: ((id: string) => Promise<unknown>) | undefined;
  /** The own account cannot be chosen. */
  readonly keep?: string | undefined;
  readonly onCreate?: (() => void) | undefined;
}

/** Users, groups and policies: find, create, choose, delete. */
export function NamedListPage<Row extends { id: string }>(props: NamedListProps<Row>): ReactNode {
  const { title, noun, to, prefix, intro, fetchPage, columns, snippet, remove, keep, onCreate } = props;
  const nameOf = props.nameOf ?? ((row: Row) => row.id);
  usePageTitle(title);
  const navigate = useNavigate();
  const choice = useChoice<Row>();
  const setPrefix = (value: string): void =>
    void navigate({ to, search: { prefix: value === '' ? undefined : value }, replace: true });
  const list = usePagedList<Row>([noun, prefix], fetchPage);
  const refusal = useRefusals();
  const right = { user: 'User', group: 'Group', policy: 'Policy' }[noun];
  const nouns = [noun, title.toLowerCase()] as const;
  const removal = useRemoval<Row>({
    choice,
    noun: nouns,
    nameOf,
    remove: ({ id }) => remove?.(id) ?? Promise.resolve(),
    warning: 'This cannot be undone.',
  });
  const chooser = useChoiceColumn<Row>({
    choice,
    list,
    idOf: ({ id }) => id,
    nameOf,
    canChoose: ({ id }) => id !== keep,
  });
  const all = remove === undefined ? columns : [chooser, ...columns];
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>{title}</h1>
        <div className="right row">
          {choice.rows.size > 0 && (
            <GuardedButton
              color="danger"
              reason={refusal(`auth:Delete${right}`)}
              leftSection={<Trash2 size={15} />}
              onClick={() => removal.ask(choice.rows)}
            >
              Delete {choice.rows.size}
            </GuardedButton>
          )}
          <FilterField
            label={`Find ${title.toLowerCase()} that start with`}
            placeholder={`Find a ${noun}`}
            value={prefix}
            onFilter={setPrefix}
          />
          {onCreate !== undefined && (
            <GuardedButton
              reason={refusal(`auth:Create${right}`)}
              leftSection={<Plus size={15} />}
              onClick={onCreate}
            >
              Create {noun}
            </GuardedButton>
          )}
        </div>
      </div>
      <div className="muted">{intro}</div>
      <FailureNotice failures={removal.failures} noun={nouns} />
      <div className="box">
        <VirtualList
          label={title}
          noun={title.toLowerCase()}
          list={list}
          rowHeight={44}
          columns={all}
          empty={
            <EmptyState
              title={prefix === '' ? `No ${title.toLowerCase()}` : `No ${noun} starts with “${prefix}”`}
              actions={prefix !== '' && <ClearFilter onClear={() => setPrefix('')} />}
              snippet={snippet}
            >
              {intro}
            </EmptyState>
          }
        />
      </div>
      {removal.dialog}
    </div>
  );
}
