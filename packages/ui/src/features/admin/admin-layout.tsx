import { useQuery } from '@tanstack/react-query';
import { Link, Outlet } from '@tanstack/react-router';
import {
  KeyRound,
  MonitorSmartphone,
  Package,
  ScrollText,
  ShieldCheck,
  UserRound,
  UsersRound,
  Webhook,
} from 'lucide-react';
import type { ReactNode } from 'react';
import { useActiveInSight } from '../../kit/use-active-in-sight.ts';
import { configQuery, useLoginConfig } from '../../lib/queries.ts';
import { Main } from '../shell/layout.tsx';

/** How much of the policy pages is shown. */
export function usePolicyMode(): { readonly visible: boolean; readonly editable: boolean } {
  const mode = useLoginConfig()?.RBAC ?? 'none';
  return { visible: mode !== 'simplified', editable: mode === 'internal' || mode === 'external' };
}

export function AdminLayout(): ReactNode {
  const { visible } = usePolicyMode();
  const keepsAudit = useQuery(configQuery).data?.capabilities_config?.audit === true;
  return (
    <Main>
      <div className="with-side">
        <nav className="side" aria-label="Administration" ref={useActiveInSight()}>
          <Link to="/auth/credentials">
            <KeyRound size={15} aria-hidden /> My access keys
          </Link>
          <Link to="/auth/sessions">
            <MonitorSmartphone size={15} aria-hidden /> My sessions
          </Link>
          <Link to="/auth/users">
            <UserRound size={15} aria-hidden /> Users
          </Link>
          <Link to="/auth/groups">
            <UsersRound size={15} aria-hidden /> Groups
          </Link>
          {visible && (
            <Link to="/auth/policies">
              <ShieldCheck size={15} aria-hidden /> Policies
            </Link>
          )}
          <Link to="/auth/buckets">
            <Package size={15} aria-hidden /> Buckets
          </Link>
          <Link to="/auth/webhooks">
            <Webhook size={15} aria-hidden /> Webhooks
          </Link>
          {keepsAudit && (
            <Link to="/auth/audit">
              <ScrollText size={15} aria-hidden /> Audit
            </Link>
          )}
        </nav>
        <div>
          <Outlet />
        </div>
      </div>
    </Main>
  );
}
