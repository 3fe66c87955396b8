import { Button, Progress, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice } from '../../kit/basics.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { plural } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import { baseName, parentOf } from '../../lib/paths.ts';
import { planTransfers } from '../../lib/transfers.ts';
import { refreshAll, useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { transferEntries } from './write-entries.ts';

/** Moves or copies objects and folders: to another name, another folder or, as a copy, another branch. */
export function MoveDialog({
  entries,
  refName,
  isBranch,
  keep,
  onClose,
  onDone,
}: {
  entries: readonly MarkedEntry[];
  refName: string;
  isBranch: boolean;
  /** The originals stay: a copy. */
  keep: boolean;
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const repository = useRepository();
  const [first] = entries;
  const single = entries.length === 1 ? first : undefined;
  const [branch, setBranch] = useState(isBranch ? refName : repository.default_branch);
  const present = single?.path ?? parentOf(first?.path ?? '');
  const [target, setTarget] = useState(present);
  const [moved, setMoved] = useState(0);
  const [isStopped, setStopped] = useState(false);
  const abort = useRef<AbortController>(undefined);
  const plan = planTransfers(entries, target, branch === refName);
  const verb = keep ? 'Copy' : single === undefined ? 'Move' : 'Move or rename';
  const transfer = useWrite(
    () => {
      abort.current = new AbortController();
      setStopped(false);
      return transferEntries({
        repository: repository.id,
        sourceRef: refName,
        branch,
        transfers: plan.transfers,
        removeSource: !keep,
        onProgress: setMoved,
        signal: abort.current.signal,
      });
    },
    (count) => {
      notifications.show({
        title: `${plural(count, 'object')} ${keep ? 'copied' : 'moved'}`,
        message: `Uncommitted on ${branch}`,
        autoClose: 4000,
      });
      onDone();
    },
  );
  const busy = transfer.isPending;
  const stop = (): void => {
    abort.current?.abort();
    setStopped(true);
    void refreshAll();
  };
  const what = single === undefined ? `${entries.length} entries` : baseName(single.path.replace(/\/$/, ''));
  return (
    <Dialog opened onClose={onClose} busy={busy} title={`${verb} ${what}`} size={560}>
      <form
        className="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (plan.problem === undefined && !busy) transfer.mutate(undefined);
        }}
      >
        {keep && (
          <div>
            <RefPicker
              repository={repository.id}
              defaultBranch={repository.default_branch}
              value={branch}
              label="To"
              branchesOnly
              onChange={setBranch}
            />
          </div>
        )}
        <TextInput
          data-autofocus
          label={single === undefined ? 'Destination folder' : 'New path'}
          description={
            single?.path_type === 'object'
              ? 'Folders that do not exist come into being'
              : 'Ends with “/”; everything below keeps its name'
          }
          value={target}
          // Nothing was entered yet.
          error={target === present ? undefined : plan.problem}
          disabled={busy}
          autoComplete="off"
          onChange={(event) => setTarget(event.currentTarget.value)}
        />
        {busy && (
          <div role="status">
            <Progress value={100} animated aria-label="Work in progress" />
            <span className="small muted">{plural(moved, 'object')} done</span>
          </div>
        )}
        {transfer.error !== null && !isStopped && <ErrorNotice error={transfer.error} />}
        <div className="row end">
          <Button variant="default" onClick={busy ? stop : onClose}>
            {busy ? 'Stop' : 'Cancel'}
          </Button>
          <Button type="submit" loading={busy} disabled={plan.problem !== undefined}>
            {keep ? 'Copy' : 'Move'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
