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
import { client } from '../../lib/api.ts';
import type { PullRequest } from '../../lib/api.ts';
import { shortId } from '../../lib/format.ts';
import { refQuery, useWrite } from '../../lib/queries.ts';
import { CommitRuns, RefRuns } from '../actions/commit-runs.tsx';
import { CountsLine, useDiffCounts } from '../changes/compare-page.tsx';
import { DiffBox } from '../changes/diff-box.tsx';
import { ConflictResolver } from '../changes/conflict-resolver.tsx';
import { mergeMeeting } from '../changes/meetings.ts';
import { MergeDialog } from '../changes/merge-dialog.tsx';
import type { MergeSteering } from '../changes/merge-dialog.tsx';
import { refsSource } from '../changes/sources.ts';
import { useRepository } from '../shell/repository-context.tsx';
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
          <Button variant="default" leftSection={<Pencil size={14} />} onClick={() => setAsking('edit')}>
            Edit
          </Button>
          {isOpen && (
            <>
              <Button variant="default" onClick={() => setAsking('close')}>
                Close
              </Button>
              <Button
                leftSection={<GitMerge size={15} />}
                disabled={gone !== undefined || counts === undefined || counts.total === 0}
                onClick={() => {
                  setSteering(undefined);
                  setAsking('merge');
                }}
              >
                Merge
              </Button>
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
      {gone !== undefined && isOpen && (
        <Notice kind="warn" title={`Branch ${gone} was deleted`}>
          This pull request can no longer be merged, only closed.
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
      {isOpen && gone === undefined && (
        <DiffBox
          label="Changes"
          title="Changes"
          extra={counts !== undefined && <CountsLine {...counts} />}
          source={refsSource(repository.id, destination, source)}
          file={file}
          onFile={(chosen) => void navigate({ search: (was) => ({ ...was, file: chosen }), replace: true })}
          empty={
            <EmptyState title="No differences">
              Everything of {source} is already in {destination}.
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
