import type { ReactNode } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { offerUndo } from '../../kit/offer-undo.tsx';
import { plural } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import { baseName } from '../../lib/paths.ts';
import { useWrite } from '../../lib/queries.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { MoveDialog } from './move-dialog.tsx';
import { deleteEntries, resetEntries } from './write-entries.ts';

/** An action on objects and folders. */
export interface EntryRequest {
  readonly what: 'delete' | 'reset' | 'move' | 'copy';
  readonly entries: readonly MarkedEntry[];
}

/** Asks for what is missing, then carries out the action. */
export function EntryDialogs({
  asked,
  refName,
  isBranch,
  onClose,
  onDone,
}: {
  asked: EntryRequest | undefined;
  refName: string;
  isBranch: boolean;
  onClose: () => void;
  onDone: () => void;
}): ReactNode {
  const place = { repository: useRepository().id, branch: refName };
  const reset = useWrite((entries: readonly MarkedEntry[]) => resetEntries(place, entries), onDone);
  const remove = useWrite(
    (entries: readonly MarkedEntry[]) => deleteEntries(place, entries),
    (count, entries) => {
      onDone();
      const [first] = entries;
      const isOne = entries.length === 1 && first?.path_type === 'object';
      offerUndo(`${isOne ? baseName(first.path) : plural(count, 'object')} deleted`, () =>
        resetEntries(place, entries),
      );
    },
  );
  const entries = asked?.entries ?? [];
  const single = entries.length === 1 ? entries[0] : undefined;
  const hasFolder = entries.some(({ path_type }) => path_type === 'common_prefix');
  const names =
    single === undefined ? (
      <strong>{entries.length} entries</strong>
    ) : (
      <code className="wrap">{single.path}</code>
    );
  if (asked?.what === 'move' || asked?.what === 'copy') {
    return (
      <MoveDialog
        entries={entries}
        refName={refName}
        isBranch={isBranch}
        keep={asked.what === 'copy'}
        onClose={onClose}
        onDone={onDone}
      />
    );
  }
  return (
    <>
      <ConfirmDialog
        opened={asked?.what === 'delete'}
        onClose={onClose}
        title={single === undefined ? 'Delete entries' : hasFolder ? 'Delete folder' : 'Delete object'}
        action="Delete"
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => remove.mutate(entries)}
      >
        Delete {names}{' '}
        {hasFolder && (single === undefined ? 'and everything in the folders ' : 'and everything in it ')}
        from branch <strong>{refName}</strong>? Until the change is committed it can be undone.
      </ConfirmDialog>
      <ConfirmDialog
        opened={asked?.what === 'reset'}
        onClose={onClose}
        title="Undo uncommitted changes"
        action="Undo changes"
        busy={reset.isPending}
        error={reset.error}
        onSubmit={() => reset.mutate(entries)}
      >
        Return {names} to what the last commit of <strong>{refName}</strong> holds? What was not committed is
        lost.
      </ConfirmDialog>
    </>
  );
}
