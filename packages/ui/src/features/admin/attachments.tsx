import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Time } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import type { FetchPage } from '../../lib/paged-list.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRefusals } from '../../lib/use-refusals.ts';

export type AttachedKind = 'users' | 'groups' | 'policies';

export interface Attached {
  readonly id: string;
  readonly name?: string | undefined;
  readonly creation_date?: number | undefined;
}

const one = { users: 'user', groups: 'group', policies: 'policy' } as const;

async function find(kind: AttachedKind, prefix: string): Promise<Attached[]> {
  const query = { params: { query: { prefix, amount: 20 } } };
  if (kind === 'users') return (await client.get('/auth/users', query)).results;
  if (kind === 'groups') return (await client.get('/auth/groups', query)).results;
  return (await client.get('/auth/policies', query)).results;
}

function AttachedLink({ kind, row }: { kind: AttachedKind; row: Attached }): ReactNode {
  const name = row.name ?? row.id;
  if (kind === 'users') {
    return (
      <Link data-row-link to="/auth/users/$id/$tab" params={{ id: row.id, tab: 'groups' }}>
        {name}
      </Link>
    );
  }
  if (kind === 'groups') {
    return (
      <Link data-row-link to="/auth/groups/$id/$tab" params={{ id: row.id, tab: 'members' }}>
        {name}
      </Link>
    );
  }
  return (
    <Link data-row-link to="/auth/policies/$id" params={{ id: row.id }}>
      {name}
    </Link>
  );
}

/** What is attached to a user or group, with ways to add and take away. */
export function Attachments({
  listKey,
  kind,
  label,
  emptyText,
  fetchPage,
  attach,
  detach,
}: {
  listKey: readonly string[];
  kind: AttachedKind;
  label: string;
  emptyText: string;
  fetchPage: FetchPage<Attached>;
  attach?: (id: string) => Promise<unknown>;
  detach?: (id: string) => Promise<unknown>;
}): ReactNode {
  const [adding, setAdding] = useState(false);
  const list = usePagedList<Attached>(listKey, fetchPage);
  const refusal = useRefusals();
  const actions =
    kind === 'policies'
      ? { attach: 'auth:AttachPolicy', detach: 'auth:DetachPolicy' }
      : { attach: 'auth:AddGroupMember', detach: 'auth:RemoveGroupMember' };
  const remove = useWrite(async (id: string) => await detach?.(id));
  return (
    <>
      {remove.error !== null && <ErrorNotice error={remove.error} />}
      <section className="box" aria-label={label}>
        {attach !== undefined && (
          <div className="box-head">
            <GuardedButton
              className="right"
              size="compact-sm"
              reason={refusal(actions.attach)}
              leftSection={<Plus size={14} />}
              onClick={() => setAdding(true)}
            >
              Add {one[kind]}
            </GuardedButton>
          </div>
        )}
        <VirtualList
          label={label}
          noun={kind}
          list={list}
          rowHeight={44}
          columns={[
            {
              name: 'Name',
              width: 'minmax(0, 1fr)',
              className: 'ellipsis',
              cell: (row) => <AttachedLink kind={kind} row={row} />,
            },
            {
              name: 'Created',
              width: '120px',
              wide: true,
              className: 'small muted',
              cell: ({ creation_date }) =>
                creation_date === undefined ? '' : <Time seconds={creation_date} />,
            },
            ...(detach === undefined
              ? []
              : [
                  {
                    name: 'Actions',
                    quiet: true,
                    width: '84px',
                    className: 'num',
                    cell: (row: Attached) => (
                      <GuardedButton
                        variant="default"
                        size="compact-sm"
                        reason={refusal(actions.detach)}
                        label={`Remove ${row.name ?? row.id}`}
                        onClick={() => remove.mutate(row.id)}
                      >
                        Remove
                      </GuardedButton>
                    ),
                  },
                ]),
          ]}
          empty={<EmptyState title="None yet">{emptyText}</EmptyState>}
        />
      </section>
      {adding && attach !== undefined && (
        <AddDialog kind={kind} attach={attach} onClose={() => setAdding(false)} />
      )}
    </>
  );
}

function AddDialog({
  kind,
  attach,
  onClose,
}: {
  kind: AttachedKind;
  attach: (id: string) => Promise<unknown>;
  onClose: () => void;
}): ReactNode {
  const [text, setText] = useState('');
  const [prefix] = useDebouncedValue(text, 200);
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() });
  const { data = [] } = useQuery({
    queryKey: ['find', kind, prefix],
    queryFn: () => find(kind, prefix),
    placeholderData: (previous) => previous,
  });
  const add = useWrite((id: string) => attach(id), onClose);
  const chosen = data.find((row) => row.name === text || row.id === text);
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={`Add ${one[kind]}`}
      action="Add"
      busy={add.isPending}
      error={add.error}
      disabled={text === ''}
      onSubmit={() => add.mutate(chosen?.id ?? text)}
    >
      <Combobox
        store={combobox}
        transitionProps={{ duration: 0 }}
        onOptionSubmit={(value) => {
          setText(value);
          combobox.closeDropdown();
        }}
      >
        <Combobox.Target>
          <TextInput
            data-autofocus
            label={`Name of the ${one[kind]}`}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.openDropdown();
            }}
            onFocus={() => combobox.openDropdown()}
            onBlur={() => combobox.closeDropdown()}
            autoComplete="off"
          />
        </Combobox.Target>
        <Combobox.Dropdown hidden={data.length === 0}>
          <Combobox.Options className="options-scroll" mah={220} aria-label={kind}>
            {data.map((row) => (
              <Combobox.Option key={row.id} value={row.name ?? row.id}>
                {row.name ?? row.id}
              </Combobox.Option>
            ))}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </FormDialog>
  );
}
