import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorNotice, Notice, Skeletons } from '../../kit/basics.tsx';
import type { ObjectStats } from '../../lib/api.ts';
import { extensionOf } from '../../lib/file-kind.ts';
import type { FileKind } from '../../lib/file-kind.ts';
import { formatBytes } from '../../lib/format.ts';
import { fetchStart, fetchText } from '../../lib/object-data.ts';
import { baseName, objectUrl } from '../../lib/paths.ts';
import { useRepository } from '../shell/repository-context.tsx';

const MarkdownView = lazy(async () => ({
  default: (await import('../../kit/markdown-view.tsx')).MarkdownView,
}));
const CodeView = lazy(async () => ({ default: (await import('../../kit/code-view.tsx')).CodeView }));
const TablePreview = lazy(async () => ({ default: (await import('./table-preview.tsx')).TablePreview }));

const firstPiece = 1024 * 1024;

interface PreviewProps {
  readonly stat: ObjectStats;
  readonly refName: string;
  readonly kind: FileKind;
}

export function Preview({ stat, refName, kind }: PreviewProps): ReactNode {
  const repository = useRepository();
  const url = objectUrl(repository.id, refName, stat.path);
  const name = baseName(stat.path);
  if (stat.size_bytes === 0)
    return <EmptyState title="This object is empty">It has no bytes to show.</EmptyState>;
  switch (kind) {
    case 'table':
      return (
        <Suspense fallback={<Skeletons />}>
          <TablePreview refName={refName} path={stat.path} size={stat.size_bytes ?? 0} />
        </Suspense>
      );
    case 'image':
      return (
        <div className="checker">
          <img src={url} alt={name} />
        </div>
      );
    case 'pdf':
      // The browser's own viewer does not run in a sandbox; the server sends the bytes with a policy of their own.
      // oxlint-disable-next-line react/iframe-missing-sandbox
      return <iframe src={url} title={name} style={{ width: '100%', height: '80vh', border: 0 }} />;
    case 'audio':
      return (
        <div className="box-body">
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
          <audio src={url} controls />
        </div>
      );
    case 'video':
      return (
        <div className="checker">
          {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
          <video src={url} controls style={{ maxWidth: '100%', maxHeight: '75vh' }} />
        </div>
      );
    case 'markdown':
    case 'text':
      return <TextPreview stat={stat} refName={refName} kind={kind} />;
    case 'unknown':
      return <UnknownPreview stat={stat} refName={refName} />;
  }
}

function TextPreview({ stat, refName, kind }: PreviewProps): ReactNode {
  const repository = useRepository();
  const { line } = useSearch({ from: '/app/repositories/$repo/object' });
  const navigate = useNavigate({ from: '/repositories/$repo/object' });
  const [limit, setLimit] = useState(firstPiece);
  const [wrap, setWrap] = useState(false);
  const [source, setSource] = useState(false);
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
  const rendered = kind === 'markdown' && !source;
  return (
    <>
      <div className="row" style={{ padding: '6px 14px', justifyContent: 'flex-end' }}>
        {kind === 'markdown' && (
          <Button
            variant="default"
            size="compact-sm"
            aria-pressed={source}
            onClick={() => setSource(!source)}
          >
            {source ? 'Rendered' : 'Source'}
          </Button>
        )}
        {!rendered && (
          <Button variant="default" size="compact-sm" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
            {wrap ? 'Do not wrap' : 'Wrap lines'}
          </Button>
        )}
      </div>
      {rendered ? (
        <MarkdownView text={data.text} place={{ repository: repository.id, ref: refName, path: stat.path }} />
      ) : (
        <CodeView
          text={data.text}
          extension={extensionOf(stat.path)}
          label={`Text of ${stat.path}`}
          wrap={wrap}
          line={line === undefined ? undefined : Number(line)}
          onLine={(chosen) =>
            void navigate({ search: (was) => ({ ...was, line: String(chosen) }), replace: true })
          }
        />
      )}
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

/** Sixteen bytes a line: offset, hexadecimal, printable characters. */
function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = [...bytes.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = part.map((byte) => (byte >= 32 && byte < 127 ? String.fromCodePoint(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join('\n');
}

function UnknownPreview({ stat, refName }: { stat: ObjectStats; refName: string }): ReactNode {
  const repository = useRepository();
  const { data } = useQuery({
    queryKey: ['start', repository.id, refName, stat.path],
    queryFn: ({ signal }) => fetchStart(repository.id, refName, stat.path, { limit: 4096, signal }),
  });
  return (
    <div className="box-body stack">
      <Notice title="No preview for this kind of file">
        It is {stat.content_type === undefined ? 'of unknown type' : stat.content_type}. Its first bytes are
        below; download it to open it with another program.
      </Notice>
      {data === undefined ? (
        <Skeletons />
      ) : (
        <pre tabIndex={0} aria-label="First bytes" style={{ overflowX: 'auto', margin: 0 }}>
          {hexDump(data.bytes)}
        </pre>
      )}
    </div>
  );
}
