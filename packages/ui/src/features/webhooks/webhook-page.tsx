import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, ExactTime, Notice, Skeletons, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { Subscription } from '../../lib/api.ts';
import { plural, secondsOf } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import { Deliveries } from './deliveries.tsx';
import { SigningSecret } from './signing-secret.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookState } from './webhook-state.tsx';

/** One webhook: its state, a test, its secret, and what could not be delivered. */
export function WebhookPage(): ReactNode {
  const { id } = useParams({ from: '/app/auth/webhooks/$id' });
  const { data, error } = useQuery({
    queryKey: ['subscription', id],
    queryFn: () =>
      client.get('/events/subscriptions/{subscription}', { params: { path: { subscription: id } } }),
  });
  usePageTitle(data?.url ?? id, 'Webhooks');
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1 className="wrap">
          <Link to="/auth/webhooks">Webhooks</Link> / {id}
        </h1>
      </div>
      {error !== null && <ErrorNotice error={error} />}
      {data === undefined && error === null && <Skeletons />}
      {data !== undefined && (
        <>
          <Facts subscription={data} />
          <Deliveries id={id} />
        </>
      )}
    </div>
  );
}

function Facts({ subscription }: { subscription: Subscription }): ReactNode {
  const navigate = useNavigate();
  const { id, enabled } = subscription;
  const options = { params: { path: { subscription: id } } };
  const reason = useRefusals()('fs:WriteSubscription');
  const [asked, setAsked] = useState<'change' | 'rotate' | 'delete'>();
  const [secret, setSecret] = useState<string>();
  const close = (): void => setAsked(undefined);
  const test = useWrite(() => client.post('/events/subscriptions/{subscription}/test', options));
  const turn = useWrite((on: boolean) =>
    client.patch('/events/subscriptions/{subscription}', { ...options, body: { enabled: on } }),
  );
  const rotate = useWrite(
    () => client.post('/events/subscriptions/{subscription}/rotate_secret', options),
    (answer) => {
      close();
      setSecret(answer.secret);
    },
  );
  const remove = useWrite(
    () => client.delete('/events/subscriptions/{subscription}', options),
    () => {
      notifications.show({ message: 'Webhook deleted' });
      void navigate({ to: '/auth/webhooks' });
    },
  );
  const failure = test.error ?? turn.error;
  return (
    <>
      {failure !== null && <ErrorNotice error={failure} />}
      {test.data !== undefined && <TestResult {...test.data} />}
      <section className="box" aria-label="Webhook">
        <div className="box-body stack">
          <dl className="facts">
            <dt>Address</dt>
            <dd className="wrap">{subscription.url}</dd>
            <dt>State</dt>
            <dd>
              <WebhookState state={subscription.state} />{' '}
              {subscription.lag > 0 && (
                <span className="muted">{plural(subscription.lag, 'event')} behind</span>
              )}
              {subscription.disabled_reason !== undefined && (
                <div className="muted">{subscription.disabled_reason}</div>
              )}
            </dd>
            <dt>Events</dt>
            <dd className="wrap">
              {subscription.types.join(', ')} of {subscription.repository ?? 'all repositories'}
              {subscription.subject !== undefined && `, ${subscription.subject}`}
            </dd>
            {Object.keys(subscription.headers).length > 0 && (
              <>
                <dt>Headers</dt>
                <dd>{Object.keys(subscription.headers).join(', ')}</dd>
              </>
            )}
            {subscription.description !== undefined && subscription.description !== '' && (
              <>
                <dt>Description</dt>
                <dd className="wrap">{subscription.description}</dd>
              </>
            )}
            <dt>Owner</dt>
            <dd>
              {subscription.owner}, since <ExactTime seconds={secondsOf(subscription.created_at)} />
            </dd>
          </dl>
          <div className="row">
            <GuardedButton
              variant="default"
              reason={reason}
              loading={test.isPending}
              onClick={() => test.mutate(undefined)}
            >
              Send a test
            </GuardedButton>
            <GuardedButton variant="default" reason={reason} onClick={() => setAsked('change')}>
              Change
            </GuardedButton>
            <GuardedButton
              variant="default"
              reason={reason}
              loading={turn.isPending}
              onClick={() => turn.mutate(!enabled)}
            >
              {enabled ? 'Disable' : 'Enable'}
            </GuardedButton>
            <GuardedButton variant="default" reason={reason} onClick={() => setAsked('rotate')}>
              New secret
            </GuardedButton>
            <GuardedButton variant="default" reason={reason} onClick={() => setAsked('delete')}>
              Delete
            </GuardedButton>
          </div>
        </div>
      </section>
      {asked === 'change' && <WebhookDialog subscription={subscription} onClose={close} onDone={close} />}
      <ConfirmDialog
        danger={false}
        opened={asked === 'rotate'}
        onClose={close}
        title="New signing secret"
        action="Make a new secret"
        busy={rotate.isPending}
        error={rotate.error}
        onSubmit={() => rotate.mutate(undefined)}
      >
        Deliveries are signed with both secrets for a day; then only with the new one.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked === 'delete'}
        onClose={close}
        title="Delete webhook"
        action="Delete"
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => remove.mutate(undefined)}
      >
        Nothing is sent to <strong className="wrap">{subscription.url}</strong> any more. What was not
        delivered is forgotten.
      </ConfirmDialog>
      {secret !== undefined && <SigningSecret secret={secret} onClose={() => setSecret(undefined)} />}
    </>
  );
}

function TestResult(result: { status_code: number; duration_ms: number; error?: string }): ReactNode {
  const ok = result.error === undefined;
  return (
    <Notice kind={ok ? 'good' : 'error'} title={ok ? 'The test arrived' : 'The test failed'}>
      {result.status_code > 0 && `Status ${result.status_code}, `}
      {Math.round(result.duration_ms)} ms{!ok && `: ${result.error}`}
    </Notice>
  );
}
