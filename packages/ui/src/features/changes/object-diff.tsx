import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import { ImageDiff } from '../../kit/image-diff.tsx';
import type { Diff, ObjectStats } from '../../lib/api.ts';
import { client, isNotFound } from '../../lib/api.ts';
import { diffKind, fileKind } from '../../lib/file-kind.ts';
import { formatBytes } from '../../lib/format.ts';
import { fetchText } from '../../lib/object-data.ts';
import { objectUrl } from '../../lib/paths.ts';
import { readPreference, writePreference } from '../../lib/preferences.ts';
import type { DiffSource } from './diff-tree.tsx';

const TextDiff = lazy(async () => ({ default: (await import('../../kit/text-diff.tsx')).TextDiff }));

const TableDiffView = lazy(async () => ({ default: (await import('./table-diff-view.tsx')).TableDiffView }));

const textLimit = 2 * 1024 * 1024;

type Layout = 'rows' | 'unified' | 'split';
const layoutNames: Readonly<Record<Layout, string>> = { rows: 'Rows', unified: 'Unified', split: 'Split' };

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

/** Content type and metadata that differ. */
function MetadataDiff({
  before,
  after,
}: {
  before: ObjectStats | undefined;
  after: ObjectStats | undefined;
}): ReactNode {
  if (before === undefined || after === undefined) return null;
  const factsOf = ({ content_type, metadata }: ObjectStats): Map<string, string> =>
    new Map([['Content type', content_type ?? ''], ...Object.entries(metadata ?? {})]);
  const old = factsOf(before);
  const now = factsOf(after);
  const differing = [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => old.get(name) !== now.get(name),
  );
  if (differing.length === 0) return null;
  return (
    <dl className="facts box-body" aria-label="Changed metadata">
      {differing.map((name) => (
        <div className="contents" key={name}>
          <dt>{name}</dt>
          <dd>
            <del>{old.get(name)}</del> <ins>{now.get(name)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** What changed in one object: text by words, tables by rows, images beside or over each other, sizes for all. */
export function ObjectDiff({ entry, source }: { entry: Diff; source: DiffSource }): ReactNode {
  const { repository, left, right } = source;
  const { path } = entry;
  const kind = diffKind(path);
  const [layout, setLayout] = useState<Layout>();
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
  const isTable = fileKind(path, '') === 'table';
  const choices: Layout[] = [
    ...(isTable ? (['rows'] as const) : []),
    ...(kind === 'text' && fits ? (['unified', 'split'] as const) : []),
  ];
  const usual = isTable ? 'rows' : readPreference<Layout>('diff-layout', 'unified');
  const shown = choices.find((choice) => choice === (layout ?? usual)) ?? choices[0];
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
      <div className="row small bar soft">
        <span className="muted">{sizeLine(before?.size_bytes, after?.size_bytes)}</span>
        {before !== undefined && link(left, 'before')}
        {after !== undefined && link(right, 'after')}
        {shown !== undefined && choices.length > 1 && (
          <SegmentedControl<Layout>
            className="right"
            size="xs"
            aria-label="Layout of the difference"
            value={shown}
            onChange={(value) => {
              setLayout(value);
              writePreference('diff-layout', value);
            }}
            data={choices.map((value) => ({ value, label: layoutNames[value] }))}
          />
        )}
      </div>
      {kind === 'text' && !fits && !isTable && (
        <div className="box-body muted">Too big to compare here: texts up to 2 MB are compared.</div>
      )}
      {kind === 'text' && texts.error !== null && <ErrorNotice error={texts.error} />}
      {(shown === 'unified' || shown === 'split') && texts.data !== undefined && (
        <Suspense fallback={<Skeletons rows={3} />}>
          <TextDiff before={texts.data.old} after={texts.data.now} split={shown === 'split'} />
        </Suspense>
      )}
      {kind === 'image' && (
        <ImageDiff
          name={path}
          before={before === undefined ? undefined : objectUrl(repository, left, path)}
          after={after === undefined ? undefined : objectUrl(repository, right, path)}
        />
      )}
      {shown === 'rows' && (
        <Suspense fallback={<Skeletons rows={4} />}>
          <TableDiffView
            repository={repository}
            path={path}
            name={source.key}
            before={before && { ref: left, size: before.size_bytes ?? 0 }}
            after={after && { ref: right, size: after.size_bytes ?? 0 }}
          />
        </Suspense>
      )}
      <MetadataDiff before={before} after={after} />
    </>
  );
}
