import { CircleX, GitMerge, GitPullRequest } from 'lucide-react';
import type { ReactNode } from 'react';
import { Tag } from '../../kit/basics.tsx';

const kinds = { open: 'added', merged: 'merged', closed: 'removed' } as const;
const icons = { open: GitPullRequest, merged: GitMerge, closed: CircleX };
const words = { open: 'Open', merged: 'Merged', closed: 'Closed' };

export type PullStatus = keyof typeof words;

export function PullState({ status }: { status: PullStatus }): ReactNode {
  const Icon = icons[status];
  return (
    <Tag kind={kinds[status]}>
      <Icon size={13} aria-hidden /> {words[status]}
    </Tag>
  );
}

export function secondsOf(date: string): number {
  return Date.parse(date) / 1000;
}
