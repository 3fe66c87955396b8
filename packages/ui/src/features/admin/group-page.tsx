import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorNotice, usePageTitle } from '../../kit/basics.tsx';
import { useActiveInSight } from '../../kit/use-active-in-sight.ts';
import { client } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePolicyMode } from './admin-layout.tsx';
import { Attachments } from './attachments.tsx';

export function GroupPage(): ReactNode {
  const { id, tab } = useParams({ from: '/app/auth/groups/$id/$tab' });
  const { visible } = usePolicyMode();
  const { data, error } = useQuery({
    queryKey: ['auth-group', id],
    queryFn: () => client.get('/auth/groups/{groupId}', { params: { path: { groupId: id } } }),
  });
  usePageTitle(data?.name ?? id, 'Groups');
  const tabs = useActiveInSight();
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>
          <Link to="/auth/groups">Groups</Link> / {data?.name ?? id}
        </h1>
      </div>
      {data?.description !== undefined && <div className="muted">{data.description}</div>}
      {error !== null && <ErrorNotice error={error} />}
      <nav className="tabs line" aria-label="Group" ref={tabs}>
        <Link to="/auth/groups/$id/$tab" params={{ id, tab: 'members' }}>
          Members
        </Link>
        {visible && (
          <Link to="/auth/groups/$id/$tab" params={{ id, tab: 'policies' }}>
            Policies
          </Link>
        )}
      </nav>
      {tab === 'policies' ? (
        <Attachments
          key="policies"
          listKey={['group-policies', id]}
          kind="policies"
          label={`Policies of ${id}`}
          emptyText="Members of this group get no permission from it yet."
          fetchPage={async (after, amount, signal) =>
            toPage(
              await client.get('/auth/groups/{groupId}/policies', {
                params: { path: { groupId: id }, query: { after, amount } },
                signal,
              }),
            )
          }
          attach={(policyId) =>
            client.put('/auth/groups/{groupId}/policies/{policyId}', {
              params: { path: { groupId: id, policyId } },
            })
          }
          detach={(policyId) =>
            client.delete('/auth/groups/{groupId}/policies/{policyId}', {
              params: { path: { groupId: id, policyId } },
            })
          }
        />
      ) : (
        <Attachments
          key="members"
          listKey={['group-members', id]}
          kind="users"
          label={`Members of ${id}`}
          emptyText="Add users to give them the permissions of this group."
          fetchPage={async (after, amount, signal) =>
            toPage(
              await client.get('/auth/groups/{groupId}/members', {
                params: { path: { groupId: id }, query: { after, amount } },
                signal,
              }),
            )
          }
          attach={(userId) =>
            client.put('/auth/groups/{groupId}/members/{userId}', {
              params: { path: { groupId: id, userId } },
            })
          }
          detach={(userId) =>
            client.delete('/auth/groups/{groupId}/members/{userId}', {
              params: { path: { groupId: id, userId } },
            })
          }
        />
      )}
    </div>
  );
}
