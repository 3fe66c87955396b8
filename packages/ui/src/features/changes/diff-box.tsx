import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { useViewed } from '../../lib/viewed.ts';
import { DiffFiles } from './diff-files.tsx';
import { DiffTree } from './diff-tree.tsx';
import type { DiffSource } from './diff-tree.tsx';

/** A difference in a box of its own, with ways to open and close all of it. */
export function DiffBox({
  title,
  label,
  source,
  extra,
  empty,
  file,
  onFile,
}: {
  title: ReactNode;
  label: string;
  source: DiffSource;
  extra?: ReactNode;
  empty: ReactNode;
  file?: string | undefined;
  onFile?: (path: string | undefined) => void;
}): ReactNode {
  const viewed = useViewed(source.key);
  const [openedLast, setOpenedLast] = useState<string>();
  const shown = onFile === undefined ? openedLast : file;
  const show = onFile ?? setOpenedLast;
  const [expanded, setExpanded] = useState<boolean>();
  const [round, setRound] = useState(0);
  const set = (value: boolean): void => {
    setExpanded(value);
    setRound(round + 1);
  };
  return (
    <section className="box" aria-label={label}>
      <div className="box-head">
        <h2>{title}</h2>
        <div className="right row">
          {extra}
          {viewed.count > 0 && <span className="muted small">{viewed.count} viewed</span>}
          <Button variant="default" size="compact-xs" onClick={() => set(true)}>
            Expand all
          </Button>
          <Button variant="default" size="compact-xs" onClick={() => set(false)}>
            Collapse all
          </Button>
        </div>
      </div>
      <div className="diff-with-files">
        <DiffFiles source={source} viewed={viewed} file={shown} onFile={show} />
        <div className="grow">
          <DiffTree
            key={`${source.key.join('\n')}${round}`}
            source={source}
            viewed={viewed}
            file={shown}
            onFile={show}
            expanded={expanded}
            empty={empty}
          />
        </div>
      </div>
    </section>
  );
}
