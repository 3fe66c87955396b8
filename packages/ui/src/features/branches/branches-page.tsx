import { ActionIcon, Button, Switch } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { GitBranch, GitCompareArrows, History, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, Tag, usePageTitle } from '../../kit/basics.tsx';
import { useChoice, useChoiceColumn } from '../../kit/choice.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { ListTabs, livingOrDeleted } from '../../kit/list-tabs.tsx';
import { FailureNotice, useRemoval } from '../../kit/removal.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Ref } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { branchSnippet } from '../../lib/snippets.ts';
import { BucketCaution } from '../buckets/bucket-caution.tsx';
import { useAliasesOf } from '../buckets/use-aliases-of.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';
import { DeletedRefs } from '../time/deleted-refs.tsx';
import { undelete } from '../time/undelete.ts';
import { BranchState } from './branch-state.tsx';
import { CommitLine } from './commit-line.tsx';
import { CopyRefMenu } from './copy-ref-menu.tsx';
import { CreateRefDialog } from './create-ref-dialog.tsx';

const noun = ['branch', 'branches'] as const;

/** Whether a ref goes with the branch: `main`, `main@`, `main@2h`, `main~1`. */
const follows = (ref: string, branch: string): boolean => /^[^@~^$]*/.exec(ref)?.[0] === branch;

export function BranchesPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/branches' });
  const navigate = useNavigate({ from: '/repositories/$repo/branches' });
  usePageTitle('Branches', repository.id);
  const prefix = search.prefix ?? '';
  const hidden = search.show_hidden === 'true';
  const shelf = search.tab === 'deleted' ? 'deleted' : 'living';
  const [creating, setCreating] = useState(false);
  const choice = useChoice<Ref>();
  const setPrefix = (value: string): void =>
    void navigate({ search: (was) => ({ ...was, prefix: value === '' ? undefined : value }), replace: true });
  const list = usePagedList<Ref>(
    ['branches', repository.id, prefix, String(hidden)],
    async (after, amount, signal) =>
      toPage(
        await client.get('/repositories/{repository}/branches', {
          params: {
            path: { repository: repository.id },
            query: { search: prefix, after, amount, show_hidden: hidden },
          },
          signal,
        }),
      ),
  );
  const refusal = useRefusal();
  const keeps = refusal('fs:DeleteBranch') !== undefined;
  const aliases = useAliasesOf(repository.id);
  const params = { repo: repository.id };

  const remove = useRemoval<Ref>({
    choice,
    noun,
    nameOf: ({ id }) => id,
    remove: ({ id }) =>
      client.delete('/repositories/{repository}/branches/{branch}', {
        params: { path: { repository: repository.id, branch: id } },
      }),
    warning: 'It can be brought back for a while, but without its uncommitted changes.',
    caution: (names) => (
      <BucketCaution aliases={aliases.filter(({ ref }) => names.some((name) => follows(ref, name)))} />
    ),
    undo: ({ id }) => undelete(repository.id, { type: 'branch', id }),
  });
  const chooser = useChoiceColumn<Ref>({
    choice,
    list,
    idOf: ({ id }) => id,
    canChoose: ({ id }) => id !== repository.default_branch && !keeps,
  });

  return (
    <>
      <div className="page-head">
        <h1>Branches</h1>
        <div className="right row">
          {choice.rows.size > 0 && (
            <Button color="danger" leftSection={<Trash2 size={15} />} onClick={() => remove.ask(choice.rows)}>
              Delete {choice.rows.size}
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
          <FilterField
            label="Find branches by a part of their name"
            placeholder="Find a branch"
            value={prefix}
            onFilter={setPrefix}
          />
          <GuardedButton
            leftSection={<Plus size={15} />}
            reason={refusal('fs:CreateBranch')}
            onClick={() => setCreating(true)}
          >
            Create branch
          </GuardedButton>
        </div>
      </div>
      <FailureNotice failures={remove.failures} noun={noun} />
      <div className="box">
        <ListTabs
          label="Which branches"
          tabs={livingOrDeleted}
          value={shelf}
          onChange={(tab) =>
            void navigate({ search: (was) => ({ ...was, tab: tab === 'deleted' ? tab : undefined }) })
          }
        />
        {shelf === 'deleted' ? (
          <DeletedRefs type="branch" prefix={prefix} showHidden={hidden} />
        ) : (
          <VirtualList
            label="Branches"
            noun="branches"
            list={list}
            rowHeight={54}
            columns={[
              ...(keeps ? [] : [chooser]),
              {
                name: 'Branch',
                width: 'minmax(0, 1fr)',
                cell: ({ id, commit_id }) => (
                  <div>
                    <div className="row nowrap">
                      <GitBranch size={15} aria-hidden className="muted" />
                      <Link
                        data-row-link
                        className="ellipsis strong"
                        to="/repositories/$repo/objects"
                        params={params}
                        search={{ ref: id }}
                      >
                        {id}
                      </Link>
                      {id === repository.default_branch && <Tag kind="info">default</Tag>}
                      <BranchState branch={id} />
                    </div>
                    <CommitLine commitId={commit_id} />
                  </div>
                ),
              },
              {
                name: 'Actions',
                width: '126px',
                quiet: true,
                cell: (branch) => {
                  const { id } = branch;
                  return (
                    <span className="row nowrap end closest">
                      <CopyRefMenu repository={repository.id} name={id} commitId={branch.commit_id} />
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        size={26}
                        aria-label={`History of ${id}`}
                        onClick={() =>
                          void navigate({
                            to: '/repositories/$repo/history',
                            params,
                            search: { ref: id, type: 'branch' },
                          })
                        }
                      >
                        <History size={15} />
                      </ActionIcon>
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
                          {!keeps && (
                            <ActionIcon
                              variant="subtle"
                              color="gray"
                              size={26}
                              aria-label={`Delete ${id}`}
                              onClick={() => remove.ask(new Map([[id, branch]]))}
                            >
                              <Trash2 size={15} />
                            </ActionIcon>
                          )}
                        </>
                      )}
                    </span>
                  );
                },
              },
            ]}
            empty={
              <EmptyState
                icon={<GitBranch size={36} aria-hidden />}
                title={prefix === '' ? 'No branches' : `No branch contains “${prefix}”`}
                actions={prefix !== '' && <ClearFilter onClear={() => setPrefix('')} />}
                snippet={branchSnippet(repository.id, 'experiment', repository.default_branch)}
              >
                A branch is a copy of all data that costs nothing until something is changed on it.
              </EmptyState>
            }
          />
        )}
      </div>
      {creating && <CreateRefDialog kind="branch" onClose={() => setCreating(false)} />}
      {remove.dialog}
    </>
  );
}
