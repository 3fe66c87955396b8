import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { ArrowLeftRight, ArrowRight, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import {
  CopyButton,
  EmptyState,
  ErrorNotice,
  ExactTime,
  Skeletons,
  Snippet,
  Tag,
  Time,
  usePageTitle,
} from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { Alias, AliasMove } from '../../lib/api.ts';
import { secondsOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { svcUri } from '../../lib/paths.ts';
import { useWrite } from '../../lib/queries.ts';
import { shellQuote } from '../../lib/snippets.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { BucketDialog } from './bucket-dialog.tsx';
import { BucketTags } from './bucket-tags.tsx';
import { PlaceText } from './place-text.tsx';

/** One bucket: what it shows, what it showed before, and ways to swap it. */
export function BucketPage(): ReactNode {
  const { name } = useParams({ from: '/app/auth/buckets/$name' });
  const navigate = useNavigate();
  usePageTitle(name, 'Buckets');
  const refusal = useRefusals();
  const [asked, setAsked] = useState<'swap' | 'delete'>();
  const [back, setBack] = useState<AliasMove>();
  const path = { alias: name };
  const { data: alias, error } = useQuery({
    queryKey: ['alias', name],
    queryFn: () => client.get('/aliases/{alias}', { params: { path } }),
  });
  const list = usePagedList<AliasMove>(['alias-log', name], async (after, amount, signal) =>
    toPage(await client.get('/aliases/{alias}/log', { params: { path, query: { after, amount } }, signal })),
  );
  const rollback = useWrite(
    (move: AliasMove) =>
      client.post('/aliases/{alias}/rollback', { params: { path }, body: { move_id: move.id } }),
    ({ repository, ref }: Alias) => {
      setBack(undefined);
      notifications.show({ message: `${name} shows ${repository}/${ref} again` });
    },
  );
  const remove = useWrite(
    () => client.delete('/aliases/{alias}', { params: { path } }),
    () => void navigate({ to: '/auth/buckets' }),
  );
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>
          <Link to="/auth/buckets">Buckets</Link> / {name}
        </h1>
        {alias !== undefined && (
          <div className="right row">
            <GuardedButton
              reason={refusal('fs:UpdateAlias')}
              leftSection={<ArrowLeftRight size={15} />}
              onClick={() => setAsked('swap')}
            >
              Swap
            </GuardedButton>
            <GuardedButton
              variant="default"
              reason={refusal('fs:DeleteAlias')}
              leftSection={<Trash2 size={15} />}
              onClick={() => setAsked('delete')}
            >
              Delete
            </GuardedButton>
          </div>
        )}
      </div>
      {error !== null && <ErrorNotice error={error} />}
      {alias === undefined && error === null && <Skeletons />}
      {alias !== undefined && (
        <>
          <section className="box" aria-label="Bucket">
            <div className="box-body stack">
              <dl className="facts">
                <dt>Address</dt>
                <dd className="row nowrap">
                  <code>s3://{name}/</code>
                  <CopyButton text={`s3://${name}/`} label={`Copy s3://${name}/`} />
                </dd>
                <dt>Shows</dt>
                <dd className="row">
                  <PlaceText place={alias} /> <BucketTags alias={alias} />
                </dd>
                {alias.description !== '' && (
                  <>
                    <dt>Description</dt>
                    <dd className="wrap">{alias.description}</dd>
                  </>
                )}
                <dt>Changed</dt>
                <dd>
                  by {alias.updated_by}, <ExactTime seconds={secondsOf(alias.updated_at)} />
                </dd>
              </dl>
              <Snippet code={`aws s3 ls s3://${name}/ \\\n  --endpoint-url ${globalThis.location.origin}`} />
              <Snippet
                code={`svcctl alias set ${name} ${shellQuote(svcUri(alias.repository, alias.ref, alias.prefix))}${alias.pinned ? ' --pin' : ''}`}
              />
            </div>
          </section>
          <section className="box" aria-label="History of the bucket">
            <div className="box-head">
              <h2>History</h2>
            </div>
            <VirtualList
              label="What it showed"
              noun="moves"
              list={list}
              rowHeight={56}
              header={false}
              columns={[
                {
                  name: 'Move',
                  width: 'minmax(0, 1fr)',
                  cell: (move) => (
                    <div>
                      <div className="row nowrap ellipsis">
                        <Tag>{move.kind}</Tag>
                        {move.old !== undefined && (
                          <>
                            <span className="hide-narrow ellipsis">
                              <PlaceText place={move.old} />
                            </span>
                            <ArrowRight size={14} aria-label="to" className="muted hide-narrow" />
                          </>
                        )}
                        {move.new !== undefined && (
                          <span className="ellipsis">
                            <PlaceText place={move.new} />
                          </span>
                        )}
                      </div>
                      <div className="small muted">
                        {move.user}, <Time seconds={secondsOf(move.time)} />
                      </div>
                    </div>
                  ),
                },
                {
                  name: 'Actions',
                  width: '120px',
                  className: 'num',
                  cell: (move) =>
                    move.old === undefined ? null : (
                      <Button
                        variant="default"
                        size="compact-sm"
                        leftSection={<RotateCcw size={14} />}
                        onClick={() => setBack(move)}
                      >
                        Roll back
                      </Button>
                    ),
                },
              ]}
              empty={<EmptyState title="Nothing is recorded" />}
            />
          </section>
          {asked === 'swap' && (
            <BucketDialog
              alias={alias}
              onClose={() => setAsked(undefined)}
              onDone={() => setAsked(undefined)}
            />
          )}
          <ConfirmDialog
            opened={asked === 'delete'}
            onClose={() => setAsked(undefined)}
            title={`Delete ${name}`}
            action="Delete bucket"
            busy={remove.isPending}
            error={remove.error}
            onSubmit={() => remove.mutate(undefined)}
          >
            Whoever reads <code>s3://{name}/</code> finds nothing from then on. The data it shows stays.
          </ConfirmDialog>
          <ConfirmDialog
            danger={false}
            opened={back !== undefined}
            onClose={() => setBack(undefined)}
            title={`Roll back ${name}`}
            action="Roll back"
            busy={rollback.isPending}
            error={rollback.error}
            onSubmit={() => back !== undefined && rollback.mutate(back)}
          >
            {back?.old !== undefined && (
              <div className="row">
                <PlaceText place={alias} />
                <ArrowRight size={15} aria-label="to" className="muted" />
                <PlaceText place={back.old} />
              </div>
            )}
          </ConfirmDialog>
        </>
      )}
    </div>
  );
}
