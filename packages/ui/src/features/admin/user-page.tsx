import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorNotice, usePageTitle } from '../../kit/basics.tsx';
import { useActiveInSight } from '../../kit/use-active-in-sight.ts';
import { client } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePolicyMode } from './admin-layout.tsx';
import { Attachments } from './attachments.tsx';
import { CredentialsList } from './credentials-page.tsx';
import { SessionList } from './sessions-page.tsx';

function UserHead({ id }: { id: string }): ReactNode {
  const { visible } = usePolicyMode();
  const { data, error } = useQuery({
    queryKey: ['auth-user', id],
    queryFn: () => client.get('/auth/users/{userId}', { params: { path: { userId: id } } }),
  });
  usePageTitle(id, 'Users');
  const tabs = useActiveInSight();
  return (
    <>
      <div className="page-head flush">
        <h1>
          <Link to="/auth/users">Users</Link> / {data?.friendly_name || data?.email || id}
        </h1>
      </div>
      {error !== null && <ErrorNotice error={error} />}
      <nav className="tabs line" aria-label="User" ref={tabs}>
        <Link to="/auth/users/$id/$tab" params={{ id, tab: 'groups' }}>
          Groups
        </Link>
        {visible && (
          <>
            <Link to="/auth/users/$id/$tab" params={{ id, tab: 'policies' }} activeOptions={{ exact: true }}>
              Policies
            </Link>
            <Link to="/auth/users/$id/policies/effective" params={{ id }}>
              Effective policies
            </Link>
          </>
        )}
        <Link to="/auth/users/$id/$tab" params={{ id, tab: 'credentials' }}>
          Access keys
        </Link>
        <Link to="/auth/users/$id/$tab" params={{ id, tab: 'sessions' }}>
          Sessions
        </Link>
      </nav>
    </>
  );
}

export function UserPage(): ReactNode {
  const { id, tab } = useParams({ from: '/app/auth/users/$id/$tab' });
  return (
    <div className="stack">
      <UserHead id={id} />
      {tab === 'credentials' ? (
        <CredentialsList userId={id} />
      ) : tab === 'sessions' ? (
        <SessionList userId={id} isOwn={false} />
      ) : tab === 'policies' ? (
        <Attachments
          key="policies"
          listKey={['user-policies', id]}
          kind="policies"
          label={`Policies of ${id}`}
          emptyText="Policies attached here apply to this user alone; usually a group is the better place."
          fetchPage={async (after, amount, signal) =>
            toPage(
              await client.get('/auth/users/{userId}/policies', {
                params: { path: { userId: id }, query: { after, amount } },
                signal,
              }),
            )
          }
          attach={(policyId) =>
            client.put('/auth/users/{userId}/policies/{policyId}', {
              params: { path: { userId: id, policyId } },
            })
          }
          detach={(policyId) =>
            client.delete('/auth/users/{userId}/policies/{policyId}', {
              params: { path: { userId: id, policyId } },
            })
          }
        />
      ) : (
        <Attachments
          key="groups"
          listKey={['user-groups', id]}
          kind="groups"
          label={`Groups of ${id}`}
          emptyText="A user in no group and without policies may do nothing."
          fetchPage={async (after, amount, signal) =>
            toPage(
              await client.get('/auth/users/{userId}/groups', {
                params: { path: { userId: id }, query: { after, amount } },
                signal,
              }),
            )
          }
          attach={(groupId) =>
            client.put('/auth/groups/{groupId}/members/{userId}', {
              params: { path: { groupId, userId: id } },
            })
          }
          detach={(groupId) =>
            client.delete('/auth/groups/{groupId}/members/{userId}', {
              params: { path: { groupId, userId: id } },
            })
          }
        />
      )}
    </div>
  );
}

export function EffectivePoliciesPage(): ReactNode {
  const { id } = useParams({ from: '/app/auth/users/$id/policies/effective' });
  return (
    <div className="stack">
      <UserHead id={id} />
      <Attachments
        listKey={['effective-policies', id]}
        kind="policies"
        label={`Effective policies of ${id}`}
        emptyText="Neither this user nor any of its groups has a policy."
        fetchPage={async (after, amount, signal) =>
          toPage(
            await client.get('/auth/users/{userId}/policies', {
              params: { path: { userId: id }, query: { after, amount, effective: true } },
              signal,
            }),
          )
        }
      />
    </div>
  );
}
