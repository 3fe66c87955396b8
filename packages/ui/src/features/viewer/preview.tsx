import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, Notice, Skeletons } from '../../kit/basics.tsx';
import type { ObjectStats } from '../../lib/api.ts';
import type { FileKind } from '../../lib/file-kind.ts';
import { fetchStart } from '../../lib/object-data.ts';
import { baseName, objectUrl } from '../../lib/paths.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { TextPreview } from './text-preview.tsx';

const TablePreview = lazy(async () => ({ default: (await import('./table-preview.tsx')).TablePreview }));

export interface PreviewProps {
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
      return <iframe className="page-frame" src={url} title={name} />;
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
          <video className="video" src={url} controls />
        </div>
      );
    case 'markdown':
    case 'notebook':
    case 'text':
      return <TextPreview stat={stat} refName={refName} kind={kind} />;
    case 'unknown':
      return <UnknownPreview stat={stat} refName={refName} />;
  }
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
        <pre className="scrolls-sideways" tabIndex={0} aria-label="First bytes">
          {hexDump(data.bytes)}
        </pre>
      )}
    </div>
  );
}
