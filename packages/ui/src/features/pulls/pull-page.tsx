import { Button, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { GitMerge, Pencil } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import {
  BranchTag,
  EmptyState,
  ErrorNotice,
  Notice,
  Skeletons,
  Time,
  usePageTitle,
} from '../../kit/basics.tsx';
import { ConfirmDialog, FormDialog } from '../../kit/dialog.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { client } from '../../lib/api.ts';
import type { PullRequest } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { commitQuery, refQuery, useWrite } from '../../lib/queries.ts';
import { refusalOf } from '../../lib/refusals.ts';
import { CommitRuns, RefRuns } from '../actions/commit-runs.tsx';
import { CountsLine, useDiffCounts } from '../changes/compare-page.tsx';
import { DiffBox } from '../changes/diff-box.tsx';
import type { DiffSource } from '../changes/diff-tree.tsx';
import { ConflictResolver } from '../changes/conflict-resolver.tsx';
import { mergeMeeting } from '../changes/meetings.ts';
import { MergeDialog } from '../changes/merge-dialog.tsx';
import type { MergeSteering } from '../changes/merge-dialog.tsx';
import { refsSource } from '../changes/sources.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { PullCommits } from './pull-commits.tsx';
import { PullState, secondsOf } from './pull-state.tsx';

const MarkdownView = lazy(async () => ({
  default: (await import('../../kit/markdown-view.tsx')).MarkdownView,
}));

export function PullPage(): ReactNode {
  const repository = useRepository();
  const { id } = useParams({ from: '/app/repositories/$repo/pulls/$id' });
  const {
    data: pull,
    error,
    refetch,
  } = useQuery({
    queryKey: ['pull', repository.id, id],
    queryFn: () =>
      client.get('/repositories/{repository}/pulls/{pull_request}', {
        params: { path: { repository: repository.id, pull_request: id } },
      }),
  });
  usePageTitle(pull?.title ?? 'Pull request', repository.id);
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (pull === undefined) return <Skeletons rows={8} />;
  return <Pull pull={pull} />;
}

function Pull({ pull }: { pull: PullRequest }): ReactNode {
  const repository = useRepository();
  const { file } = useSearch({ from: '/app/repositories/$repo/pulls/$id' });
  const navigate = useNavigate({ from: '/repositories/$repo/pulls/$id' });
  const { source_branch: source, destination_branch: destination } = pull;
  const isOpen = pull.status === 'open';
  const sourceRef = useQuery(refQuery(repository.id, source)).data;
  const destinationRef = useQuery(refQuery(repository.id, destination)).data;
  const gone = sourceRef === null ? source : destinationRef === null ? destination : undefined;
  const counts = useDiffCounts(repository.id, destination, source, isOpen && gone === undefined).data;
  // What was merged stays to be seen whatever becomes of the branches.
  const merged = pull.merged_commit_id;
  const mergeCommit = useQuery(commitQuery(repository.id, merged ?? '')).data;
  // A squash has no second parent; its metadata say what was merged.
  const [before, tip = mergeCommit?.metadata?.['.svc.pull.source']] = mergeCommit?.parents ?? [];
  const compared = (): DiffSource | undefined => {
    if (merged === undefined)
      return gone === undefined ? refsSource(repository.id, destination, source) : undefined;
    return before === undefined ? undefined : refsSource(repository.id, before, merged, 'two_dot');
  };
  const changes = compared();
  /** The ends of what it brings; squashes of older versions do not know. */
  const brought = (): { source: string; destination: string } | undefined => {
    if (merged === undefined) return gone === undefined ? { source, destination } : undefined;
    return before === undefined || tip === undefined ? undefined : { source: tip, destination: before };
  };
  const ends = brought();
  const mayNotWrite = refusalOf('pr:WritePullRequest', destinationRef?.rights);
  const mayNotMerge = (): string | undefined => {
    if (gone !== undefined) return `Branch ${gone} was deleted`;
    if (counts?.total === 0) return 'There is nothing to merge';
    return mayNotWrite ?? refusalOf('fs:CreateCommit', destinationRef?.rights);
  };
  const [asking, setAsking] = useState<'merge' | 'close' | 'edit'>();
  const [steering, setSteering] = useState<MergeSteering>();
  const path = { repository: repository.id, pull_request: pull.id };
  const update = useWrite(
    (body: { status?: 'open' | 'closed'; title?: string; description?: string }) =>
      client.patch('/repositories/{repository}/pulls/{pull_request}', { params: { path }, body }),
    () => setAsking(undefined),
  );
  return (
    <div className="stack">
      <div className="page-head flush top">
        <div className="grow pull-summary">
          <h1>{pull.title}</h1>
          <div className="row pull-facts">
            <PullState status={pull.status} />
            <span className="muted">
              <strong>{pull.author}</strong> wants to merge <BranchTag name={source} /> into{' '}
              <BranchTag name={destination} />, opened <Time seconds={secondsOf(pull.creation_date)} />
            </span>
          </div>
        </div>
        <div className="row">
          <GuardedButton
            variant="default"
            leftSection={<Pencil size={14} />}
            reason={mayNotWrite}
            onClick={() => setAsking('edit')}
          >
            Edit
          </GuardedButton>
          {isOpen && (
            <>
              <GuardedButton variant="default" reason={mayNotWrite} onClick={() => setAsking('close')}>
                Close
              </GuardedButton>
              <GuardedButton
                leftSection={<GitMerge size={15} />}
                reason={mayNotMerge()}
                disabled={counts === undefined && gone === undefined}
                onClick={() => {
                  setSteering(undefined);
                  setAsking('merge');
                }}
              >
                Merge
              </GuardedButton>
            </>
          )}
          {pull.status === 'closed' && (
            <Button
              variant="default"
              loading={update.isPending}
              onClick={() => update.mutate({ status: 'open' })}
            >
              Reopen
            </Button>
          )}
        </div>
      </div>
      {gone !== undefined && merged === undefined && (
        <Notice kind="warn" title={`Branch ${gone} was deleted`}>
          {isOpen
            ? 'This pull request can no longer be merged, only closed.'
            : 'What it would have changed can be seen again when the branch is brought back.'}
        </Notice>
      )}
      {pull.merged_commit_id !== undefined && (
        <Notice kind="good" title="Merged">
          Commit{' '}
          <Link
            className="mono"
            to="/repositories/$repo/commits/$commitId"
            params={{ repo: repository.id, commitId: pull.merged_commit_id }}
          >
            {shortId(pull.merged_commit_id)}
          </Link>
          {pull.closed_date !== undefined && (
            <>
              , <Time seconds={secondsOf(pull.closed_date)} />
            </>
          )}
          <dl className="facts">
            <CommitRuns repository={repository.id} commitId={pull.merged_commit_id} />
          </dl>
        </Notice>
      )}
      {isOpen && gone === undefined && <RefRuns repository={repository.id} refId={source} />}
      {update.error !== null && asking === undefined && <ErrorNotice error={update.error} />}
      <section className="box" aria-label="Description">
        <div className="box-head">
          <h2>Description</h2>
        </div>
        {pull.description === '' ? (
          <div className="box-body muted">No description.</div>
        ) : (
          <Suspense fallback={<Skeletons rows={2} />}>
            <MarkdownView text={pull.description} />
          </Suspense>
        )}
      </section>
      {isOpen && gone === undefined && (
        <ConflictResolver
          repository={repository.id}
          meeting={mergeMeeting(repository.id, source, destination)}
          onMerge={(chosen) => {
            setSteering(chosen);
            setAsking('merge');
          }}
        />
      )}
      {pull.merged_commit_id !== undefined && mergeCommit === undefined && <Skeletons rows={4} />}
      {ends !== undefined && <PullCommits {...ends} />}
      {changes !== undefined && (
        <DiffBox
          label="Changes"
          title="Changes"
          extra={counts !== undefined && <CountsLine {...counts} />}
          source={changes}
          file={file}
          onFile={(chosen) => void navigate({ search: (was) => ({ ...was, file: chosen }), replace: true })}
          empty={
            <EmptyState title="No differences">
              {merged === undefined
                ? `Everything of ${source} is already in ${destination}.`
                : 'The merge changed no object.'}
            </EmptyState>
          }
        />
      )}
      {asking === 'merge' && (
        <MergeDialog
          source={source}
          destination={destination}
          pull={pull.id}
          steering={steering}
          onClose={() => setAsking(undefined)}
          onDone={() => setAsking(undefined)}
        />
      )}
      <ConfirmDialog
        opened={asking === 'close'}
        onClose={() => setAsking(undefined)}
        title="Close pull request"
        action="Close it"
        busy={update.isPending}
        error={update.error}
        onSubmit={() => update.mutate({ status: 'closed' })}
      >
        Close it without merging? The branches stay as they are.
      </ConfirmDialog>
      {asking === 'edit' && (
        <EditDialog
          pull={pull}
          busy={update.isPending}
          error={update.error}
          onClose={() => setAsking(undefined)}
          onSave={update.mutate}
        />
      )}
    </div>
  );
}

function EditDialog({
  pull,
  busy,
  error,
  onClose,
  onSave,
}: {
  pull: PullRequest;
  busy: boolean;
  error: unknown;
  onClose: () => void;
  onSave: (body: { title: string; description: string }) => void;
}): ReactNode {
  const [title, setTitle] = useState(pull.title);
  const [description, setDescription] = useState(pull.description);
  return (
    <FormDialog
      opened
      onClose={onClose}
      title="Edit pull request"
      action="Save"
      busy={busy}
      error={error}
      disabled={title.trim() === ''}
      onSubmit={() => onSave({ title: title.trim(), description })}
    >
      <TextInput
        data-autofocus
        label="Title"
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        minRows={4}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
