import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { anonymousClient } from '../lib/api.ts';
import { userQuery } from '../lib/queries.ts';
import { SimulationView } from './simulation-view.tsx';

/** Tells why a permission is lacking, to those who may know: others see nothing. */
export function Why({ required }: { required: { action: string; resource: string } }): ReactNode {
  const [shown, setShown] = useState(false);
  const user = useQuery(userQuery).data?.id;
  const { data } = useQuery({
    queryKey: ['why', user, required],
    enabled: user !== undefined,
    queryFn: () =>
      anonymousClient.post('/auth/simulate', { body: { user: user ?? '', ...required } }).catch(() => null),
  });
  if (data === undefined || data === null) return null;
  return (
    <>
      <button type="button" className="tag pressable" aria-expanded={shown} onClick={() => setShown(!shown)}>
        Why?
      </button>
      {shown && <SimulationView simulation={data} />}
    </>
  );
}
