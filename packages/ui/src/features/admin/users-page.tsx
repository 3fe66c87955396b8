import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Checkbox } from '@mantine/core';
import { Tag, Time } from '../../kit/basics.tsx';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { User } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { capabilitiesQuery, userQuery, useWrite } from '../../lib/queries.ts';
import { NamedListPage } from './named-list-page.tsx';

export function UsersPage(): ReactNode {
  const { prefix = '' } = useSearch({ from: '/app/auth/users' });
  const me = useQuery(userQuery).data;
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const [id, setId] = useState('');
  const [invite, setInvite] = useState(false);
  const canInvite = useQuery(capabilitiesQuery).data?.invite_user === true;
  const create = useWrite(
    () => client.post('/auth/users', { body: { id: id.trim(), ...(invite && { invite_user: true }) } }),
    (user) => {
      setCreating(false);
      void navigate({ to: '/auth/users/$id/$tab', params: { id: user.id, tab: 'groups' } });
    },
  );
  const problem = id.includes('%') ? 'The name may not contain %' : undefined;
  return (
    <>
      <NamedListPage<User>
        title="Users"
        noun="user"
        to="/auth/users"
        prefix={prefix}
        intro="A user gets permissions from groups and from policies of its own, and logs in with access keys."
        snippet="svcctl auth users create --id alice"
        fetchPage={async (after, amount, signal) =>
          toPage(await client.get('/auth/users', { params: { query: { prefix, after, amount } }, signal }))
        }
        nameOf={(user) => user.friendly_name || user.email || user.id}
        keep={me?.id}
        remove={(userId) => client.delete('/auth/users/{userId}', { params: { path: { userId } } })}
        onCreate={() => {
          setId('');
          create.reset();
          setCreating(true);
        }}
        columns={[
          {
            name: 'User',
            width: 'minmax(0, 1fr)',
            cell: (user) => (
              <span className="row nowrap">
                <Link
                  data-row-link
                  className="ellipsis"
                  to="/auth/users/$id/$tab"
                  params={{ id: user.id, tab: 'groups' }}
                >
                  {user.friendly_name || user.email || user.id}
                </Link>
                {user.id === me?.id && <Tag kind="info">you</Tag>}
              </span>
            ),
          },
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
        title="Create user"
        action="Create user"
        busy={create.isPending}
        error={create.error}
        disabled={id.trim() === '' || problem !== undefined}
        onSubmit={() => create.mutate(undefined)}
      >
        <TextInput
          data-autofocus
          label={invite ? 'E-mail address' : 'User name'}
          value={id}
          error={problem}
          onChange={(event) => setId(event.currentTarget.value)}
          autoComplete="off"
        />
        {canInvite && (
          <Checkbox
            label="Invite by e-mail"
            checked={invite}
            onChange={(event) => setInvite(event.currentTarget.checked)}
          />
        )}
      </FormDialog>
    </>
  );
}
