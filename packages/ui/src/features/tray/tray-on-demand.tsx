import type { ReactNode } from 'react';
import { onDemand } from '../../kit/on-demand.tsx';
import { useWorks } from '../../lib/works.ts';

const Tray = onDemand(async () => (await import('./tray.tsx')).Tray);

/** The tray, while there is something in it. */
export function TrayOnDemand(): ReactNode {
  const { uploads, imports } = useWorks();
  return uploads.length + imports.length === 0 ? null : <Tray />;
}
