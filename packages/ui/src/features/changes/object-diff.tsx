import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import type { Diff } from '../../lib/api.ts';
import { client, isNotFound } from '../../lib/api.ts';
import { diffKind } from '../../lib/file-kind.ts';
import { formatBytes } from '../../lib/format.ts';
import { fetchText } from '../../lib/object-data.ts';
import { objectUrl } from '../../lib/paths.ts';
import { readPreference, writePreference } from '../../lib/preferences.ts';
import type { DiffSource } from './diff-tree.tsx';

const TextDiff = lazy(async () => ({ default: (await import('../../kit/text-diff.tsx')).TextDiff }));

const textLimit = 2 * 1024 * 1024;

async function statOf(repository: string, ref: string, path: string) {
  try {
    return await client.get('/repositories/{repository}/refs/{ref}/objects/stat', {
      params: { path: { repository, ref }, query: { path } },
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function sizeLine(before: number | undefined, after: number | undefined): string {
  if (before === undefined) return after === undefined ? '' : `Added, ${formatBytes(after)}`;
  if (after === undefined) return `Removed, was ${formatBytes(before)}`;
  if (before === after) return `Same size, ${formatBytes(after)}`;
  const change = after - before;
  const percent = before === 0 ? '' : ` (${change > 0 ? '+' : ''}${((change / before) * 100).toFixed(1)} %)`;
  return `${formatBytes(before)} → ${formatBytes(after)}${percent}`;
}

/** What changed in one object: text by words, images side by side, sizes for all. */
export function ObjectDiff({ entry, source }: { entry: Diff; source: DiffSource }): ReactNode {
  const { repository, left, right } = source;
  const { path } = entry;
  const kind = diffKind(path);
  const [split, setSplit] = useState(() => readPreference('diff-split', false));
  const stats = useQuery({
    queryKey: ['diff-stats', ...source.key, path],
    queryFn: async () => {
      const [before, after] = await Promise.all([
        entry.type === 'added' ? undefined : statOf(repository, left, path),
        entry.type === 'removed' ? undefined : statOf(repository, right, path),
      ]);
      return { before, after };
    },
  });
  const before = stats.data?.before;
  const after = stats.data?.after;
  const fits = (before?.size_bytes ?? 0) <= textLimit && (after?.size_bytes ?? 0) <= textLimit;
  const texts = useQuery({
    queryKey: ['diff-texts', ...source.key, path],
    queryFn: async ({ signal }) => {
      const read = async (ref: string, exists: boolean): Promise<string> =>
        exists ? (await fetchText(repository, ref, path, { limit: textLimit, signal })).text : '';
      const [old, now] = await Promise.all([
        read(left, before !== undefined),
        read(right, after !== undefined),
      ]);
      return { old, now };
    },
    enabled: stats.data !== undefined && kind === 'text' && fits,
  });
  if (stats.error !== null) return <ErrorNotice error={stats.error} />;
  if (stats.data === undefined) return <Skeletons rows={2} />;
  const link = (ref: string, label: string): ReactNode => (
    <Link to="/repositories/$repo/object" params={{ repo: repository }} search={{ ref, path }}>
      {label}
    </Link>
  );
  return (
    <>
      <div className="row small" style={{ padding: '6px 14px', background: 'var(--svc-soft)' }}>
        <span className="muted">{sizeLine(before?.size_bytes, after?.size_bytes)}</span>
        {before !== undefined && link(left, 'before')}
        {after !== undefined && link(right, 'after')}
        {kind === 'text' && fits && (
          <SegmentedControl
            className="right"
            size="xs"
            aria-label="Layout of the difference"
            value={split ? 'split' : 'unified'}
            onChange={(value) => {
              setSplit(value === 'split');
              writePreference('diff-split', value === 'split');
            }}
            data={[
              { value: 'unified', label: 'Unified' },
              { value: 'split', label: 'Split' },
            ]}
          />
        )}
      </div>
      {kind === 'text' && !fits && (
        <div className="box-body muted">Too big to compare here: texts up to 2 MB are compared.</div>
      )}
      {kind === 'text' && texts.error !== null && <ErrorNotice error={texts.error} />}
      {kind === 'text' && texts.data !== undefined && (
        <Suspense fallback={<Skeletons rows={3} />}>
          <TextDiff before={texts.data.old} after={texts.data.now} split={split} />
        </Suspense>
      )}
      {kind === 'image' && (
        <div className="diff-images">
          <figure style={{ margin: 0 }}>
            <figcaption className="small muted">Before</figcaption>
            {before === undefined ? (
              <em>not there</em>
            ) : (
              <img src={objectUrl(repository, left, path)} alt={`${path} before`} />
            )}
          </figure>
          <figure style={{ margin: 0 }}>
            <figcaption className="small muted">After</figcaption>
            {after === undefined ? (
              <em>not there</em>
            ) : (
              <img src={objectUrl(repository, right, path)} alt={`${path} after`} />
            )}
          </figure>
        </div>
      )}
    </>
  );
}
