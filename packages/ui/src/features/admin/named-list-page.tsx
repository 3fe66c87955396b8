import { Button, Checkbox, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { Plus, Search, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, Notice, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import type { Column } from '../../kit/virtual-list.tsx';
import { explain } from '../../lib/explain.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import type { FetchPage } from '../../lib/paged-list.ts';
import { refreshAll } from '../../lib/queries.ts';

interface NamedListProps<Row extends { id: string }> {
  readonly title: string;
  /** Such as `user`. */
  readonly noun: string;
  readonly to: '/auth/users' | '/auth/groups' | '/auth/policies';
  readonly prefix: string;
  readonly intro: string;
  readonly fetchPage: FetchPage<Row>;
  readonly columns: readonly Column<Row>[];
  readonly snippet: string;
  readonly nameOf?: (row: Row) => string;
  readonly remove?: ((id: string) => Promise<unknown>) | undefined;
  /** Cannot be chosen: oneself. */
  readonly keep?: string | undefined;
  readonly onCreate?: (() => void) | undefined;
}

/** Users, groups and policies: find, create, choose, delete. */
export function NamedListPage<Row extends { id: string }>(props: NamedListProps<Row>): ReactNode {
  const { title, noun, to, prefix, intro, fetchPage, columns, snippet, remove, keep, onCreate } = props;
  const nameOf = props.nameOf ?? ((row: Row) => row.id);
  usePageTitle(title);
  const navigate = useNavigate();
  const [text, setText] = useState(prefix);
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [failures, setFailures] = useState<readonly string[]>([]);
  const filter = useDebouncedCallback(
    (value: string) =>
      void navigate({ to, search: { prefix: value === '' ? undefined : value }, replace: true }),
    250,
  );
  const list = usePagedList<Row>([noun, prefix], fetchPage);
  const removeChosen = async (): Promise<void> => {
    setBusy(true);
    const failed: string[] = [];
    const left = new Map<string, string>();
    for (const [id, name] of chosen) {
      try {
        await remove?.(id);
      } catch (error) {
        failed.push(`${name}: ${explain(error).text}`);
        left.set(id, name);
      }
    }
    setFailures(failed);
    setChosen(left);
    setBusy(false);
    setAsking(false);
    await refreshAll();
  };
  const all: Column<Row>[] =
    remove === undefined
      ? [...columns]
      : [
          {
            name: 'Choose',
            quiet: true,
            width: '24px',
            cell: (row) =>
              row.id === keep ? null : (
                <Checkbox
                  aria-label={`Choose ${nameOf(row)}`}
                  checked={chosen.has(row.id)}
                  onChange={(event) => {
                    const next = new Map(chosen);
                    if (event.currentTarget.checked) next.set(row.id, nameOf(row));
                    else next.delete(row.id);
                    setChosen(next);
                  }}
                />
              ),
          },
          ...columns,
        ];
  return (
    <div className="stack">
      <div className="page-head" style={{ marginBottom: 0 }}>
        <h1>{title}</h1>
        <div className="right row">
          {chosen.size > 0 && (
            <Button color="danger" leftSection={<Trash2 size={15} />} onClick={() => setAsking(true)}>
              Delete {chosen.size}
            </Button>
          )}
          <TextInput
            data-filter
            aria-label={`Find ${title.toLowerCase()} that start with`}
            placeholder={`Find a ${noun}`}
            leftSection={<Search size={15} />}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              filter(event.currentTarget.value);
            }}
          />
          {onCreate !== undefined && (
            <Button leftSection={<Plus size={15} />} onClick={onCreate}>
              Create {noun}
            </Button>
          )}
        </div>
      </div>
      <div className="muted">{intro}</div>
      {failures.length > 0 && (
        <Notice kind="error" title="Some could not be deleted">
          {failures.map((failure) => (
            <div key={failure}>{failure}</div>
          ))}
        </Notice>
      )}
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
              snippet={snippet}
            >
              {intro}
            </EmptyState>
          }
        />
      </div>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={`Delete ${title.toLowerCase()}`}
        action="Delete"
        busy={busy}
        onSubmit={() => void removeChosen()}
      >
        Delete {[...chosen.values()].slice(0, 10).join(', ')}
        {chosen.size > 10 && ` and ${chosen.size - 10} more`}? This cannot be undone.
      </ConfirmDialog>
    </div>
  );
}
