import { Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Time } from '../../kit/basics.tsx';
import { ConfirmDialog, FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Group } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { useLoginConfig, useWrite } from '../../lib/queries.ts';
import { NamedListPage } from './named-list-page.tsx';

function AclSelect({ groupId }: { groupId: string }): ReactNode {
  const { data, refetch } = useQuery({
    queryKey: ['acl', groupId],
    // A group without an access level is refused as not found: the field stays empty.
    queryFn: () =>
      client.get('/auth/groups/{groupId}/acl', { params: { path: { groupId } } }).catch(() => null),
  });
  const save = useWrite((permission: string) =>
    client.post('/auth/groups/{groupId}/acl', { params: { path: { groupId } }, body: { permission } }),
  );
  const [replacing, setReplacing] = useState<string>();
  const choose = (value: string): void =>
    save.mutate(value, {
      onSettled: () => {
        setReplacing(undefined);
        void refetch();
      },
    });
  return (
    <>
      <Select
        size="xs"
        aria-label={`Permission of ${groupId}`}
        data={['Read', 'Write', 'Super', 'Admin']}
        value={data?.permission || null}
        placeholder={data === null ? 'Own policies' : undefined}
        error={save.error?.message}
        onChange={(value) => {
          if (value === null) return;
          if (data === null) setReplacing(value);
          else choose(value);
        }}
      />
      <ConfirmDialog
        opened={replacing !== undefined}
        onClose={() => setReplacing(undefined)}
        title="Replace the policies of the group"
        action={`Set ${replacing ?? ''}`}
        busy={save.isPending}
        error={save.error}
        onSubmit={() => replacing !== undefined && choose(replacing)}
      >
        <strong>{groupId}</strong> has policies of its own, made in another mode. The level{' '}
        <strong>{replacing}</strong> takes their place: its members may then do what that level says, and
        nothing else.
      </ConfirmDialog>
    </>
  );
}

export function GroupsPage(): ReactNode {
  const { prefix = '' } = useSearch({ from: '/app/auth/groups' });
  const navigate = useNavigate();
  const simplified = useLoginConfig()?.RBAC === 'simplified';
  const [creating, setCreating] = useState(false);
  const [id, setId] = useState('');
  const [description, setDescription] = useState('');
  const create = useWrite(
    () =>
      client.post('/auth/groups', { body: { id: id.trim(), ...(description !== '' && { description }) } }),
    (group) => {
      setCreating(false);
      void navigate({ to: '/auth/groups/$id/$tab', params: { id: group.id, tab: 'members' } });
    },
  );
  return (
    <>
      <NamedListPage<Group>
        title="Groups"
        noun="group"
        to="/auth/groups"
        prefix={prefix}
        intro="Members of a group have the permissions of its policies."
        snippet="svcctl auth groups create --id analysts"
        fetchPage={async (after, amount, signal) =>
          toPage(await client.get('/auth/groups', { params: { query: { prefix, after, amount } }, signal }))
        }
        nameOf={(group) => group.name ?? group.id}
        remove={(groupId) => client.delete('/auth/groups/{groupId}', { params: { path: { groupId } } })}
        onCreate={() => {
          setId('');
          setDescription('');
          create.reset();
          setCreating(true);
        }}
        columns={[
          {
            name: 'Group',
            width: 'minmax(0, 1fr)',
            cell: (group) => (
              <Link
                data-row-link
                className="ellipsis"
                to="/auth/groups/$id/$tab"
                params={{ id: group.id, tab: 'members' }}
              >
                {group.name ?? group.id}
              </Link>
            ),
          },
          {
            name: 'Description',
            width: 'minmax(0, 1fr)',
            wide: true,
            className: 'small muted ellipsis',
            cell: ({ description: text }) => text ?? '',
          },
          ...(simplified
            ? [
                {
                  name: 'Permission',
                  width: '130px',
                  cell: ({ id: groupId }: Group) => <AclSelect groupId={groupId} />,
                },
              ]
            : []),
          {
            name: 'Created',
            width: '120px',
            className: 'small muted num',
            cell: ({ creation_date }) => <Time seconds={creation_date} />,
          },
        ]}
      />
      <FormDialog
        opened={creating}
        onClose={() => setCreating(false)}
        title="Create group"
        action="Create group"
        busy={create.isPending}
        error={create.error}
        disabled={id.trim() === ''}
        onSubmit={() => create.mutate(undefined)}
      >
        <TextInput
          data-autofocus
          label="Group name"
          value={id}
          onChange={(event) => setId(event.currentTarget.value)}
          autoComplete="off"
        />
        <TextInput
          label="Description"
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
      </FormDialog>
    </>
  );
}
