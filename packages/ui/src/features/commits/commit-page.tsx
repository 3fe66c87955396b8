import { Button, Menu, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ChevronDown, ExternalLink, FileStack, Link2 as LinkIcon } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import {
  CopyButton,
  EmptyState,
  ErrorNotice,
  ExactTime,
  Skeletons,
  Tag,
  Time,
  usePageTitle,
} from '../../kit/basics.tsx';
import { ConfirmDialog, FormDialog } from '../../kit/dialog.tsx';
import { client } from '../../lib/api.ts';
import { shortId, summaryOf } from '../../lib/format.ts';
import { svcUri } from '../../lib/paths.ts';
import { commitQuery, tagsByCommitQuery, useWrite } from '../../lib/queries.ts';
import { DiffBox } from '../changes/diff-box.tsx';
import { refsSource, rootSource } from '../changes/sources.ts';
import { CommitRuns } from '../actions/commit-runs.tsx';
import { useRepository } from '../shell/repository-context.tsx';

/** Metadata such as `::svc::Notebook::url[url:ui]` becomes a button. */
function linkOf(key: string, value: string): string | undefined {
  const name = /^::(?:svc|lakefs)::(.+)::ur[il]\[url:ui\]$/.exec(key)?.[1];
  return name !== undefined && /^https?:\/\//i.test(value) ? name : undefined;
}

export function CommitPage(): ReactNode {
  const repository = useRepository();
  const { commitId } = useParams({ from: '/app/repositories/$repo/commits/$commitId' });
  const { parent = '1', file } = useSearch({ from: '/app/repositories/$repo/commits/$commitId' });
  const navigate = useNavigate({ from: '/repositories/$repo/commits/$commitId' });
  const { data: commit, error, refetch } = useQuery(commitQuery(repository.id, commitId));
  const tags = useQuery(tagsByCommitQuery(repository.id)).data?.get(commit?.id ?? '') ?? [];
  usePageTitle(commit === undefined ? 'Commit' : summaryOf(commit.message), shortId(commitId), repository.id);
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (commit === undefined) return <Skeletons rows={8} />;
  const base = commit.parents[Number(parent) - 1] ?? commit.parents[0];
  const metadata = Object.entries(commit.metadata ?? {});
  const [, ...rest] = commit.message.split('\n');
  return (
    <div className="stack">
      <section className="box" aria-label="Commit">
        <div className="box-body stack">
          <div className="row top">
            <div className="grow commit-summary">
              <h1 className="wrap page-title">{summaryOf(commit.message)}</h1>
              {rest.length > 0 && <p className="commit-body">{rest.join('\n').trim()}</p>}
            </div>
            <div className="row">
              <Button
                variant="default"
                leftSection={<FileStack size={15} />}
                onClick={() =>
                  void navigate({
                    to: '/repositories/$repo/objects',
                    params: { repo: repository.id },
                    search: { ref: commit.id },
                  })
                }
              >
                Browse data
              </Button>
              <CommitActions commitId={commit.id} parents={commit.parents} />
            </div>
          </div>
          <dl className="facts">
            <dt>Commit</dt>
            <dd className="row nowrap">
              <code className="wrap">{commit.id}</code>
              <CopyButton text={commit.id} label="Copy commit id" />
              <CopyButton text={svcUri(repository.id, commit.id)} label="Copy URI" icon={LinkIcon} />
            </dd>
            <dt>Committed</dt>
            <dd>
              {commit.committer !== '' && (
                <>
                  by <strong>{commit.committer}</strong>,{' '}
                </>
              )}
              <ExactTime seconds={commit.creation_date} /> (
              <Time seconds={commit.creation_date} />)
            </dd>
            <dt>{commit.parents.length === 1 ? 'Parent' : 'Parents'}</dt>
            <dd className="row">
              {commit.parents.length === 0 && <span className="muted">none, the first commit</span>}
              {commit.parents.map((id) => (
                <Link
                  key={id}
                  className="mono"
                  to="/repositories/$repo/commits/$commitId"
                  params={{ repo: repository.id, commitId: id }}
                >
                  {shortId(id)}
                </Link>
              ))}
            </dd>
            {tags.length > 0 && (
              <>
                <dt>Tags</dt>
                <dd className="row">
                  {tags.map((tag) => (
                    <Tag key={tag} kind="changed">
                      {tag}
                    </Tag>
                  ))}
                </dd>
              </>
            )}
            <CommitRuns repository={repository.id} commitId={commit.id} />
            {metadata.map(([key, value]) => {
              const name = linkOf(key, value);
              return (
                <div className="contents" key={key}>
                  <dt className="wrap">{name ?? key}</dt>
                  <dd>
                    {name === undefined ? (
                      value
                    ) : (
                      <a href={value} target="_blank" rel="noopener noreferrer nofollow">
                        Open {name} <ExternalLink size={12} aria-hidden />
                      </a>
                    )}
                  </dd>
                </div>
              );
            })}
          </dl>
        </div>
      </section>
      <DiffBox
        label="Changes of this commit"
        title="Changes"
        extra={
          commit.parents.length > 1 && (
            <Select
              size="xs"
              aria-label="Compare with parent"
              allowDeselect={false}
              value={parent}
              data={commit.parents.map((id, index) => ({
                value: String(index + 1),
                label: `from parent ${index + 1}: ${shortId(id)}`,
              }))}
              onChange={(value) =>
                void navigate({ search: (was) => ({ ...was, parent: value ?? undefined, file: undefined }) })
              }
            />
          )
        }
        source={
          base === undefined
            ? rootSource(repository.id, commit.id)
            : refsSource(repository.id, base, commit.id, 'two_dot')
        }
        file={file}
        onFile={(path) => void navigate({ search: (was) => ({ ...was, file: path }), replace: true })}
        empty={<EmptyState title="No changes">This commit holds the same data as its parent.</EmptyState>}
      />
    </div>
  );
}

