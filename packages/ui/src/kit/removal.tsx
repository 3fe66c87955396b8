import { useState } from 'react';
import type { ReactNode } from 'react';
import { explain } from '../lib/explain.ts';
import { plural } from '../lib/format.ts';
import { refreshAll } from '../lib/queries.ts';
import { Notice } from './basics.tsx';
import type { Choice } from './choice.tsx';
import { ConfirmDialog } from './dialog.tsx';
import { offerUndo } from './offer-undo.tsx';

interface Failure {
  readonly name: string;
  readonly reason: string;
}

interface Removal<Row> {
  /** Asks for confirmation to delete these rows. */
  readonly ask: (rows: ReadonlyMap<string, Row>) => void;
  readonly failures: readonly Failure[];
  readonly dialog: ReactNode;
}

/** Deletes rows one after the other; what could not be deleted stays chosen and says why. */
export function useRemoval<Row>(options: {
  readonly choice: Choice<Row>;
  /** For example `branch` and `branches`. */
  readonly noun: readonly [one: string, many: string];
  readonly nameOf: (row: Row) => string;
  readonly remove: (row: Row) => Promise<unknown>;
  /** What is lost with them. */
  readonly warning: string;
  /** Takes a deletion back; offered once it is done. */
  readonly undo?: (row: Row) => Promise<unknown>;
  /** More to know before these are deleted. */
  readonly caution?: (names: readonly string[]) => ReactNode;
}): Removal<Row> {
  const { choice, noun, nameOf, remove, warning, undo, caution } = options;
  const [asked, ask] = useState<ReadonlyMap<string, Row>>();
  const [busy, setBusy] = useState(false);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const run = async (rows: ReadonlyMap<string, Row>): Promise<void> => {
    setBusy(true);
    const failed: Failure[] = [];
    const left = new Map<string, Row>();
    const gone: Row[] = [];
    for (const [id, row] of rows) {
      try {
        await remove(row);
        gone.push(row);
      } catch (error) {
        failed.push({ name: nameOf(row), reason: explain(error).text });
        left.set(id, row);
      }
    }
    setFailures(failed);
    choice.set(left);
    setBusy(false);
    ask(undefined);
    const [first] = gone;
    if (undo !== undefined && first !== undefined) {
      const what = gone.length === 1 ? nameOf(first) : plural(gone.length, ...noun);
      offerUndo(`${what} deleted`, async () => {
        for (const row of gone) await undo(row);
      });
    }
    await refreshAll();
  };
  const names = [...(asked?.values() ?? [])].map(nameOf);
  return {
    ask,
    failures,
    dialog: (
      <ConfirmDialog
        opened={asked !== undefined}
        onClose={() => ask(undefined)}
        title={`Delete ${names.length === 1 ? noun[0] : noun[1]}`}
        action="Delete"
        busy={busy}
        onSubmit={() => asked !== undefined && void run(asked)}
      >
        Delete <strong className="wrap">{names.slice(0, 10).join(', ')}</strong>
        {names.length > 10 && ` and ${names.length - 10} more`}? {warning}
        {caution?.(names)}
      </ConfirmDialog>
    ),
  };
}

export function FailureNotice({
  failures,
  noun,
}: {
  failures: readonly Failure[];
  noun: readonly [one: string, many: string];
}): ReactNode {
  if (failures.length === 0) return null;
  return (
    <Notice kind="error" title={`${plural(failures.length, ...noun)} could not be deleted`}>
      {failures.map(({ name, reason }) => (
        <div key={name}>
          <strong>{name}</strong>: {reason}
        </div>
      ))}
    </Notice>
  );
}
