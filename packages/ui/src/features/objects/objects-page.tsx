import { ActionIcon, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CloudDownload, GitCommitHorizontal, RefreshCw, Upload } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Skeletons, Tag, usePageTitle } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { Hint } from '../../kit/hint.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import { ProtectedTag } from '../../kit/protected-tag.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { SnippetsMenu } from '../../kit/snippets-menu.tsx';
import { formatCount, shortId } from '../../lib/format.ts';
import { changesQuery, refreshAll } from '../../lib/queries.ts';
import { listSnippets } from '../../lib/snippets.ts';
import { parseTimeRef } from '../../lib/time-refs.ts';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';
import { TimeBanner } from '../time/time-banner.tsx';
import { CollectionHint } from './collection-hint.tsx';
import { Folder } from './folder.tsx';
import { PageDrop } from './page-drop.tsx';
import type { PickedFile } from './picked-files.ts';

const UploadDialog = onDemand(async () => (await import('./upload-dialog.tsx')).UploadDialog);
const ImportDialog = onDemand(async () => (await import('./import-dialog.tsx')).ImportDialog);
const CreateRefDialog = onDemand(
  async () => (await import('../branches/create-ref-dialog.tsx')).CreateRefDialog,
);
const CommitDialog = onDemand(async () => (await import('../changes/commit-dialog.tsx')).CommitDialog);
const Uncommitted = lazy(async () => ({ default: (await import('../changes/uncommitted.tsx')).Uncommitted }));

