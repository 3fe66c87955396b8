import { SegmentedControl, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, Notice } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { changesQuery, useWrite } from '../../lib/queries.ts';
import { CountsLine, useDiffCounts } from '../changes/compare-page.tsx';
import { DiffBox } from '../changes/diff-box.tsx';
import { refsSource } from '../changes/sources.ts';
import { useRepository } from '../shell/repository-context.tsx';

export interface RollbackRequest {
  readonly branch: string;
  /** A move, to the state before it, or a commit. */
  readonly to: string;
  /** The commit whose content the branch gets. */
  readonly commitId: string;
}

/** Takes a branch back to where it stood; shows what changes before it is done. */
export function RollbackDialog({
  asked,
  onClose,
}: {
  asked: RollbackRequest;
  onClose: () => void;
}): ReactNode {
  const repository = useRepository();
  const { branch, to, commitId } = asked;
  const [mode, setMode] = useState<'commit' | 'reset'>('commit');
  const [message, setMessage] = useState('');
  const head = `${branch}@`;
  const counts = useDiffCounts(repository.id, head, commitId, true, 'two_dot').data;
  const dirty = (useQuery(changesQuery(repository.id, branch)).data?.changes.length ?? 0) > 0;
  const rollback = useWrite(
    () =>
      client.post('/repositories/{repository}/branches/{branch}/rollback', {
        params: { path: { repository: repository.id, branch } },
        body: { to, mode, ...(mode === 'commit' && message !== '' && { message }) },
      }),
    ({ commit_id }) => {
      notifications.show({ message: `${branch} is rolled back, now at ${shortId(commit_id)}` });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      key={mode}
      opened
      onClose={onClose}
      size={760}
      title={`Roll back ${branch}`}
      action="Roll back"
      danger={mode === 'reset'}
      busy={rollback.isPending}
      error={rollback.error}
      onSubmit={() => rollback.mutate(undefined)}
      {...(mode === 'reset' && { typed: branch })}
    >
      <div className="stack">
        <div>
          <strong className="wrap">{branch}</strong> gets the content of commit{' '}
          <span className="mono">{shortId(commitId)}</span> again.
        </div>
        {dirty && (
          <Notice kind="warn" title={`${branch} has uncommitted changes`}>
            Commit or undo them first: a branch is rolled back only when it is clean.
          </Notice>
        )}
        <SegmentedControl
          aria-label="How to roll back"
          value={mode}
          onChange={(value) => setMode(value === 'reset' ? 'reset' : 'commit')}
          data={[
            { value: 'commit', label: 'New commit' },
            { value: 'reset', label: 'Move the head' },
          ]}
        />
        {mode === 'commit' ? (
          <TextInput
            label="Message"
            placeholder={`Roll back to ${to}`}
            value={message}
            onChange={(event) => setMessage(event.currentTarget.value)}
          />
        ) : (
          <Notice kind="warn" title="The commits since then leave the branch">
            They can be found only in its history, for as long as that is kept.
          </Notice>
        )}
        <DiffBox
          label="What changes"
          title="What changes"
          extra={counts !== undefined && <CountsLine {...counts} />}
          source={refsSource(repository.id, head, commitId, 'two_dot')}
          empty={<EmptyState title="Nothing changes">The branch holds exactly this already.</EmptyState>}
        />
      </div>
    </ConfirmDialog>
  );
}
