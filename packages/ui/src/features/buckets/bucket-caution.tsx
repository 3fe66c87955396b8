import type { ReactNode } from 'react';
import { Notice } from '../../kit/basics.tsx';
import type { Alias } from '../../lib/api.ts';

/** Names the buckets that lead nowhere once what they show is deleted. */
export function BucketCaution({ aliases }: { aliases: readonly Alias[] }): ReactNode {
  if (aliases.length === 0) return null;
  return (
    <Notice kind="warn" title="Buckets show this">
      {aliases.map(({ name }) => name).join(', ')}: who reads {aliases.length === 1 ? 'it' : 'them'} finds
      nothing until it is back.
    </Notice>
  );
}
