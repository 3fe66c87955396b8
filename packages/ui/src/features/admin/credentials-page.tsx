import { ActionIcon, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { EllipsisVertical, KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, EmptyState, Skeletons, Tag, Time, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { SecretCard } from '../../kit/secret-card.tsx';
import { SecretDialog } from '../../kit/secret-dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { Credentials, CredentialsWithSecret } from '../../lib/api.ts';
import { sessionKey } from '../../lib/login.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { userQuery, useWrite } from '../../lib/queries.ts';
import { usePreference } from '../../lib/use-preference.ts';
import { PlaceText } from '../buckets/place-text.tsx';
import { ViewDialog } from './view-dialog.tsx';

export function MyCredentialsPage(): ReactNode {
  usePageTitle('My access keys');
  const user = useQuery(userQuery).data;
  return (
    <div className="stack">
      <h1 className="page-title">My access keys</h1>
      {user === undefined || user === null ? <Skeletons /> : <CredentialsList userId={user.id} />}
    </div>
  );
}

/** The access keys of a user; a new secret is shown once and then forgotten. */
export function CredentialsList({ userId }: { userId: string }): ReactNode {
  const [current] = usePreference<string>(sessionKey, '');
  const [asking, setAsking] = useState(false);
  const [revoking, setRevoking] = useState<string>();
  const [fresh, setFresh] = useState<CredentialsWithSecret>();
  const [binding, setBinding] = useState<Credentials>();
  const [releasing, setReleasing] = useState<string>();
  const list = usePagedList<Credentials>(['credentials', userId], async (after, amount, signal) =>
    toPage(
      await client.get('/auth/users/{userId}/credentials', {
        params: { path: { userId }, query: { after, amount } },
        signal,
      }),
    ),
  );
  const create = useWrite(
    () => client.post('/auth/users/{userId}/credentials', { params: { path: { userId } } }),
    (credentials) => {
      setAsking(false);
      setFresh(credentials);
    },
  );
  const release = useWrite(
    (accessKeyId: string) =>
      client.delete('/auth/users/{userId}/credentials/{accessKeyId}/view', {
        params: { path: { userId, accessKeyId } },
      }),
    () => setReleasing(undefined),
  );
  const refusal = useRefusals();
  const revoke = useWrite(
    (accessKeyId: string) =>
      client.delete('/auth/users/{userId}/credentials/{accessKeyId}', {
        params: { path: { userId, accessKeyId } },
      }),
    () => setRevoking(undefined),
  );
  return (
    <>
      <section className="box" aria-label="Access keys">
        <div className="box-head">
          <span className="muted">Programs and the command line client log in with these.</span>
          <GuardedButton
            className="right"
            size="compact-sm"
            reason={refusal('auth:CreateCredentials')}
            leftSection={<Plus size={14} />}
            onClick={() => setAsking(true)}
          >
            Create access key
          </GuardedButton>
        </div>
        <VirtualList
          label="Access keys"
          noun="keys"
          list={list}
          rowHeight={52}
          columns={[
            {
              name: 'Access key ID',
              width: 'minmax(0, 1fr)',
              cell: ({ access_key_id, view }) => (
                <div>
                  <span className="row nowrap">
                    <KeyRound size={15} aria-hidden className="muted" />
                    <code className="ellipsis">{access_key_id}</code>
                    <CopyButton text={access_key_id} label={`Copy ${access_key_id}`} />
                    {access_key_id === current && <Tag kind="info">current</Tag>}
                    {view !== undefined && <Tag kind="changed">S3 only: {view.name}</Tag>}
                  </span>
                  {view !== undefined && (
                    <div className="small ellipsis">
                      <PlaceText place={view} />
                    </div>
                  )}
                </div>
              ),
            },
            {
              name: 'Created',
              width: '120px',
              wide: true,
              className: 'small muted',
              cell: ({ creation_date }) => <Time seconds={creation_date} />,
            },
            {
              name: 'Actions',
              quiet: true,
              width: '118px',
              className: 'num',
              cell: (credentials) =>
                credentials.access_key_id === current ? null : (
                  <span className="row nowrap end closest">
                    <GuardedButton
                      variant="default"
                      size="compact-sm"
                      reason={refusal('auth:DeleteCredentials')}
                      onClick={() => setRevoking(credentials.access_key_id)}
                    >
                      Revoke
                    </GuardedButton>
                    <Menu position="bottom-end" withinPortal>
                      <Menu.Target>
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          size={26}
                          aria-label={`Actions of ${credentials.access_key_id}`}
                        >
                          <EllipsisVertical size={15} />
                        </ActionIcon>
                      </Menu.Target>
                      <Menu.Dropdown>
                        <Menu.Item onClick={() => setBinding(credentials)}>
                          {credentials.view === undefined ? 'Bind to a bucket' : 'Change its bucket'}
                        </Menu.Item>
                        {credentials.view !== undefined && (
                          <Menu.Item onClick={() => setReleasing(credentials.access_key_id)}>
                            Use for everything again
                          </Menu.Item>
                        )}
                      </Menu.Dropdown>
                    </Menu>
                  </span>
                ),
            },
          ]}
          empty={
            <EmptyState
              icon={<KeyRound size={34} aria-hidden />}
              title="No access keys"
              snippet={`svcctl auth users credentials create --id ${userId}`}
            >
              Create one to use svcctl, the API or any S3 tool as this user.
            </EmptyState>
          }
        />
      </section>
      <ConfirmDialog
        danger={false}
        opened={asking}
        onClose={() => setAsking(false)}
        title="Create access key"
        action="Create"
        busy={create.isPending}
        error={create.error}
        onSubmit={() => create.mutate(undefined)}
      >
        Create a new pair of keys for <strong>{userId}</strong>? Whoever holds it may do what this user may.
      </ConfirmDialog>
      <ConfirmDialog
        opened={revoking !== undefined}
        onClose={() => setRevoking(undefined)}
        title="Revoke access key"
        action="Revoke"
        busy={revoke.isPending}
        error={revoke.error}
        onSubmit={() => revoking !== undefined && revoke.mutate(revoking)}
      >
        Programs that use <code>{revoking}</code> stop working at once. If you logged in with it, you are
        logged out.
      </ConfirmDialog>
      <ConfirmDialog
        danger={false}
        opened={releasing !== undefined}
        onClose={() => setReleasing(undefined)}
        title="Use for everything again"
        action="Release"
        busy={release.isPending}
        error={release.error}
        onSubmit={() => releasing !== undefined && release.mutate(releasing)}
      >
        <code>{releasing}</code> is no longer bound to its bucket: it may do everything that{' '}
        <strong>{userId}</strong> may.
      </ConfirmDialog>
      {binding !== undefined && (
        <ViewDialog userId={userId} credentials={binding} onClose={() => setBinding(undefined)} />
      )}
      {fresh !== undefined && (
        <SecretDialog
          title="Access key created"
          onClose={() => {
            setFresh(undefined);
            create.reset();
          }}
        >
          <SecretCard credentials={fresh} />
        </SecretDialog>
      )}
    </>
  );
}