type Asked = 'branch' | 'tag' | 'cherry-pick' | 'reset';

/** Actions on a commit: branch, tag, cherry-pick, reset to it. */
function CommitActions({ commitId, parents }: { commitId: string; parents: readonly string[] }): ReactNode {
  const repository = useRepository();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked>();
  const [name, setName] = useState('');
  const path = { repository: repository.id };
  const done = (): void => setAsked(undefined);
  const work = useWrite(async (what: Asked): Promise<void> => {
    switch (what) {
      case 'branch':
        await client.post('/repositories/{repository}/branches', {
          params: { path },
          body: { name, source: commitId },
        });
        done();
        await navigate({
          to: '/repositories/$repo/objects',
          params: { repo: repository.id },
          search: { ref: name },
        });
        break;
      case 'tag':
        await client.post('/repositories/{repository}/tags', {
          params: { path },
          body: { id: name, ref: commitId },
        });
        done();
        break;
      case 'cherry-pick':
        await client.post('/repositories/{repository}/branches/{branch}/cherry-pick', {
          params: { path: { ...path, branch: name } },
          body: { ref: commitId, ...(parents.length > 1 && { parent_number: 1 }) },
        });
        done();
        await navigate({
          to: '/repositories/$repo/commits',
          params: { repo: repository.id },
          search: { ref: name },
        });
        break;
      case 'reset':
        await client.put('/repositories/{repository}/branches/{branch}/hard_reset', {
          params: { path: { ...path, branch: name }, query: { ref: commitId } },
        });
        done();
        await navigate({
          to: '/repositories/$repo/commits',
          params: { repo: repository.id },
          search: { ref: name },
        });
    }
  });
  const ask = (what: Asked): void => {
    work.reset();
    setName(what === 'reset' ? repository.default_branch : '');
    setAsked(what);
  };
  const titles: Record<Asked, readonly [title: string, label: string, action: string]> = {
    branch: ['Create branch here', 'Branch name', 'Create branch'],
    tag: ['Create tag here', 'Tag name', 'Create tag'],
    'cherry-pick': ['Apply this commit to a branch', 'Branch', 'Apply'],
    reset: ['Reset a branch to this commit', 'Branch', 'Reset branch'],
  };
  const words = asked === undefined ? undefined : titles[asked];
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            rightSection={<ChevronDown size={14} />}
            disabled={repository.read_only === true}
          >
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => ask('branch')}>Create branch here</Menu.Item>
          <Menu.Item onClick={() => ask('tag')}>Create tag here</Menu.Item>
          <Menu.Item onClick={() => ask('cherry-pick')}>Cherry-pick onto …</Menu.Item>
          <Menu.Item
            onClick={() =>
              void navigate({
                to: '/repositories/$repo/compare',
                params: { repo: repository.id },
                search: { ref: repository.default_branch, compare: commitId },
              })
            }
          >
            Compare with {repository.default_branch}
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item c="var(--svc-removed)" onClick={() => ask('reset')}>
            Reset a branch to here
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'reset' ? (
        <ConfirmDialog
          opened
          onClose={done}
          title={titles.reset[0]}
          action={titles.reset[2]}
          typed={name}
          busy={work.isPending}
          error={work.error ?? undefined}
          onSubmit={() => work.mutate('reset')}
        >
          <TextInput label="Branch" value={name} onChange={(event) => setName(event.currentTarget.value)} />
          <p>
            The branch will point to {shortId(commitId)}; commits after it are no longer part of the branch. A
            branch with uncommitted changes is refused.
          </p>
        </ConfirmDialog>
      ) : (
        words !== undefined && (
          <FormDialog
            opened
            onClose={done}
            title={words[0]}
            action={words[2]}
            busy={work.isPending}
            error={work.error ?? undefined}
            disabled={name === ''}
            onSubmit={() => asked !== undefined && work.mutate(asked)}
          >
            <TextInput
              data-autofocus
              label={words[1]}
              value={name}
              onChange={(event) => setName(event.currentTarget.value.trim())}
            />
          </FormDialog>
        )
      )}
    </>
  );
}
