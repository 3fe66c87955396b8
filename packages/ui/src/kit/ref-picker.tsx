import { Button } from '@mantine/core';
import { ChevronDown, GitBranch, GitCommitHorizontal, Tag as TagIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { shortId } from '../lib/format.ts';
import { onDemand } from './on-demand.tsx';
import type { TargetProps } from './target-props.ts';

const OpenedRefPicker = onDemand(async () => (await import('./ref-choice.tsx')).OpenedRefPicker);

export interface RefPickerProps {
  readonly repository: string;
  readonly defaultBranch: string;
  readonly value: string;
  readonly kind?: 'branch' | 'tag' | 'commit' | undefined;
  readonly onChange: (ref: string) => void;
  /** For example `Base`. */
  readonly label?: string | undefined;
  readonly branchesOnly?: boolean;
  /** Offers to create a branch from what is shown. */
  readonly canCreate?: boolean;
}

const kindWords = { branch: 'Branch', tag: 'Tag', commit: 'Commit' };
const kindIcons = { branch: GitBranch, tag: TagIcon, commit: GitCommitHorizontal };

export function RefButton({
  value,
  kind = 'branch',
  label,
  ...button
}: Pick<RefPickerProps, 'value' | 'kind' | 'label'> & TargetProps): ReactNode {
  const Icon = kindIcons[kind];
  const words = label === undefined ? kindWords[kind] : `${label} ${kindWords[kind].toLowerCase()}`;
  return (
    <Button
      variant="default"
      leftSection={<Icon size={15} aria-hidden />}
      rightSection={<ChevronDown size={14} aria-hidden />}
      aria-haspopup="dialog"
      aria-label={`${words}: ${value}`}
      maw={320}
      {...button}
    >
      {label !== undefined && <span className="muted">{words}:&nbsp;</span>}
      <span className="ellipsis">{shortId(value)}</span>
    </Button>
  );
}

/** A branch, tag or commit, and the choice of another. */
export function RefPicker(props: RefPickerProps): ReactNode {
  const { value, kind, label } = props;
  const [isAsked, setAsked] = useState(false);
  const button = <RefButton value={value} kind={kind} label={label} onClick={() => setAsked(true)} />;
  return isAsked ? <OpenedRefPicker {...props} waiting={button} /> : button;
}
