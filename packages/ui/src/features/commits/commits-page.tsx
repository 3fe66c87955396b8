import { Button, Checkbox, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { FileStack, GitBranch, GitCommitHorizontal, Tag as TagIcon } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, CopyButton, EmptyState, Tag, Time, usePageTitle } from '../../kit/basics.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import type { Column } from '../../kit/virtual-list.tsx';
import { client } from '../../lib/api.ts';
import type { Commit } from '../../lib/api.ts';
import { ancestryOf, graphWidth, layOutGraph } from '../../lib/commit-graph.ts';
import { shortId, summaryOf } from '../../lib/format.ts';
import { toPage } from '../../lib/paged-list.ts';
import { usePagedList, usePagedState } from '../../lib/use-paged-list.ts';
import { tagsByCommitQuery, tipsByCommitQuery } from '../../lib/queries.ts';
import { commitSnippet, logSnippet } from '../../lib/snippets.ts';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';
import { TimeBanner } from '../time/time-banner.tsx';
import { GraphCell, graphPixels } from './commit-graph.tsx';

const rowHeight = 56;

export function CommitsPage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/commits' });
  const navigate = useNavigate({ from: '/repositories/$repo/commits' });
  const { ref, resolved, isBranch, readOnlyReason } = useCurrentRef(search.ref);
  usePageTitle('Commits', shortId(ref), repository.id);
  const path = search.path ?? '';
  const graph = search.graph !== '0' && path === '';
  const reverting = search.revert === 'true' && isBranch;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const tags = useQuery(tagsByCommitQuery(repository.id)).data;
  const tips = useQuery(tipsByCommitQuery(repository.id)).data;
  const list = usePagedList<Commit>(['commits', repository.id, ref, path], async (after, amount, signal) =>
    toPage(
      await client.get('/repositories/{repository}/refs/{ref}/commits', {
        params: {
          path: { repository: repository.id, ref },
          query: {
            after,
            amount,
            ...(path !== '' && (path.endsWith('/') ? { prefixes: [path] } : { objects: [path] })),
          },
        },
        signal,
      }),
    ),
  );
  const state = usePagedState(list);
  const commits = useMemo(() => {
    const loaded: Commit[] = [];
    for (let index = 0; index < state.count; index++) {
      const commit = list.row(index);
      if (commit === undefined) break;
      loaded.push(commit);
    }
    return loaded;
    // The list is the same object as it grows; its version tells of a change.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [list, state.count, state.version]);
  const rows = useMemo(() => (graph ? layOutGraph(commits) : []), [commits, graph]);
  const [pointed, setPointed] = useState<number>();
  const ancestry = useMemo(
    () => (pointed === undefined || !graph ? undefined : ancestryOf(commits, pointed)),
    [commits, pointed, graph],
  );
  const lanes = useMemo(() => graphWidth(rows), [rows]);
  const go = (change: Partial<typeof search>): void =>
    void navigate({ search: (was) => ({ ...was, ...change }) });
  const setPath = (value: string): void => go({ path: value === '' ? undefined : value });
  const params = { repo: repository.id };

  const columns: Column<Commit>[] = [];
  if (graph && rows.length > 0) {
    columns.push({
      name: 'Graph',
      quiet: true,
      width: `${graphPixels(lanes)}px`,
      cell(commit, index) {
        const row = rows[index];
        return row === undefined ? null : (
          <GraphCell
            row={row}
            previous={rows[index - 1]}
            height={rowHeight}
            lanes={lanes}
            faded={ancestry?.has(commit.id) === false}
          />
        );
      },
    });
  }
  if (reverting) {
    columns.push({
      name: 'Revert',
      quiet: true,
      width: '28px',
      cell: (commit) => (
        <Checkbox
          aria-label={`Revert ${summaryOf(commit.message)}`}
          checked={chosen.has(commit.id)}
          disabled={commit.parents.length === 0}
          title={commit.parents.length === 0 ? 'The first commit undoes nothing' : undefined}
          onChange={(event) => {
            const next = new Set(chosen);
            if (event.currentTarget.checked) next.add(commit.id);
            else next.delete(commit.id);
            setChosen(next);
          }}
        />
      ),
    });
  }
  columns.push(
    {
      name: 'Commit',
      width: 'minmax(0, 1fr)',
      cell: (commit) => (
        <div>
          <div className="row nowrap">
            <Link
              data-row-link
              data-commit={commit.id}
              data-parent={commit.parents[0]}
              className="ellipsis subject"
              to="/repositories/$repo/commits/$commitId"
              params={{ ...params, commitId: commit.id }}
            >
              {summaryOf(commit.message)}
            </Link>
            <span className="refs">
              {(tips?.get(commit.id) ?? []).slice(0, 3).map((branch) => (
                <Tag key={branch} kind="info">
                  <GitBranch size={12} aria-label="branch" /> <span className="ellipsis">{branch}</span>
                </Tag>
              ))}
              {(tags?.get(commit.id) ?? []).slice(0, 3).map((tag) => (
                <Tag key={tag} kind="changed">
                  <TagIcon size={12} aria-label="tag" /> <span className="ellipsis">{tag}</span>
                </Tag>
              ))}
            </span>
          </div>
          <div className="small muted ellipsis">
            {commit.committer === '' ? 'Committed' : `${commit.committer} committed`}{' '}
            <Time seconds={commit.creation_date} />
          </div>
        </div>
      ),
    },
    {
      name: 'Id',
      width: '178px',
      wide: true,
      className: 'num',
      cell: (commit) => (
        <span className="row nowrap end">
          <Link
            className="mono"
            to="/repositories/$repo/commits/$commitId"
            params={{ ...params, commitId: commit.id }}
          >
            {commit.id.slice(0, 16)}
          </Link>
          <CopyButton text={commit.id} label="Copy commit id" />
        </span>
      ),
    },
    {
      name: 'Browse',
      quiet: true,
      width: '30px',
      cell: (commit) => (
        <Link
          className="graph-node"
          to="/repositories/$repo/objects"
          params={params}
          search={{ ref: commit.id }}
          aria-label={`Browse the data at ${summaryOf(commit.message)}`}
          title="Browse the data at this commit"
        >
          <FileStack size={16} />
        </Link>
      ),
    },
  );

  return (
    <>
      <div className="page-head">
        <h1>Commits</h1>
        <RefPicker
          repository={repository.id}
          defaultBranch={repository.default_branch}
          value={ref}
          kind={resolved?.kind}
          onChange={(value) => go({ ref: value, revert: undefined })}
        />
        <div className="right row">
          <FilterField
            label="Only commits that changed a path"
            placeholder="Path or folder/"
            value={path}
            onFilter={setPath}
            width={200}
          />
          {path === '' && (
            <Switch
              label="Graph"
              checked={graph}
              onChange={(event) => go({ graph: event.currentTarget.checked ? undefined : '0' })}
            />
          )}
          {isBranch && readOnlyReason === undefined && (
            <>
              {reverting && (
                <Button
                  disabled={chosen.size === 0}
                  onClick={() => {
                    const ids = commits.map(({ id }) => id).filter((id) => chosen.has(id));
                    void navigate({
                      to: '/repositories/$repo/branches/$branch/revert',
                      params: { ...params, branch: ref },
                      search: { commits: ids.join(',') },
                    });
                  }}
                >
                  Continue with {chosen.size}
                </Button>
              )}
              <Button
                variant="default"
                onClick={() => {
                  setChosen(new Set());
                  go({ revert: reverting ? undefined : 'true' });
                }}
              >
                {reverting ? 'Cancel' : 'Revert commits'}
              </Button>
            </>
          )}
        </div>
      </div>
      <TimeBanner resolved={resolved} onRef={(chosen) => go({ ref: chosen })} />
      <div className="box">
        <VirtualList
          label={`Commits of ${ref}`}
          noun="commits"
          list={list}
          rowHeight={rowHeight}
          onPoint={setPointed}
          header={false}
          columns={columns}
          empty={
            path === '' ? (
              <EmptyState
                icon={<GitCommitHorizontal size={36} aria-hidden />}
                title="No commits yet"
                snippet={commitSnippet(repository.id, ref)}
              >
                A commit is a version of all data of a branch that can be returned to.
              </EmptyState>
            ) : (
              <EmptyState
                title={`No commit of ${shortId(ref)} changed ${path}`}
                actions={<ClearFilter onClear={() => setPath('')} />}
                snippet={logSnippet(repository.id, ref)}
              >
                A folder ends with “/”; anything else is the path of one object.
              </EmptyState>
            )
          }
        />
      </div>
    </>
  );
}