export function ObjectsPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/objects' });
  const navigate = useNavigate({ from: '/repositories/$repo/objects' });
  const prefix = search.path ?? '';
  const current = useCurrentRef(search.ref, prefix);
  const { ref, isBranch, resolved, readOnlyReason, refusal } = current;
  const showChanges = search.showChanges === 'true' && isBranch;
  usePageTitle(prefix === '' ? 'Data' : prefix, shortId(ref), repository.id);
  const uncommitted = useQuery({ ...changesQuery(repository.id, ref), enabled: isBranch }).data;
  const dirty = uncommitted !== undefined && uncommitted.changes.length > 0;
  const [files, setFiles] = useState<PickedFile[]>([]);
  const [committing, setCommitting] = useState(false);
  const [branching, setBranching] = useState(false);
  const uploading = search.upload !== undefined || files.length > 0;
  const importing = search.importDialog !== undefined;

  const go = (change: Partial<typeof search>, replace = false): void =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace });
  const writeTip = readOnlyReason;
  // One button stands out: with uncommitted changes that is Commit.
  const mainVariant = dirty ? 'default' : 'filled';
  const commitTip = current.isProtected ? readOnlyReason : refusal('fs:CreateCommit');
  // Somebody who may not write here may still do so on a branch of their own.
  const canBranchOff =
    writeTip !== undefined &&
    resolved !== undefined &&
    refusal('fs:CreateBranch') === undefined &&
    refusal('fs:WriteObject') === undefined;

  if (resolved === null) {
    return (
      <>
        <h1 className="visually-hidden">Data</h1>
        <EmptyState
          title={`There is no branch, tag or commit ${ref}`}
          actions={
            <RefPicker
              repository={repository.id}
              defaultBranch={repository.default_branch}
              value={repository.default_branch}
              onChange={(chosen) => go({ ref: chosen })}
            />
          }
        >
          {search.ref === undefined
            ? 'This repository is bare: it has no branch yet. Restore dumped refs into it with svcctl refs-restore.'
            : 'It may have been deleted. Choose another to look at.'}
        </EmptyState>
      </>
    );
  }

  return (
    <>
      <h1 className="visually-hidden">Data of {repository.id}</h1>
      <div className="row toolbar objects-bar">
        <RefPicker
          repository={repository.id}
          defaultBranch={repository.default_branch}
          value={ref}
          kind={resolved?.kind}
          canCreate={refusal('fs:CreateBranch') === undefined}
          onChange={(chosen) => go({ ref: chosen, after: undefined, showChanges: undefined })}
        />
        {resolved?.kind === 'commit' && resolved.commitId !== ref && parseTimeRef(ref) === undefined && (
          <Tag kind="info">pinned to {shortId(resolved.commitId)}</Tag>
        )}
        {current.isProtected && <ProtectedTag repo={repository.id} />}
        {isBranch && dirty && (
          <>
            <Button
              variant={showChanges ? 'light' : 'default'}
              aria-pressed={showChanges}
              leftSection={<span className="dot-changed" />}
              onClick={() => go({ showChanges: showChanges ? undefined : 'true' })}
            >
              Uncommitted ({formatCount(uncommitted.changes.length)}
              {!uncommitted.complete && '+'})
            </Button>
            <GuardedButton
              leftSection={<GitCommitHorizontal size={15} />}
              reason={commitTip}
              onClick={() => setCommitting(true)}
            >
              Commit
            </GuardedButton>
          </>
        )}
        <div className="right row">
          <Hint label="Read again">
            <ActionIcon variant="default" size={36} aria-label="Refresh" onClick={() => void refreshAll()}>
              <RefreshCw size={15} />
            </ActionIcon>
          </Hint>
          <SnippetsMenu
            snippets={listSnippets({
              origin: globalThis.location.origin,
              repository: repository.id,
              ref,
              path: prefix,
            })}
          />
          <GuardedButton
            variant="default"
            leftSection={<CloudDownload size={15} />}
            reason={writeTip ?? refusal('fs:CreateCommit')}
            onClick={() => go({ importDialog: 'true' })}
          >
            Import
          </GuardedButton>
          {canBranchOff ? (
            <Hint label={writeTip}>
              <Button
                variant={mainVariant}
                leftSection={<Upload size={15} />}
                onClick={() => setBranching(true)}
              >
                Upload to a new branch
              </Button>
            </Hint>
          ) : (
            <GuardedButton
              variant={mainVariant}
              leftSection={<Upload size={15} />}
              reason={writeTip}
              onClick={() => go({ upload: 'true' })}
            >
              Upload
            </GuardedButton>
          )}
        </div>
      </div>
      <TimeBanner resolved={resolved} onRef={(chosen) => go({ ref: chosen, after: undefined })} />
      <CollectionHint />
      {current.error !== undefined && <ErrorNotice error={current.error} />}
      {resolved === undefined ? (
        current.error === undefined && <Skeletons rows={10} />
      ) : showChanges ? (
        <Suspense fallback={<Skeletons />}>
          <Uncommitted
            branch={ref}
            onUpload={() => go({ upload: 'true' })}
            onClose={() => go({ showChanges: undefined })}
            readOnly={refusal('fs:RevertBranch') !== undefined}
          />
        </Suspense>
      ) : (
        <Folder
          key={`${ref}/${prefix}`}
          refName={ref}
          prefix={prefix}
          commitId={resolved.commitId}
          isBranch={isBranch}
          after={search.after ?? ''}
          canWrite={writeTip === undefined}
          canDelete={writeTip === undefined && refusal('fs:DeleteObject') === undefined}
          onUpload={() => go({ upload: 'true' })}
          onImport={() => go({ importDialog: 'true' })}
        />
      )}
      {isBranch && writeTip === undefined && !uploading && <PageDrop onFiles={setFiles} />}
      {uploading && isBranch && (
        <UploadDialog
          branch={ref}
          prefix={prefix}
          initial={files}
          onClose={() => {
            setFiles([]);
            go({ upload: undefined }, true);
          }}
        />
      )}
      {importing && isBranch && (
        <ImportDialog branch={ref} prefix={prefix} onClose={() => go({ importDialog: undefined }, true)} />
      )}
      {branching && (
        <CreateRefDialog
          kind="branch"
          from={ref}
          onClose={() => setBranching(false)}
          onBranch={(branch) => go({ ref: branch, upload: 'true' })}
        />
      )}
      {committing && (
        <CommitDialog
          branch={ref}
          onClose={() => setCommitting(false)}
          onDone={() => {
            setCommitting(false);
            go({ showChanges: undefined });
          }}
        />
      )}
    </>
  );
}
