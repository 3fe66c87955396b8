import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '@svc/client';
import { Notice } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';

type Run = components['schemas']['GcRun'];
type Wanted = components['schemas']['GcRunCreation'];

interface Stop {
  readonly says: RegExp;
  readonly title: string;
  readonly advice: string;
  /** The way on, once the cause is known to be none. */
  readonly goOn?: { readonly action: string; readonly warning: string; readonly wanted: Wanted };
}

const stops: readonly Stop[] = [
  {
    says: /^would delete \d+ of \d+ objects/,
    title: 'The last run would have deleted too much, and deleted nothing',
    advice:
      'Check the rules, and that no branch was deleted by mistake. Once they are right, what is in use again is taken off the list by the next run.',
    goOn: {
      action: 'Delete it all the same',
      warning:
        'All that has been garbage for the whole window is deleted, however much of the repository it is.',
      wanted: { max_percent: 100 },
    },
  },
  {
    says: /^namespace was collected by another installation/,
    title: 'Somebody else collects this namespace',
    advice:
      'Another installation uses it, or this one was restored from a backup and does not know the newest branches and commits: their data would look like garbage. Make sure that nothing else uses the namespace and that no branch is missing.',
    goOn: {
      action: 'Take over',
      warning:
        'Whatever this installation does not know of becomes garbage. The list of what waits to be deleted begins anew.',
      wanted: { take_over: true },
    },
  },
  {
    says: /^clock differs from the store's/,
    title: 'The clocks of the server and of the object store differ',
    advice: 'What is old enough to be deleted cannot be told. Set both right, then run again.',
  },
  {
    says: /being restored|a restore has not finished/,
    title: 'The repository was busy, or a restore of it has not finished',
    advice:
      'Nothing is collected meanwhile. If a restore failed, delete the repository and restore it again.',
  },
];

/** Why the last run stopped, when somebody has to decide how to go on. */
export function CollectionBanner({
  repository,
  run,
  refusal,
}: {
  readonly repository: string;
  readonly run: Run | undefined;
  readonly refusal: string | undefined;
}): ReactNode {
  const [asking, setAsking] = useState(false);
  const start = useWrite(
    (wanted: Wanted) =>
      client.post('/repositories/{repository}/gc/runs', { params: { path: { repository } }, body: wanted }),
    () => setAsking(false),
  );
  const message = run?.state === 'failed' ? (run.error?.message ?? '') : '';
  const stop = stops.find(({ says }) => says.test(message));
  if (stop === undefined) return null;
  const { title, advice, goOn } = stop;
  return (
    <Notice kind="warn" title={title}>
      <div>{message}</div>
      <div className="muted">{advice}</div>
      {goOn !== undefined && refusal === undefined && (
        <div className="row after">
          <Button variant="default" size="compact-sm" onClick={() => setAsking(true)}>
            {goOn.action}
          </Button>
          <ConfirmDialog
            opened={asking}
            onClose={() => setAsking(false)}
            title={goOn.action}
            action={goOn.action}
            typed={repository}
            busy={start.isPending}
            error={start.error}
            onSubmit={() => start.mutate(goOn.wanted)}
          >
            {goOn.warning}
          </ConfirmDialog>
        </div>
      )}
    </Notice>
  );
}
