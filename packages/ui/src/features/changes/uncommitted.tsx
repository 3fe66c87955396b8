import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { GitCommitHorizontal } from 'lucide-react';
import { EmptyState } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import type { Diff } from '../../lib/api.ts';
import { useWrite } from '../../lib/queries.ts';
import { uploadSnippet } from '../../lib/snippets.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { DiffTree } from './diff-tree.tsx';
import { uncommittedSource } from './sources.ts';

type Target = Pick<Diff, 'path' | 'path_type'> | 'all';

/** What was written to a branch since its last commit, and how to take it back. */
export function Uncommitted({
  branch,
  onUpload,
  onClose,
  readOnly,
}: {
  branch: string;
  onUpload: () => void;
  onClose: () => void;
  readOnly: boolean;
}): ReactNode {
  const repository = useRepository();
  const [target, setTarget] = useState<Target>();
  const reset = useWrite(
    (what: Target) =>
      client.put('/repositories/{repository}/branches/{branch}', {
        params: { path: { repository: repository.id, branch } },
        body:
          what === 'all'
            ? { type: 'reset' }
            : { type: what.path_type === 'object' ? 'object' : 'common_prefix', path: what.path },
      }),
    () => setTarget(undefined),
  );
  return (
    <section className="box" aria-label="Uncommitted changes">
      <div className="box-head">
        <h2>Uncommitted changes on {branch}</h2>
        <div className="right row">
          <Button variant="default" size="compact-sm" onClick={onClose}>
            Show all objects
          </Button>
          {!readOnly && (
            <Button variant="default" size="compact-sm" onClick={() => setTarget('all')}>
              Undo all changes
            </Button>
          )}
        </div>
      </div>
      <DiffTree
        source={uncommittedSource(repository.id, branch)}
        onRevert={readOnly ? undefined : setTarget}
        empty={
          <EmptyState
            icon={<GitCommitHorizontal size={36} aria-hidden />}
            title="Everything is committed"
            actions={
              <>
                {!readOnly && <Button onClick={onUpload}>Upload</Button>}
                <Button variant="default" onClick={onClose}>
                  Show all objects
                </Button>
              </>
            }
            snippet={uploadSnippet(repository.id, branch, 'file')}
          >
            What is written to this branch appears here until it is committed.
          </EmptyState>
        }
      />
      <ConfirmDialog
        opened={target !== undefined}
        onClose={() => setTarget(undefined)}
        title={target === 'all' ? 'Undo all changes' : 'Undo change'}
        action="Undo"
        busy={reset.isPending}
        error={reset.error}
        onSubmit={() => target !== undefined && reset.mutate(target)}
      >
        {target === 'all' ? (
          <>
            Return <strong>{branch}</strong> to its last commit? All uncommitted changes are lost.
          </>
        ) : (
          <>
            Return <code className="wrap">{target?.path}</code> to what the last commit holds? The uncommitted
            change is lost.
          </>
        )}
      </ConfirmDialog>
    </section>
  );
}
