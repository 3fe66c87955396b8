import { Switch } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from '../../kit/dialog.tsx';

const keys: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', 'search, jump, run a command'],
  ['/', 'go to the filter of the page'],
  ['g o', 'data'],
  ['g c', 'commits'],
  ['g b', 'branches'],
  ['g t', 'tags'],
  ['g p', 'pull requests'],
  ['g d', 'compare'],
  ['g s', 'settings'],
  ['j  k', 'next and previous row'],
  ['↑  ↓', 'the same, from a row'],
  ['→', 'in the history: to the parent'],
  ['Enter', 'open the row'],
  ['u', 'one folder up'],
  ['y', 'pin the address to the present commit'],
  ['c', 'copy the URI of this place'],
  ['[  ]', 'previous and next changed file'],
  ['?', 'this help'],
];

/** All shortcuts, and the switch for those of one letter. */
export function HelpDialog({
  enabled,
  onEnable,
  onClose,
}: {
  enabled: boolean;
  onEnable: (enabled: boolean) => void;
  onClose: () => void;
}): ReactNode {
  return (
    <Dialog opened onClose={onClose} title="Keyboard shortcuts">
      <div className="stack">
        <dl className="facts">
          {keys.map(([key, does]) => (
            <div className="contents" key={key}>
              <dt>
                <span className="kbd">{key}</span>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <Switch
          label="Single-letter shortcuts"
          checked={enabled}
          onChange={(event) => onEnable(event.currentTarget.checked)}
        />
      </div>
    </Dialog>
  );
}
