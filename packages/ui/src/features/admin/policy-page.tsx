import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeletons, Snippet, Tag, usePageTitle } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import { useRefusals } from '../../lib/use-refusals.ts';
import { usePolicyMode } from './admin-layout.tsx';
import { PermissionTest } from './permission-test.tsx';
import { PolicyDialog } from './policy-dialog.tsx';

export function PolicyPage(): ReactNode {
  const { id } = useParams({ from: '/app/auth/policies/$id' });
  const { editable } = usePolicyMode();
  usePageTitle(id, 'Policies');
  const refusal = useRefusals();
  const [view, setView] = useState('table');
  const [editing, setEditing] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['policy', id],
    queryFn: () => client.get('/auth/policies/{policyId}', { params: { path: { policyId: id } } }),
  });
  return (
    <div className="stack">
      <div className="page-head flush">
        <h1>
          <Link to="/auth/policies">Policies</Link> / {id}
        </h1>
        <div className="right row">
          <SegmentedControl
            size="xs"
            aria-label="View"
            value={view}
            onChange={setView}
            data={[
              { value: 'table', label: 'Table' },
              { value: 'json', label: 'JSON' },
            ]}
          />
          {editable && data !== undefined && (
            <GuardedButton
              variant="default"
              reason={refusal('auth:UpdatePolicy')}
              leftSection={<Pencil size={14} />}
              onClick={() => setEditing(true)}
            >
              Edit
            </GuardedButton>
          )}
        </div>
      </div>
      {error !== null && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeletons />}
      {data !== undefined && view === 'json' && (
        <Snippet code={JSON.stringify({ statement: data.statement }, null, 2)} label="Copy policy" />
      )}
      {data !== undefined && view === 'table' && (
        <div className="box data-grid">
          <table>
            <thead>
              <tr>
                <th scope="col">Effect</th>
                <th scope="col">Actions</th>
                <th scope="col">Resource</th>
                <th scope="col">Condition</th>
              </tr>
            </thead>
            <tbody>
              {data.statement.map((statement, index) => (
                <tr key={index}>
                  <td>
                    <Tag kind={statement.effect === 'allow' ? 'added' : 'removed'}>{statement.effect}</Tag>
                    {statement.principal !== undefined && <Tag>anonymous requests</Tag>}
                  </td>
                  <td className="unclipped">
                    <span className="row close">
                      {statement.action.map((action) => (
                        <Tag key={action}>
                          <code>{action}</code>
                        </Tag>
                      ))}
                    </span>
                  </td>
                  <td className="unclipped">
                    <code className="wrap">{statement.resource}</code>
                  </td>
                  <td>
                    {statement.condition === undefined ? (
                      '—'
                    ) : (
                      <code>{JSON.stringify(statement.condition)}</code>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {data !== undefined && <PermissionTest />}
      {editing && data !== undefined && (
        <PolicyDialog policy={data} onClose={() => setEditing(false)} onSaved={() => setEditing(false)} />
      )}
    </div>
  );
}
