import { ActionIcon, Button, Checkbox, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { GitBranch, GitCompareArrows, Plus, Search, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, EmptyState, Notice, Tag, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Ref } from '../../lib/api.ts';
import { explain } from '../../lib/explain.ts';
import { plural } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { svcUri } from '../../lib/paths.ts';
import { refreshAll } from '../../lib/queries.ts';
import { branchSnippet } from '../../lib/snippets.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { CommitLine } from './commit-line.tsx';
import { CreateRefDialog } from './create-ref-dialog.tsx';

interface Failure {
  readonly branch: string;
  readonly reason: string;
}

export function BranchesPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/branches' });
  const navigate = useNavigate({ from: '/repositories/$repo/branches' });
  usePageTitle('Branches', repository.id);
  const prefix = search.prefix ?? '';
  const hidden = search.show_hidden === 'true';
  const [text, setText] = useState(prefix);
  const [creating, setCreating] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [deleting, setDeleting] = useState<readonly string[]>();
  const [busy, setBusy] = useState(false);
  const [failures, setFailures] = useState<readonly Failure[]>([]);
  const filter = useDebouncedCallback(
    (value: string) =>
      void navigate({
        search: (was) => ({ ...was, prefix: value === '' ? undefined : value }),
        replace: true,
      }),
    250,
  );
  const list = usePagedList<Ref>(
    ['branches', repository.id, prefix, String(hidden)],
    async (after, amount, signal) =>
      toPage(
        await client.get('/repositories/{repository}/branches', {
          params: {
            path: { repository: repository.id },
            query: { prefix, after, amount, show_hidden: hidden },
          },
          signal,
        }),
      ),
  );
  const readOnly = repository.read_only === true;
  const params = { repo: repository.id };

  const remove = async (names: readonly string[]): Promise<void> => {
    setBusy(true);
    const failed: Failure[] = [];
    for (const branch of names) {
      try {
        await client.delete('/repositories/{repository}/branches/{branch}', {
          params: { path: { repository: repository.id, branch } },
        });
      } catch (error) {
        failed.push({ branch, reason: explain(error).text });
      }
    }
    setFailures(failed);
    // What could not be deleted stays chosen.
    setChosen(new Set(failed.map(({ branch }) => branch)));
    setBusy(false);
    setDeleting(undefined);
    await refreshAll();
  };

  return (
    <>
      <div className="page-head">
        <h1>Branches</h1>
        <div className="right row">
          {chosen.size > 0 && (
            <Button
              color="danger"
              leftSection={<Trash2 size={15} />}
              onClick={() => setDeleting([...chosen])}
            >
              Delete {chosen.size}
            </Button>
          )}
          <Switch
            label="Hidden"
            checked={hidden}
            onChange={(event) =>
              void navigate({
                search: (was) => ({ ...was, show_hidden: event.currentTarget.checked ? 'true' : undefined }),
              })
            }
          />
          <TextInput
            data-filter
            aria-label="Find branches that start with"
            placeholder="Find a branch"
            leftSection={<Search size={15} />}
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              filter(event.currentTarget.value);
            }}
          />
          <Button leftSection={<Plus size={15} />} disabled={readOnly} onClick={() => setCreating(true)}>
            Create branch
          </Button>
        </div>
      </div>
      {failures.length > 0 && (
        <div style={{ marginBottom: 12 }}>
          <Notice
            kind="error"
            title={`${plural(failures.length, 'branch', 'branches')} could not be deleted`}
          >
            {failures.map(({ branch, reason }) => (
              <div key={branch}>
                <strong>{branch}</strong>: {reason}
              </div>
            ))}
          </Notice>
        </div>
      )}
      <div className="box">
        <VirtualList
          label="Branches"
          noun="branches"
          list={list}
          rowHeight={54}
          header={false}
          columns={[
            {
              name: 'Choose',
              width: '24px',
              cell: ({ id }) =>
                id === repository.default_branch || readOnly ? null : (
                  <Checkbox
                    aria-label={`Choose ${id}`}
                    checked={chosen.has(id)}
                    onChange={(event) => {
                      const next = new Set(chosen);
                      if (event.currentTarget.checked) next.add(id);
                      else next.delete(id);
                      setChosen(next);
                    }}
                  />
                ),
            },
            {
              name: 'Branch',
              width: 'minmax(0, 1fr)',
              cell: ({ id, commit_id }) => (
                <div>
                  <div className="row nowrap">
                    <GitBranch size={15} aria-hidden className="muted" />
                    <Link
                      data-row-link
                      className="ellipsis"
                      style={{ fontWeight: 600 }}
                      to="/repositories/$repo/objects"
                      params={params}
                      search={{ ref: id }}
                    >
                      {id}
                    </Link>
                    {id === repository.default_branch && <Tag kind="info">default</Tag>}
                  </div>
                  <CommitLine commitId={commit_id} />
                </div>
              ),
            },
            {
              name: 'Actions',
              width: '96px',
              cell: ({ id }) => (
                <span className="row nowrap" style={{ justifyContent: 'flex-end', gap: 2 }}>
                  <CopyButton text={svcUri(repository.id, id)} label={`Copy URI of ${id}`} />
                  {id !== repository.default_branch && (
                    <>
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        size={26}
                        aria-label={`Compare ${id} with ${repository.default_branch}`}
                        onClick={() =>
                          void navigate({
                            to: '/repositories/$repo/compare',
                            params,
                            search: { ref: repository.default_branch, compare: id },
                          })
                        }
                      >
                        <GitCompareArrows size={15} />
                      </ActionIcon>
                      {!readOnly && (
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          size={26}
                          aria-label={`Delete ${id}`}
                          onClick={() => setDeleting([id])}
                        >
                          <Trash2 size={15} />
                        </ActionIcon>
                      )}
                    </>
                  )}
                </span>
              ),
            },
          ]}
          empty={
            <EmptyState
              icon={<GitBranch size={36} aria-hidden />}
              title={prefix === '' ? 'No branches' : `No branch starts with “${prefix}”`}
              snippet={branchSnippet(repository.id, 'experiment', repository.default_branch)}
            >
              A branch is a copy of all data that costs nothing until something is changed on it.
            </EmptyState>
          }
        />
      </div>
      {creating && <CreateRefDialog kind="branch" onClose={() => setCreating(false)} />}
      <ConfirmDialog
        opened={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={deleting?.length === 1 ? 'Delete branch' : 'Delete branches'}
        action="Delete"
        busy={busy}
        onSubmit={() => deleting !== undefined && void remove(deleting)}
      >
        Delete {deleting?.slice(0, 10).join(', ')}
        {(deleting?.length ?? 0) > 10 && ` and ${(deleting?.length ?? 0) - 10} more`}? Uncommitted changes on
        it are lost; commits that no other branch or tag holds can no longer be found.
      </ConfirmDialog>
    </>
  );
}
