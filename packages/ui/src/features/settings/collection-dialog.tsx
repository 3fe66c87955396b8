import { Radio, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';

export type Wanted = components['schemas']['GcRunCreation'];

/** What must be typed before data goes without a window. */
const hardWord = 'delete at once';

const ways = {
  look: {
    label: 'Only look',
    description: 'Nothing is deleted and nothing is listed for it. The report says what would be.',
    action: 'Look for garbage',
    wanted: { dry_run: true },
  },
  collect: {
    label: 'Collect',
    description:
      'What is garbage now is listed. What has been listed for the whole window, and is still garbage, is deleted from the object store and cannot be brought back.',
    action: 'Collect garbage',
    wanted: {},
  },
  hard: {
    label: 'Delete at once',
    description:
      'Data that is garbage now goes without a window, after a second look a minute later. For full disks and data that must not exist any longer: nothing of it can be brought back, and whoever still reads such an object gets an error.',
    action: 'Delete at once',
    wanted: { hard: true },
  },
} as const satisfies Record<string, { wanted: Wanted; [text: string]: unknown }>;

type Way = keyof typeof ways;

/** Starts a run: one that only looks, unless something else is chosen. */
export function CollectionDialog({
  repository,
  onClose,
}: {
  readonly repository: string;
  readonly onClose: () => void;
}): ReactNode {
  const [chosen, setChosen] = useState<Way>('look');
  const [typed, setTyped] = useState('');
  const start = useWrite(
    (wanted: Wanted) =>
      client.post('/repositories/{repository}/gc/runs', { params: { path: { repository } }, body: wanted }),
    onClose,
  );
  const { action, wanted } = ways[chosen];
  const isHard = chosen === 'hard';
  return (
    <FormDialog
      opened
      onClose={onClose}
      title="Collect garbage"
      action={action}
      danger={chosen !== 'look'}
      disabled={isHard && typed !== hardWord}
      busy={start.isPending}
      error={start.error}
      onSubmit={() => start.mutate(wanted)}
    >
      <Radio.Group label="What to do" value={chosen} onChange={(way) => setChosen(way)}>
        <div className="stack">
          {Object.entries(ways).map(([way, { label, description }]) => (
            <Radio key={way} value={way} label={label} description={description} />
          ))}
        </div>
      </Radio.Group>
      {isHard && (
        <TextInput
          label={`Type ${hardWord} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
        />
      )}
    </FormDialog>
  );
}
