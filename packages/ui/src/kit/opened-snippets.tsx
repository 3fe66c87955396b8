import { Popover, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { CodeSnippet } from '../lib/snippets.ts';
import { Snippet } from './basics.tsx';
import { CodeButton } from './snippets-menu.tsx';

export function OpenedSnippets({ snippets }: { snippets: readonly CodeSnippet[] }): ReactNode {
  const [tool, setTool] = useState('svcctl');
  const chosen = snippets.find((snippet) => snippet.tool === tool) ?? snippets[0];
  return (
    <Popover width={560} position="bottom-end" shadow="md" withinPortal trapFocus defaultOpened>
      <Popover.Target>
        <CodeButton />
      </Popover.Target>
      <Popover.Dropdown className="fits-window" aria-label="Do this with">
        <div className="stack tight">
          <SegmentedControl
            size="xs"
            aria-label="Tool"
            data={snippets.map((snippet) => snippet.tool)}
            value={chosen?.tool ?? ''}
            onChange={setTool}
          />
          {chosen !== undefined && <Snippet code={chosen.code} />}
          <span className="small muted">
            Keys are never part of a snippet; create some under Administration.
          </span>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
