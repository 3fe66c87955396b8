import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { CopyButton, ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import { extensionOf } from '../../lib/file-kind.ts';
import { formatBytes } from '../../lib/format.ts';
import { fetchText } from '../../lib/object-data.ts';
import { objectUrl } from '../../lib/paths.ts';
import { usePreference } from '../../lib/use-preference.ts';
import { useRepository } from '../shell/repository-context.tsx';
import type { PreviewProps } from './preview.tsx';

const MarkdownView = lazy(async () => ({
  default: (await import('../../kit/markdown-view.tsx')).MarkdownView,
}));
const CodeView = lazy(async () => ({ default: (await import('../../kit/code-view.tsx')).CodeView }));
const JsonTree = lazy(async () => ({ default: (await import('../../kit/json-tree.tsx')).JsonTree }));
const GeoMap = lazy(async () => ({ default: (await import('../../kit/geo-map.tsx')).GeoMap }));
const NotebookView = lazy(async () => ({
  default: (await import('../../kit/notebook-view.tsx')).NotebookView,
}));

const firstPiece = 1024 * 1024;
const jsonLines = new Set(['jsonl', 'ndjson']);

/** Ways to show a text; the first is the default. */
function viewsOf(kind: PreviewProps['kind'], extension: string): readonly (readonly [string, string])[] {
  const source = ['source', 'Source'] as const;
  if (kind === 'markdown') return [['rendered', 'Rendered'], source];
  if (kind === 'notebook') return [['rendered', 'Notebook'], source, ['tree', 'Tree']];
  if (extension === 'geojson') return [['map', 'Map'], source, ['tree', 'Tree']];
  if (extension === 'json' || jsonLines.has(extension)) return [source, ['tree', 'Tree']];
  return [source];
}

export function TextPreview({ stat, refName, kind }: PreviewProps): ReactNode {
  const repository = useRepository();
  const { line, view } = useSearch({ from: '/app/repositories/$repo/object' });
  const navigate = useNavigate({ from: '/repositories/$repo/object' });
  const [limit, setLimit] = useState(firstPiece);
  const [wrap, setWrap] = usePreference<boolean>('wrap', false);
  const extension = extensionOf(stat.path);
  const views = viewsOf(kind, extension);
  const shown = views.find(([name]) => name === view)?.[0] ?? views[0]?.[0] ?? 'source';
  const { data, error, refetch } = useQuery({
    queryKey: ['text', repository.id, refName, stat.path, limit],
    queryFn: ({ signal }) => fetchText(repository.id, refName, stat.path, { limit, signal }),
    placeholderData: (previous) => previous,
  });
  if (error !== null) {
    return (
      <div className="box-body">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (data === undefined) return <Skeletons />;
  const place = { repository: repository.id, ref: refName, path: stat.path };
  return (
    <>
      <div className="row view-bar">
        {views.length > 1 && (
          <SegmentedControl
            size="xs"
            aria-label="How to show the text"
            value={shown}
            onChange={(chosen) =>
              void navigate({
                search: (was) => ({
                  ...was,
                  view: chosen === views[0]?.[0] ? undefined : chosen,
                  line: undefined,
                }),
              })
            }
            data={views.map(([value, label]) => ({ value, label }))}
          />
        )}
        <div className="right row">
          {shown === 'source' && (
            <Button variant="default" size="compact-sm" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
              {wrap ? 'Do not wrap' : 'Wrap lines'}
            </Button>
          )}
          <Button
            component="a"
            variant="default"
            size="compact-sm"
            href={objectUrl(repository.id, refName, stat.path)}
            target="_blank"
            rel="noopener noreferrer"
          >
            Raw
          </Button>
          <CopyButton text={data.text} label="Copy text" />
        </div>
      </div>
      <Suspense fallback={<Skeletons />}>
        {shown === 'source' && (
          <CodeView
            text={data.text}
            extension={extension}
            label={`Text of ${stat.path}`}
            wrap={wrap}
            line={line === undefined ? undefined : Number(line)}
            onLine={(chosen) =>
              void navigate({ search: (was) => ({ ...was, line: String(chosen) }), replace: true })
            }
          />
        )}
        {shown === 'tree' && (
          <JsonTree text={data.text} lines={jsonLines.has(extension)} complete={data.complete} />
        )}
        {shown === 'map' && <GeoMap text={data.text} complete={data.complete} />}
        {shown === 'rendered' &&
          (kind === 'notebook' ? (
            <NotebookView text={data.text} place={place} />
          ) : (
            <MarkdownView text={data.text} place={place} />
          ))}
      </Suspense>
      {!data.complete && (
        <div className="box-body row">
          <span className="muted">
            The first {formatBytes(limit)} of {formatBytes(stat.size_bytes ?? 0)} are shown.
          </span>
          <Button variant="default" size="compact-sm" onClick={() => setLimit(limit * 4)}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}
