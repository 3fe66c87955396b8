import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Time } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { Policy } from '../../lib/api.ts';
import { plural } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePolicyMode } from './admin-layout.tsx';
import { NamedListPage } from './named-list-page.tsx';
import { PolicyDialog } from './policy-dialog.tsx';

export function PoliciesPage(): ReactNode {
  const { prefix = '' } = useSearch({ from: '/app/auth/policies' });
  const navigate = useNavigate();
  const { editable } = usePolicyMode();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <NamedListPage<Policy>
        title="Policies"
        noun="policy"
        to="/auth/policies"
        prefix={prefix}
        intro="A policy allows or denies actions on resources. Attach it to groups or users."
        snippet="svcctl auth policies list"
        fetchPage={async (after, amount, signal) =>
          toPage(await client.get('/auth/policies', { params: { query: { prefix, after, amount } }, signal }))
        }
        remove={
          editable
            ? (policyId) => client.delete('/auth/policies/{policyId}', { params: { path: { policyId } } })
            : undefined
        }
        onCreate={editable ? () => setCreating(true) : undefined}
        columns={[
          {
            name: 'Policy',
            width: 'minmax(0, 1fr)',
            cell: ({ id }) => (
              <Link data-row-link className="ellipsis" to="/auth/policies/$id" params={{ id }}>
                {id}
              </Link>
            ),
          },
          {
            name: 'Statements',
            width: '120px',
            wide: true,
            className: 'small muted',
            cell: ({ statement }) => plural(statement.length, 'statement'),
          },
          {
            name: 'Created',
            width: '120px',
            className: 'small muted num',
            cell: ({ creation_date }) =>
              creation_date === undefined ? '' : <Time seconds={creation_date} />,
          },
        ]}
      />
      {creating && (
        <PolicyDialog
          onClose={() => setCreating(false)}
          onSaved={(id) => {
            setCreating(false);
            void navigate({ to: '/auth/policies/$id', params: { id } });
          }}
        />
      )}
    </>
  );
}
