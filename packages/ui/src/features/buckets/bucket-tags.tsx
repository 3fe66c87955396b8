import type { ReactNode } from 'react';
import { Tag } from '../../kit/basics.tsx';
import type { Alias } from '../../lib/api.ts';

/** How a bucket behaves: whether it can be written, follows its ref, or leads nowhere. */
export function BucketTags({ alias }: { alias: Alias }): ReactNode {
  if (alias.dangling) return <Tag kind="removed">leads nowhere</Tag>;
  return (
    <>
      {alias.pinned && <Tag kind="info">pinned</Tag>}
      <Tag kind={alias.writable ? 'added' : ''}>{alias.writable ? 'writable' : 'read-only'}</Tag>
    </>
  );
}
