import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Simulation } from '../lib/api.ts';
import { plural } from '../lib/format.ts';
import { Notice } from './notice.tsx';

const titles: Readonly<Record<Simulation['reason'], string>> = {
  allowed: 'Allowed',
  denied: 'Denied: a statement forbids it',
  not_allowed: 'Not allowed: no statement speaks of it',
};

/** Whether somebody may do something, which statement decided, and what was looked at. */
export function SimulationView({ simulation }: { simulation: Simulation }): ReactNode {
  const { allowed, reason, decided_by: decider, policies, hidden_policies: hidden } = simulation;
  return (
    <Notice kind={allowed ? 'good' : 'warn'} title={titles[reason]}>
      {decider !== undefined && (
        <>
          <div>
            Statement {decider.index + 1} of <PolicyLink id={decider.policy} /> decides:
          </div>
          <pre className="message-text">{JSON.stringify(decider.statement, null, 2)}</pre>
        </>
      )}
      {policies.length > 0 && <div>Looked at:</div>}
      <ul className="plain">
        {policies.map(({ id, attached_to_user: toUser, groups }) => (
          <li key={id}>
            <PolicyLink id={id} /> <span className="muted">{givers(toUser, groups)}</span>
          </li>
        ))}
      </ul>
      {hidden > 0 && <div className="muted">{plural(hidden, 'policy', 'policies')} you may not read</div>}
      {policies.length === 0 && hidden === 0 && <div>The user has no policy at all.</div>}
    </Notice>
  );
}

function givers(toUser: boolean, groups: readonly string[]): string {
  const names = [...(toUser ? ['the user'] : []), ...groups.map((group) => `group ${group}`)];
  return names.length === 0 ? 'not attached yet' : `through ${names.join(', ')}`;
}

function PolicyLink({ id }: { id: string }): ReactNode {
  return (
    <Link to="/auth/policies/$id" params={{ id }}>
      {id}
    </Link>
  );
}
