import { ActionIcon, Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import {
  ArrowLeft,
  ArrowLeftRight,
  GitCompareArrows,
  GitMerge,
  GitPullRequest,
  RefreshCw,
} from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, Notice, usePageTitle } from '../../kit/basics.tsx';
import { GuardedButton } from '../../kit/guarded-button.tsx';
import { Hint } from '../../kit/hint.tsx';
import { RefPicker } from '../../kit/ref-picker.tsx';
import { plural, shortId } from '../../lib/format.ts';
import { refreshAll } from '../../lib/queries.ts';
import { diffSnippet } from '../../lib/snippets.ts';
import type { CurrentRef } from '../shell/repository-context.tsx';
import { useCurrentRef, useRepository } from '../shell/repository-context.tsx';
import { DiffBox } from './diff-box.tsx';
import { ConflictResolver } from './conflict-resolver.tsx';
import { mergeMeeting } from './meetings.ts';
import { MergeDialog } from './merge-dialog.tsx';
import type { MergeSteering } from './merge-dialog.tsx';
import { refsSource } from './sources.ts';
import type { DiffMode } from './sources.ts';

/** Counts of a difference by kind, over at most the first thousand changes. */
export function useDiffCounts(
  repository: string,
  base: string,
  head: string,
  enabled: boolean,
  mode: DiffMode = 'three_dot',
) {
  return useQuery({
    queryKey: ['diff-counts', repository, base, head, mode],
    queryFn: async () => {
      const { pagination, results } = await refsSource(repository, base, head, mode).load({
        prefix: '',
        delimiter: '',
        after: '',
        amount: 1000,
      });
      const counts: Record<string, number> = {};
      for (const { type } of results) counts[type] = (counts[type] ?? 0) + 1;
      return { counts, total: results.length, more: pagination.has_more };
    },
    enabled,
  });
}

export function CountsLine({
  counts,
  total,
  more,
}: {
  counts: Record<string, number>;
  total: number;
  more: boolean;
}): ReactNode {
  const part = (type: string, word: string): string | undefined =>
    counts[type] === undefined ? undefined : `${counts[type]} ${word}`;
  const parts = [
    part('added', 'added'),
    part('changed', 'changed'),
    part('removed', 'removed'),
    part('conflict', 'in conflict'),
  ];
  return (
    <span className="muted small">
      {plural(total, 'change')}
      {more && ' and more'}
      {total > 0 && `: ${parts.filter((text) => text !== undefined).join(', ')}`}
    </span>
  );
}

const isFound = ({ resolved }: CurrentRef): boolean => resolved !== undefined && resolved !== null;

