import { Link } from '@tanstack/react-router';
import { File, FileCode2, FileImage, FileText, Folder, NotebookText, Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { ChangeTag, Time } from '../../kit/basics.tsx';
import { useChoiceColumn } from '../../kit/choice.tsx';
import type { Choice } from '../../kit/choice.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { fileKind } from '../../lib/file-kind.ts';
import { formatBytes, formatCount } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import type { PagedList } from '../../lib/paged-list.ts';
import { nameIn } from '../../lib/paths.ts';
import { useRepository } from '../shell/repository-context.tsx';
import type { EntryRequest } from './entry-dialogs.tsx';
import { EntryMenu } from './entry-menu.tsx';

const icons = {
  markdown: FileText,
  notebook: NotebookText,
  text: FileCode2,
  image: FileImage,
  table: Table2,
  pdf: FileText,
  audio: File,
  video: File,
  unknown: File,
};

function EntryIcon({ entry }: { entry: MarkedEntry }): ReactNode {
  if (entry.path_type === 'common_prefix')
    return <Folder size={16} className="folder" fill="currentColor" fillOpacity={0.25} aria-hidden />;
  const Icon = icons[fileKind(entry.path, '')];
  return <Icon size={16} aria-hidden />;
}

export function EntryList({
  list,
  prefix,
  refName,
  isBranch,
  canWrite,
  choice,
  onAsk,
  empty,
}: {
  list: PagedList<MarkedEntry>;
  prefix: string;
  refName: string;
  isBranch: boolean;
  canWrite: boolean;
  choice: Choice<MarkedEntry>;
  onAsk: (request: EntryRequest) => void;
  empty: ReactNode;
}): ReactNode {
  const repository = useRepository();
  const params = { repo: repository.id };
  const chooser = useChoiceColumn<MarkedEntry>({
    choice,
    list,
    idOf: ({ path }) => path,
    nameOf: ({ path }) => nameIn(prefix, path),
    canChoose: ({ mark }) => mark !== 'removed',
  });
  return (
    <VirtualList
      label={`Objects in ${prefix === '' ? 'the root folder' : prefix}`}
      noun="entries"
      list={list}
      rowHeight={36}
      empty={empty}
      columns={[
        ...(canWrite && isBranch ? [chooser] : []),
        {
          name: 'Name',
          width: 'minmax(0, 1fr)',
          cell(entry) {
            const name = nameIn(prefix, entry.path);
            const search = { ref: refName, path: entry.path };
            return (
              <span className="entry-name">
                <EntryIcon entry={entry} />
                {entry.mark === 'removed' ? (
                  <span className="struck ellipsis">{name}</span>
                ) : entry.path_type === 'common_prefix' ? (
                  <Link
                    data-row-link
                    className="ellipsis"
                    to="/repositories/$repo/objects"
                    params={params}
                    search={search}
                  >
                    {name}
                  </Link>
                ) : (
                  <Link
                    data-row-link
                    className="ellipsis"
                    to="/repositories/$repo/object"
                    params={params}
                    search={search}
                  >
                    {name === '' ? '(empty name)' : name}
                  </Link>
                )}
                {entry.mark !== undefined && <ChangeTag type={entry.mark} />}
              </span>
            );
          },
        },
        {
          name: 'Size',
          width: '86px',
          className: 'num small',
          cell: ({ path_type, mark, size_bytes = 0 }) =>
            path_type === 'common_prefix' || mark === 'removed' ? (
              <span className="muted">—</span>
            ) : (
              <span title={`${formatCount(size_bytes)} bytes`}>{formatBytes(size_bytes)}</span>
            ),
        },
        {
          name: 'Modified',
          width: '120px',
          className: 'num small muted',
          wide: true,
          cell: ({ mtime, mark, path_type }) =>
            path_type === 'common_prefix' || mark === 'removed' || mtime === undefined ? (
              '—'
            ) : (
              <Time seconds={mtime} />
            ),
        },
        {
          name: 'Actions',
          quiet: true,
          width: '30px',
          cell: (entry) => (
            <EntryMenu
              entry={entry}
              refName={refName}
              isBranch={isBranch}
              canWrite={canWrite}
              onAsk={onAsk}
            />
          ),
        },
      ]}
    />
  );
}
