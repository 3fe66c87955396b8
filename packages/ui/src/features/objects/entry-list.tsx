import { Link } from '@tanstack/react-router';
import { File, FileCode2, FileImage, FileText, Folder, NotebookText, Table2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { ChangeTag, Time } from '../../kit/basics.tsx';
import { useChoiceColumn } from '../../kit/choice.tsx';
import type { Choice } from '../../kit/choice.tsx';
import { VirtualList } from '../../kit/virtual-list.tsx';
import { fileKind } from '../../lib/file-kind.ts';
import { formatBytes, formatCount, summaryOf } from '../../lib/format.ts';
import type { MarkedEntry } from '../../lib/listing.ts';
import type { PagedList } from '../../lib/paged-list.ts';
import { nameIn } from '../../lib/paths.ts';
import type { LastCommits } from '../../lib/queries.ts';
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
  canDelete,
  lastCommits,
  choice,
  onAsk,
  empty,
}: {
  list: PagedList<MarkedEntry>;
  prefix: string;
  refName: string;
  isBranch: boolean;
  canWrite: boolean;
  canDelete: boolean;
  lastCommits: LastCommits | undefined;
  choice: Choice<MarkedEntry>;
  onAsk: (request: EntryRequest) => void;
  empty: ReactNode;
}): ReactNode {
  const repository = useRepository();
  const params = { repo: repository.id };
  /** A folder that no commit has. */
  const isNew = ({ path, path_type, mark }: MarkedEntry): boolean =>
    path_type === 'common_prefix' &&
    mark === 'changed' &&
    lastCommits?.complete === true &&
    !lastCommits.byPath.has(path);
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
        chooser,
        {
          name: 'Name',
          width: 'minmax(0, 3fr)',
          cell(entry) {
            const mark = isNew(entry) ? 'added' : entry.mark;
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
                {mark !== undefined && <ChangeTag type={mark} />}
              </span>
            );
          },
        },
        {
          name: 'Last commit',
          width: 'minmax(0, 2fr)',
          className: 'small muted',
          wide: true,
          cell({ path }) {
            const commit = lastCommits?.byPath.get(path);
            return (
              commit !== undefined && (
                <Link
                  className="plain-link ellipsis block"
                  to="/repositories/$repo/commits/$commitId"
                  params={{ ...params, commitId: commit.id }}
                  title={commit.message}
                >
                  {summaryOf(commit.message)}
                </Link>
              )
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
          cell({ path, mtime, mark, path_type }) {
            const when = path_type === 'common_prefix' ? lastCommits?.byPath.get(path)?.creation_date : mtime;
            return mark === 'removed' || when === undefined ? '—' : <Time seconds={when} />;
          },
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
              canDelete={canDelete}
              onAsk={onAsk}
            />
          ),
        },
      ]}
    />
  );
}
