import { ActionIcon, Button } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, Tag as TagIcon, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState, usePageTitle } from '../../kit/basics.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { ListTabs, livingOrDeleted } from '../../kit/list-tabs.tsx';
import { offerUndo } from '../../kit/offer-undo.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Ref } from '../../lib/api.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList } from '../../lib/use-paged-list.ts';
import { useWrite } from '../../lib/queries.ts';
import { tagSnippet } from '../../lib/snippets.ts';
import { useRefusal, useRepository } from '../shell/repository-context.tsx';
import { DeletedRefs } from '../time/deleted-refs.tsx';
import { undelete } from '../time/undelete.ts';
import { CommitLine } from './commit-line.tsx';
import { CopyRefMenu } from './copy-ref-menu.tsx';
import { CreateRefDialog } from './create-ref-dialog.tsx';

export function TagsPage(): ReactNode {
  const repository = useRepository();
  const { prefix = '', tab } = useSearch({ from: '/app/repositories/$repo/tags' });
  const shelf = tab === 'deleted' ? 'deleted' : 'living';
  const navigate = useNavigate({ from: '/repositories/$repo/tags' });
  usePageTitle('Tags', repository.id);
  const [creating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<string>();
  const setPrefix = (value: string): void =>
    void navigate({ search: (was) => ({ ...was, prefix: value === '' ? undefined : value }), replace: true });
  const list = usePagedList<Ref>(['tags', repository.id, prefix], async (after, amount, signal) =>
    toPage(
      await client.get('/repositories/{repository}/tags', {
        params: { path: { repository: repository.id }, query: { search: prefix, after, amount } },
        signal,
      }),
    ),
  );
  const remove = useWrite(
    (tag: string) =>
      client.delete('/repositories/{repository}/tags/{tag}', {
        params: { path: { repository: repository.id, tag } },
      }),
    (_answer, tag) => {
      setDeleting(undefined);
      offerUndo(`Tag ${tag} deleted`, () => undelete(repository.id, { type: 'tag', id: tag }));
    },
  );
  const refusal = useRefusal();
  const keeps = refusal('fs:DeleteTag') !== undefined;
  return (
    <>
      <div className="page-head">
        <h1>Tags</h1>
        <div className="right row">
          <FilterField
            label="Find tags by a part of their name"
            placeholder="Find a tag"
            value={prefix}
            onFilter={setPrefix}
          />
          <GuardedButton
            leftSection={<Plus size={15} />}
            reason={refusal('fs:CreateTag')}
            onClick={() => setCreating(true)}
          >
            Create tag
          </GuardedButton>
        </div>
      </div>
      <div className="box">
        <ListTabs
          label="Which tags"
          tabs={livingOrDeleted}
          value={shelf}
          onChange={(chosen) =>
            void navigate({ search: (was) => ({ ...was, tab: chosen === 'deleted' ? chosen : undefined }) })
          }
        />
        {shelf === 'deleted' ? (
          <DeletedRefs type="tag" prefix={prefix} />
        ) : (
          <VirtualList
            label="Tags"
            noun="tags"
            list={list}
            rowHeight={54}
            header={false}
            columns={[
              {
                name: 'Tag',
                width: 'minmax(0, 1fr)',
                cell: ({ id, commit_id }) => (
                  <div>
                    <div className="row nowrap">
                      <TagIcon size={15} aria-hidden className="muted" />
                      <Link
                        data-row-link
                        className="ellipsis strong"
                        to="/repositories/$repo/objects"
                        params={{ repo: repository.id }}
                        search={{ ref: id }}
                      >
                        {id}
                      </Link>
                    </div>
                    <CommitLine commitId={commit_id} />
                  </div>
                ),
              },
              {
                name: 'Actions',
                width: '64px',
                cell: ({ id, commit_id }) => (
                  <span className="row nowrap end closest">
                    <CopyRefMenu repository={repository.id} name={id} commitId={commit_id} />
                    {!keeps && (
                      <ActionIcon
                        variant="subtle"
                        color="gray"
                        size={26}
                        aria-label={`Delete ${id}`}
                        onClick={() => setDeleting(id)}
                      >
                        <Trash2 size={15} />
                      </ActionIcon>
                    )}
                  </span>
                ),
              },
            ]}
            empty={
              <EmptyState
                icon={<TagIcon size={36} aria-hidden />}
                title={prefix === '' ? 'No tags yet' : `No tag contains “${prefix}”`}
                actions={
                  prefix !== '' ? (
                    <ClearFilter onClear={() => setPrefix('')} />
                  ) : (
                    refusal('fs:CreateTag') === undefined && (
                      <Button leftSection={<Plus size={15} />} onClick={() => setCreating(true)}>
                        Create tag
                      </Button>
                    )
                  )
                }
                snippet={tagSnippet(repository.id, 'v1.0', repository.default_branch)}
              >
                A tag gives one commit a name that never moves: the data a model was trained on, the numbers
                of a report.
              </EmptyState>
            }
          />
        )}
      </div>
      {creating && <CreateRefDialog kind="tag" onClose={() => setCreating(false)} />}
      <ConfirmDialog
        opened={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete tag"
        action="Delete"
        busy={remove.isPending}
        error={remove.error}
        onSubmit={() => deleting !== undefined && remove.mutate(deleting)}
      >
        Delete the tag <strong>{deleting}</strong>? It can be brought back for a while.
      </ConfirmDialog>
    </>
  );
}
