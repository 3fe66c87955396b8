import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, ExactTime } from '../../kit/basics.tsx';
import { ListTabs } from '../../kit/list-tabs.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Delivery } from '../../lib/api.ts';
import { plural, secondsOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { useWrite } from '../../lib/queries.ts';
import { usePagedList, usePagedState } from '../../lib/use-paged-list.ts';

const tabs = [
  ['failing', 'Failing'],
  ['dead', 'Dead letters'],
] as const;

/** Deliveries that failed: those that are tried again, and those given up. */
export function Deliveries({ id }: { id: string }): ReactNode {
  const [state, setState] = useState<'failing' | 'dead'>('failing');
  const path = { subscription: id };
  const list = usePagedList<Delivery>(['deliveries', id, state], async (_after, _amount, signal) =>
    toPage(
      await client.get('/events/subscriptions/{subscription}/deliveries', {
        params: { path, query: { state } },
        signal,
      }),
    ),
  );
  const { count } = usePagedState(list);
  const again = useWrite((sequences: string[] | undefined) =>
    client.post('/events/subscriptions/{subscription}/deliveries/redeliver', {
      params: { path },
      body: sequences === undefined ? { all: true } : { sequences },
    }),
  );
  const discard = useWrite((sequence: string) =>
    client.delete('/events/subscriptions/{subscription}/deliveries', {
      params: { path, query: { sequence } },
    }),
  );
  const failure = again.error ?? discard.error;
  return (
    <>
      {failure !== null && <ErrorNotice error={failure} />}
      <section className="box" aria-label="Deliveries">
        <ListTabs label="Deliveries" tabs={tabs} value={state} onChange={setState} />
        {count > 0 && (
          <div className="box-head">
            <Button
              className="right"
              variant="default"
              size="compact-sm"
              loading={again.isPending}
              onClick={() => again.mutate(undefined)}
            >
              Retry all
            </Button>
          </div>
        )}
        <VirtualList
          label={state === 'dead' ? 'Dead letters' : 'Failing deliveries'}
          noun="deliveries"
          list={list}
          rowHeight={60}
          header={false}
          columns={[
            {
              name: 'Event',
              width: 'minmax(0, 1fr)',
              cell: ({ sequence, event, attempts, last_status, last_error, next_attempt }) => (
                <div>
                  <div className="row nowrap">
                    <span className="mono small muted">{Number(sequence)}</span>
                    <span className="ellipsis">
                      {event === undefined ? 'not yours to read' : `${event.type} ${event.subject ?? ''}`}
                    </span>
                  </div>
                  <div className="small muted ellipsis">
                    {plural(attempts, 'attempt')}
                    {last_status !== undefined && last_status > 0 && `, status ${last_status}`}
                    {last_error !== undefined && `, ${last_error}`}
                    {next_attempt !== undefined && (
                      <>
                        , next <ExactTime seconds={secondsOf(next_attempt)} />
                      </>
                    )}
                  </div>
                </div>
              ),
            },
            {
              name: 'Actions',
              width: '150px',
              className: 'num',
              cell: ({ sequence }) => (
                <span className="row nowrap end closest">
                  <Button variant="default" size="compact-sm" onClick={() => again.mutate([sequence])}>
                    Retry
                  </Button>
                  <Button variant="default" size="compact-sm" onClick={() => discard.mutate(sequence)}>
                    Discard
                  </Button>
                </span>
              ),
            },
          ]}
          empty={
            <EmptyState title={state === 'dead' ? 'No dead letters' : 'Nothing is failing'}>
              {state === 'dead'
                ? 'What could not be delivered after the last attempt waits here for 30 days.'
                : 'Everything was delivered, or waits for its turn.'}
            </EmptyState>
          }
        />
      </section>
    </>
  );
}
