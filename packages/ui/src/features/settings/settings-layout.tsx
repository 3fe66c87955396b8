import { Link, Outlet } from '@tanstack/react-router';
import { Lock, Recycle, SlidersHorizontal } from 'lucide-react';
import type { ReactNode } from 'react';
import { useActiveInSight } from '../../kit/use-active-in-sight.ts';
import { useRepository } from '../shell/repository-context.tsx';

export function SettingsLayout(): ReactNode {
  const params = { repo: useRepository().id };
  return (
    <div className="with-side">
      <nav className="side" aria-label="Settings" ref={useActiveInSight()}>
        <Link to="/repositories/$repo/settings/general" params={params}>
          <SlidersHorizontal size={15} aria-hidden /> General
        </Link>
        <Link to="/repositories/$repo/settings/branches" params={params}>
          <Lock size={15} aria-hidden /> Branch protection
        </Link>
        <Link to="/repositories/$repo/settings/retention" params={params}>
          <Recycle size={15} aria-hidden /> Garbage collection
        </Link>
      </nav>
      <div>
        <Outlet />
      </div>
    </div>
  );
}
