import { Button } from '@mantine/core';
import { Terminal } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { CodeSnippet } from '../lib/snippets.ts';
import { onDemand } from './on-demand.tsx';
import type { TargetProps } from './target-props.ts';

const OpenedSnippets = onDemand(async () => (await import('./opened-snippets.tsx')).OpenedSnippets);

export function CodeButton(button: TargetProps): ReactNode {
  return (
    <Button variant="default" leftSection={<Terminal size={15} />} {...button}>
      Code
    </Button>
  );
}

/** "Do this with…": the same thing on the command line or in code, filled in. */
export function SnippetsMenu({ snippets }: { snippets: readonly CodeSnippet[] }): ReactNode {
  const [isAsked, setAsked] = useState(false);
  const button = <CodeButton aria-haspopup="dialog" onClick={() => setAsked(true)} />;
  return isAsked ? <OpenedSnippets snippets={snippets} waiting={button} /> : button;
}
