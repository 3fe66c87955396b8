import { Autocomplete, Button } from '@mantine/core';
import { policyActions } from '@svc/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { ErrorNotice } from '../../kit/basics.tsx';
import { SimulationView } from '../../kit/simulation-view.tsx';
import { client } from '../../lib/api.ts';
import type { Statement } from '../../lib/api.ts';
import { userQuery } from '../../lib/queries.ts';
import { useResourceChoices } from './resource-choices.ts';

/** Asks whether a user may do something; with a draft, as if the user had that policy. */
export function PermissionTest({
  draft,
}: {
  draft?: { readonly id: string; readonly statement: Statement[] } | undefined;
}): ReactNode {
  const self = useQuery(userQuery).data?.id ?? '';
  const [typed, setUser] = useState<string>();
  const user = typed ?? self;
  const [action, setAction] = useState('fs:ReadObject');
  const [resource, setResource] = useState('*');
  const users = useQuery({
    queryKey: ['user-names', user],
    queryFn: () =>
      client
        .get('/auth/users', { params: { query: { prefix: user, amount: 20 } } })
        .then(({ results }) => results.map(({ id }) => id))
        .catch(() => []),
  });
  const resources = useResourceChoices();
  const ask = useMutation({
    mutationFn: () =>
      client.post('/auth/simulate', {
        body: { user, action, resource, ...(draft !== undefined && { policy: draft }) },
      }),
  });
  return (
    <section className="box" aria-label="Try it">
      <div className="box-head">
        <h2>Try it</h2>
        <span className="muted">
          {draft === undefined ? 'May this user do that, and why?' : 'As if this user had the policy above.'}
        </span>
      </div>
      <div className="box-body stack">
        <div className="fields-beside">
          <Autocomplete
            label="User"
            data={users.data ?? []}
            value={user}
            onChange={setUser}
            onKeyDown={keepOpen}
            limit={20}
          />
          <Autocomplete
            label="Action"
            data={[...policyActions]}
            value={action}
            onChange={setAction}
            onKeyDown={keepOpen}
            limit={50}
          />
          <Autocomplete
            label="Resource"
            data={resources}
            value={resource}
            onChange={setResource}
            onKeyDown={keepOpen}
            limit={50}
          />
        </div>
        <div className="row">
          <Button
            variant="default"
            loading={ask.isPending}
            disabled={user === '' || action === '' || resource === ''}
            onClick={() => ask.mutate()}
          >
            Ask
          </Button>
        </div>
        {ask.error !== null && <ErrorNotice error={ask.error} />}
        {ask.data !== undefined && <SimulationView simulation={ask.data} />}
      </div>
    </section>
  );
}

/** In a dialog Enter would save what is only being tried. */
function keepOpen(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
