import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ExactTime, Tag, Time, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Session } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { userQuery, useWrite } from '../../lib/queries.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';

export function MySessionsPage(): ReactNode {
  usePageTitle('My sessions');
  const self = useQuery(userQuery).data?.id ?? '';
  return (
    <div className="stack">
      <h1 className="page-title">My sessions</h1>
      <SessionList userId={self} isOwn />
    </div>
  );
}

/** Logins of a user that are still good; each can be ended, or all at once. */
export function SessionList({ userId, isOwn }: { userId: string; isOwn: boolean }): ReactNode {
  const [ending, setEnding] = useState<Session | 'all'>();
  const list = usePagedList<Session>(['sessions', userId], async (after, amount, signal) =>
    toPage(
      isOwn
        ? await client.get('/user/sessions', { params: { query: { after, amount } }, signal })
        : await client.get('/auth/users/{userId}/sessions', {
            params: { path: { userId }, query: { after, amount } },
            signal,
          }),
    ),
  );
  const end = useWrite(
    async (session: Session | 'all') => {
      if (session === 'all') {
        if (isOwn) await client.delete('/user/sessions');
        else await client.delete('/auth/users/{userId}/sessions', { params: { path: { userId } } });
        return;
      }
      const sessionId = session.id;
      if (isOwn) await client.delete('/user/sessions/{sessionId}', { params: { path: { sessionId } } });
      else
        await client.delete('/auth/users/{userId}/sessions/{sessionId}', {
          params: { path: { userId, sessionId } },
        });
    },
    () => setEnding(undefined),
  );
  return (
    <section className="box" aria-label="Sessions">
      <div className="box-head">
        <span className="muted">Where {isOwn ? 'you are' : `${userId} is`} logged in.</span>
        <Button className="right" variant="default" size="compact-sm" onClick={() => setEnding('all')}>
          Log out everywhere
        </Button>
      </div>
      <VirtualList
        label="Sessions"
        noun="sessions"
        list={list}
        rowHeight={52}
        columns={[
          {
            name: 'Session',
            width: 'minmax(0, 1fr)',
            cell: ({ client: agent, source_ip, current }) => (
              <div>
                <div className="row nowrap">
                  <span className="ellipsis" title={agent}>
                    {agent === '' ? 'Unknown program' : agent}
                  </span>
                  {current && <Tag kind="info">this one</Tag>}
                </div>
                <div className="small muted">{source_ip}</div>
              </div>
            ),
          },
          {
            name: 'Began',
            width: '120px',
            wide: true,
            className: 'small muted',
            cell: ({ creation_date }) => <Time seconds={creation_date} />,
          },
          {
            name: 'Ends',
            width: '200px',
            wide: true,
            className: 'small muted',
            cell: ({ expiration_date }) => <ExactTime seconds={expiration_date} />,
          },
          {
            name: 'Actions',
            quiet: true,
            width: '70px',
            className: 'num',
            cell: (session) => (
              <Button variant="default" size="compact-sm" onClick={() => setEnding(session)}>
                End
              </Button>
            ),
          },
        ]}
        empty={
          <EmptyState
            icon={<MonitorSmartphone size={34} aria-hidden />}
            title="No sessions"
            snippet="svcctl auth users sessions list"
          >
            Nobody is logged in with a name and a password. Access keys work without a session.
          </EmptyState>
        }
      />
      <ConfirmDialog
        opened={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title={ending === 'all' ? 'Log out everywhere' : 'End session'}
        action={ending === 'all' ? 'Log out everywhere' : 'End'}
        busy={end.isPending}
        error={end.error}
        onSubmit={() => ending !== undefined && end.mutate(ending)}
      >
        {ending === 'all'
          ? `Every session of ${isOwn ? 'yours' : userId} ends at once, also those that are not listed. Access keys keep working.`
          : 'It ends at once. Whoever uses it has to log in again.'}
      </ConfirmDialog>
    </section>
  );
}
