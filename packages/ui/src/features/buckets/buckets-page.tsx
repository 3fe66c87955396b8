import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Package, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, CopyButton, EmptyState, Time, usePageTitle } from '../../kit/basics.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import type { Alias } from '../../lib/api.ts';
import { secondsOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { BucketDialog } from './bucket-dialog.tsx';
import { BucketTags } from './bucket-tags.tsx';
import { PlaceText } from './place-text.tsx';

/** Bucket names that stand for a ref, for whoever reads `s3://prod/…`. */
export function BucketsPage(): ReactNode {
  usePageTitle('Buckets');
  const { prefix = '' } = useSearch({ from: '/app/auth/buckets' });
  const navigate = useNavigate();
  const refusal = useRefusals();
  const [creating, setCreating] = useState(false);
  const setPrefix = (value: string): void =>
    void navigate({
      to: '/auth/buckets',
      search: { prefix: value === '' ? undefined : value },
      replace: true,
    });
  const list = usePagedList<Alias>(['aliases', prefix], async (after, amount, signal) =>
    toPage(await client.get('/aliases', { params: { query: { prefix, after, amount } }, signal })),
  );
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>Buckets</h1>
        <div className="right row">
          <FilterField
            label="Find buckets that start with"
            placeholder="Find a bucket"
            value={prefix}
            onFilter={setPrefix}
          />
          <GuardedButton
            reason={refusal('fs:CreateAlias')}
            leftSection={<Plus size={15} />}
            onClick={() => setCreating(true)}
          >
            Create bucket
          </GuardedButton>
        </div>
      </div>
      <div className="muted">
        S3 tools read s3://name/… without a branch in the path; one swap changes what all of them see.
      </div>
      <div className="box">
        <VirtualList
          label="Buckets"
          noun="buckets"
          list={list}
          rowHeight={56}
          columns={[
            {
              name: 'Bucket',
              width: 'minmax(0, 1fr)',
              cell: (alias) => (
                <div>
                  <div className="row nowrap">
                    <Link
                      data-row-link
                      className="ellipsis strong"
                      to="/auth/buckets/$name"
                      params={{ name: alias.name }}
                    >
                      {alias.name}
                    </Link>
                    <CopyButton text={`s3://${alias.name}/`} label={`Copy s3://${alias.name}/`} />
                    <BucketTags alias={alias} />
                  </div>
                  <div className="small ellipsis">
                    <PlaceText place={alias} />
                  </div>
                </div>
              ),
            },
            {
              name: 'Changed',
              width: 'minmax(90px, 190px)',
              wide: true,
              className: 'small',
              cell: ({ updated_by, updated_at }) => (
                <div>
                  <div className="ellipsis">{updated_by}</div>
                  <div className="muted">
                    <Time seconds={secondsOf(updated_at)} />
                  </div>
                </div>
              ),
            },
          ]}
          empty={
            <EmptyState
              icon={<Package size={36} aria-hidden />}
              title={prefix === '' ? 'No buckets' : `No bucket starts with “${prefix}”`}
              actions={prefix !== '' && <ClearFilter onClear={() => setPrefix('')} />}
              snippet="svcctl alias create prod svc://my-data/main --pin"
            >
              A bucket is a name for a branch, a tag, a commit or a moment, or for a folder of it.
            </EmptyState>
          }
        />
      </div>
      {creating && (
        <BucketDialog
          onClose={() => setCreating(false)}
          onDone={({ name }) => {
            setCreating(false);
            void navigate({ to: '/auth/buckets/$name', params: { name } });
          }}
        />
      )}
    </div>
  );
}
