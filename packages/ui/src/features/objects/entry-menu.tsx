import { ActionIcon } from '@mantine/core';
import { EllipsisVertical } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { onDemand } from '../../kit/on-demand.tsx';
import type { TargetProps } from '../../kit/target-props.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import type { EntryRequest } from './entry-dialogs.tsx';

const OpenedEntryMenu = onDemand(async () => (await import('./entry-actions.tsx')).OpenedEntryMenu);

export interface EntryMenuProps {
  readonly entry: MarkedEntry;
  readonly refName: string;
  readonly isBranch: boolean;
  readonly canWrite: boolean;
  readonly canDelete: boolean;
  readonly onAsk: (request: EntryRequest) => void;
}

export function EntryButton({ path, ...button }: { path: string } & TargetProps): ReactNode {
  return (
    <ActionIcon variant="subtle" color="gray" size={26} aria-label={`Actions for ${path}`} {...button}>
      <EllipsisVertical size={15} />
    </ActionIcon>
  );
}

/** What can be done with an object or a folder. */
export function EntryMenu(props: EntryMenuProps): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const button = <EntryButton path={props.entry.path} aria-haspopup="menu" onClick={() => setAsked(true)} />;
  return isAsked ? <OpenedEntryMenu {...props} waiting={button} /> : button;
}
