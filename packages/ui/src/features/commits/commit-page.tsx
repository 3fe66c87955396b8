import { Button, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { ExternalLink, FileStack, Link2 as LinkIcon } from 'lucide-react';
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
import { shortId, summaryOf } from '../../lib/format.ts';
import { svcUri } from '../../lib/paths.ts';
import { commitQuery, tagsByCommitQuery } from '../../lib/queries.ts';
import { DiffBox } from '../changes/diff-box.tsx';
import { refsSource, rootSource } from '../changes/sources.ts';
import { CommitRuns } from '../actions/commit-runs.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { CommitActions } from './commit-actions.tsx';
import { PickConflicts } from './pick-conflicts.tsx';

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
  const [pickedOnto, setPickedOnto] = useState<string>();
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
              <CommitActions commitId={commit.id} parents={commit.parents} onConflict={setPickedOnto} />
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
      {pickedOnto !== undefined && <PickConflicts commit={commit} branch={pickedOnto} />}
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
