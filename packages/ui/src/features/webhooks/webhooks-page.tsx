import { Link, useNavigate } from '@tanstack/react-router';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, usePageTitle } from '../../kit/basics.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { Subscription } from '../../lib/api.ts';
import { plural } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { SigningSecret } from './signing-secret.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookState } from './webhook-state.tsx';

export function WebhooksPage(): ReactNode {
  usePageTitle('Webhooks');
  const navigate = useNavigate();
  const refusal = useRefusals();
  const [creating, setCreating] = useState(false);
  const [fresh, setFresh] = useState<{ id: string; secret: string }>();
  const list = usePagedList<Subscription>(['subscriptions'], async (_after, _amount, signal) =>
    toPage(await client.get('/events/subscriptions', { signal })),
  );
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>Webhooks</h1>
        <div className="right row">
          <GuardedButton
            reason={refusal('fs:WriteSubscription')}
            leftSection={<Plus size={15} />}
            onClick={() => setCreating(true)}
          >
            Create webhook
          </GuardedButton>
        </div>
      </div>
      <div className="muted">
        What happens is sent to these addresses, signed, as often as it takes. A webhook sees what its owner
        may read.
      </div>
      <div className="box">
        <VirtualList
          label="Webhooks"
          noun="webhooks"
          list={list}
          rowHeight={56}
          columns={[
            {
              name: 'Address',
              width: 'minmax(0, 1fr)',
              cell: ({ id, url, repository, types, description }) => (
                <div>
                  <div className="ellipsis">
                    <Link data-row-link className="strong" to="/auth/webhooks/$id" params={{ id }}>
                      {url}
                    </Link>
                  </div>
                  <div className="small muted ellipsis">
                    {repository ?? 'all repositories'} · {types.join(', ')}
                    {description !== undefined && description !== '' && ` · ${description}`}
                  </div>
                </div>
              ),
            },
            {
              name: 'Owner',
              width: 'minmax(60px, 140px)',
              wide: true,
              className: 'small muted ellipsis',
              cell: ({ owner }) => owner,
            },
            {
              name: 'State',
              width: '140px',
              className: 'small',
              cell: ({ state, lag }) => (
                <div>
                  <WebhookState state={state} />
                  {lag > 0 && <div className="muted">{plural(lag, 'event')} behind</div>}
                </div>
              ),
            },
          ]}
          empty={
            <EmptyState
              icon={<Webhook size={36} aria-hidden />}
              title="No webhooks"
              snippet="svcctl subscription create --url https://hooks.example.com/svc --types 'svc.branch.*'"
            >
              Have commits, merges, pull requests and other events sent to a web address.
            </EmptyState>
          }
        />
      </div>
      {creating && (
        <WebhookDialog
          onClose={() => setCreating(false)}
          onDone={(id, secret) => {
            setCreating(false);
            if (secret !== undefined) setFresh({ id, secret });
          }}
        />
      )}
      {fresh !== undefined && (
        <SigningSecret
          secret={fresh.secret}
          onClose={() => {
            const { id } = fresh;
            setFresh(undefined);
            void navigate({ to: '/auth/webhooks/$id', params: { id } });
          }}
        />
      )}
    </div>
  );
}