export function ComparePage(): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/compare' });
  const navigate = useNavigate({ from: '/repositories/$repo/compare' });
  const base = useCurrentRef(search.ref);
  const head = useCurrentRef(search.compare ?? search.ref);
  const mode = search.mode === 'two-dot' ? 'two_dot' : 'three_dot';
  const [merging, setMerging] = useState<{ readonly steering?: MergeSteering }>();
  usePageTitle(`Compare ${shortId(base.ref)} with ${shortId(head.ref)}`, repository.id);
  const same = base.ref === head.ref;
  const counts = useDiffCounts(
    repository.id,
    base.ref,
    head.ref,
    !same && isFound(base) && isFound(head),
  ).data;
  const go = (change: Partial<typeof search>): void =>
    void navigate({ search: (was) => ({ ...was, ...change }) });
  const bothBranches = base.isBranch && head.isBranch;
  const nothing = counts?.total === 0 ? 'There is nothing to merge' : undefined;
  const picker = { repository: repository.id, defaultBranch: repository.default_branch };
  const missing = base.resolved === null ? base.ref : head.resolved === null ? head.ref : undefined;

  return (
    <>
      <div className="page-head">
        <h1>Compare</h1>
        {bothBranches && !same && (
          <div className="right row">
            <GuardedButton
              variant="default"
              leftSection={<GitPullRequest size={15} />}
              reason={nothing ?? base.refusal('pr:WritePullRequest')}
              onClick={() =>
                void navigate({
                  to: '/repositories/$repo/pulls/create',
                  params: { repo: repository.id },
                  search: { ref: base.ref, compare: head.ref },
                })
              }
            >
              Create pull request
            </GuardedButton>
            <GuardedButton
              leftSection={<GitMerge size={15} />}
              reason={nothing ?? base.refusal('fs:CreateCommit')}
              onClick={() => setMerging({})}
            >
              Merge
            </GuardedButton>
          </div>
        )}
      </div>
      <div className="row compare-bar">
        <RefPicker
          {...picker}
          label="Base"
          value={base.ref}
          kind={base.resolved?.kind}
          onChange={(ref) => go({ ref, file: undefined })}
        />
        <ArrowLeft size={16} aria-label="takes changes from" />
        <RefPicker
          {...picker}
          label="Head"
          value={head.ref}
          kind={head.resolved?.kind}
          onChange={(ref) => go({ ref: base.ref, compare: ref, file: undefined })}
        />
        <Hint label="Swap base and head">
          <ActionIcon
            variant="default"
            size={36}
            aria-label="Swap base and head"
            onClick={() => go({ ref: head.ref, compare: base.ref, file: undefined })}
          >
            <ArrowLeftRight size={15} />
          </ActionIcon>
        </Hint>
        <Hint label="Read again">
          <ActionIcon variant="default" size={36} aria-label="Refresh" onClick={() => void refreshAll()}>
            <RefreshCw size={15} />
          </ActionIcon>
        </Hint>
        <SegmentedControl
          className="right"
          size="xs"
          aria-label="How to compare"
          value={mode}
          onChange={(value) => go({ mode: value === 'two_dot' ? 'two-dot' : undefined })}
          data={[
            { value: 'three_dot', label: 'Since the branches diverged' },
            { value: 'two_dot', label: 'As they are now' },
          ]}
        />
      </div>
      {missing !== undefined && (
        <Notice kind="error" title={`There is no ref ${missing}`}>
          Choose another above.
        </Notice>
      )}
      <div className="stack">
        {bothBranches && !same && repository.read_only !== true && (
          <ConflictResolver
            repository={repository.id}
            meeting={mergeMeeting(repository.id, head.ref, base.ref)}
            onMerge={(steering) => setMerging({ steering })}
          />
        )}
        {same ? (
          <EmptyState
            icon={<GitCompareArrows size={36} aria-hidden />}
            title="Choose two different refs"
            snippet={diffSnippet(repository.id, base.ref, 'other-branch')}
          >
            Base and head are the same, so there is nothing to compare. The base receives, the head brings the
            changes.
          </EmptyState>
        ) : (
          missing === undefined && (
            <DiffBox
              label="Differences"
              title={`${shortId(head.ref)} compared with ${shortId(base.ref)}`}
              extra={counts !== undefined && <CountsLine {...counts} />}
              source={refsSource(repository.id, base.ref, head.ref, mode)}
              file={search.file}
              onFile={(file) => go({ file })}
              empty={
                <EmptyState
                  title="No differences"
                  actions={
                    <Button
                      variant="default"
                      component={Link}
                      to="/repositories/$repo/objects"
                      params={{ repo: repository.id } as never}
                      search={{ ref: head.ref } as never}
                    >
                      Look at {shortId(head.ref)}
                    </Button>
                  }
                  snippet={diffSnippet(repository.id, base.ref, head.ref)}
                >
                  {shortId(base.ref)} already has everything that {shortId(head.ref)} has. Uncommitted changes
                  count only after a commit.
                </EmptyState>
              }
            />
          )
        )}
      </div>
      {merging !== undefined && (
        <MergeDialog
          source={head.ref}
          destination={base.ref}
          steering={merging.steering}
          onClose={() => setMerging(undefined)}
          onDone={() => setMerging(undefined)}
        />
      )}
    </>
  );
}
