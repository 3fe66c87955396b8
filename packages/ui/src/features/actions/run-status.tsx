import { CircleCheck, CircleDashed, CircleMinus, CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Tag } from '../../kit/basics.tsx';

const kinds = { completed: 'added', failed: 'removed', skipped: '', running: 'changed' } as const;
const icons = { completed: CircleCheck, failed: CircleX, skipped: CircleMinus, running: CircleDashed };
const words = { completed: 'Completed', failed: 'Failed', skipped: 'Skipped', running: 'Running' };

export function RunStatus({ status }: { status: keyof typeof words }): ReactNode {
  const Icon = icons[status];
  return (
    <Tag kind={kinds[status]}>
      <Icon size={13} aria-hidden /> {words[status]}
    </Tag>
  );
}

/** How long something took, as a person would say it. */
export function durationOf(start: string, end: string | undefined): string {
  if (end === undefined) return '';
  const ms = Math.max(0, Date.parse(end) - Date.parse(start));
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
