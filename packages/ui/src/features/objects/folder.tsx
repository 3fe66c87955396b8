import { ActionIcon, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CloudDownload, Download, FolderOpen, Upload } from 'lucide-react';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { ClearFilter, EmptyState } from '../../kit/basics.tsx';
import { useChoice } from '../../kit/choice.tsx';
import { FilterField } from '../../kit/filter-field.tsx';
import { Hint } from '../../kit/hint.tsx';
import { onDemand } from '../../kit/on-demand.tsx';
import { UriBar } from '../../kit/uri-bar.tsx';
import type { MarkedEntry } from '../../lib/listing.ts';
import { archiveUrl } from '../../lib/paths.ts';
import { lastCommitsQuery } from '../../lib/queries.ts';
import { usePagedList, usePagedState } from '../../lib/use-paged-list.ts';
import { uploadSnippet } from '../../lib/snippets.ts';
import { CommitLine } from '../branches/commit-line.tsx';
import { useRepository } from '../shell/repository-context.tsx';
import { ChosenBar } from './chosen-bar.tsx';
import type { EntryRequest } from './entry-dialogs.tsx';
import { EntryList } from './entry-list.tsx';
import { entriesKey, fetchEntries } from './fetch-entries.ts';
import { Readme } from './readme.tsx';

const EntryDialogs = onDemand(async () => (await import('./entry-dialogs.tsx')).EntryDialogs);

/** One folder of a ref: what is in it, and its README below. */
export function Folder({
  refName,
  prefix,
  commitId,
  isBranch,
  after,
  canWrite,
  canDelete,
  onUpload,
  onImport,
}: {
  refName: string;
  prefix: string;
  commitId: string;
  isBranch: boolean;
  /** Names up to here are left out. */
  after: string;
  canWrite: boolean;
  canDelete: boolean;
  onUpload: () => void;
  onImport: () => void;
}): ReactNode {
  const repository = useRepository();
  const { q: filter = '' } = useSearch({ from: '/app/repositories/$repo/objects' });
  const navigate = useNavigate({ from: '/repositories/$repo/objects' });
  const jump = after.startsWith(prefix) ? after.slice(prefix.length) : '';
  const shown = { repository: repository.id, ref: refName, prefix, isBranch, filter };
  const list = usePagedList<MarkedEntry>(entriesKey(shown), fetchEntries(shown), after);
  const state = usePagedState(list);
  const lastCommits = useQuery({
    ...lastCommitsQuery(repository.id, commitId, prefix, after),
    // Rows are there first.
    enabled: state.count > 0,
  }).data;
  const choice = useChoice<MarkedEntry>();
  const [asked, setAsked] = useState<EntryRequest>();
  const jumpTo = (name: string): void =>
    void navigate({
      search: (was) => ({ ...was, after: name === '' ? undefined : prefix + name }),
      replace: true,
    });
  const filterBy = (part: string): void =>
    void navigate({ search: (was) => ({ ...was, q: part === '' ? undefined : part }), replace: true });
  let readme: string | undefined;
  for (let index = 0; index < Math.min(state.count, 200); index++) {
    const row = list.row(index);
    if (
      row !== undefined &&
      row.mark !== 'removed' &&
      row.path.toLowerCase() === `${prefix.toLowerCase()}readme.md`
    )
      readme = row.path;
  }
  return (
    <div className="stack">
      <div className="box">
        <div className="box-head">
          <UriBar repository={repository.id} ref={refName} path={prefix} />
          {prefix === '' && (
            <span className="grow hide-narrow">
              <CommitLine commitId={commitId} />
            </span>
          )}
          <span className="right row nowrap">
            {state.count > 0 && (
              <Hint label="Download this folder">
                <ActionIcon
                  component="a"
                  variant="default"
                  size={30}
                  aria-label="Download this folder"
                  href={archiveUrl({ repository: repository.id, ref: refName, prefix })}
                  download
                >
                  <Download size={15} />
                </ActionIcon>
              </Hint>
            )}
            <FilterField
              size="xs"
              width={150}
              label="Filter by a part of the name"
              placeholder="Filter"
              value={filter}
              onFilter={filterBy}
            />
            <FilterField
              size="xs"
              width={150}
              label="Jump to names from"
              placeholder="Jump to name …"
              value={jump}
              onFilter={jumpTo}
            />
          </span>
        </div>
        <ChosenBar
          choice={choice}
          place={{ repository: repository.id, ref: refName, prefix }}
          canWrite={canWrite}
          canDelete={canDelete}
          onAsk={setAsked}
        />
        <EntryList
          choice={choice}
          onAsk={setAsked}
          list={list}
          prefix={prefix}
          refName={refName}
          isBranch={isBranch}
          canWrite={canWrite}
          canDelete={canDelete}
          lastCommits={lastCommits}
          empty={
            filter !== '' ? (
              <EmptyState
                title={`No name here contains “${filter}”`}
                actions={<ClearFilter onClear={() => filterBy('')} />}
              />
            ) : prefix === '' && after === '' ? (
              <EmptyState
                icon={<FolderOpen size={38} aria-hidden />}
                title="No data here yet"
                actions={
                  canWrite && (
                    <>
                      <Button leftSection={<Upload size={15} />} onClick={onUpload}>
                        Upload files
                      </Button>
                      <Button variant="default" leftSection={<CloudDownload size={15} />} onClick={onImport}>
                        Import without copying
                      </Button>
                    </>
                  )
                }
                snippet={uploadSnippet(repository.id, refName, 'file')}
              >
                {canWrite
                  ? 'Drop files or folders on this page, or point svc at data that is already in the object store.'
                  : 'Choose another branch to see its data.'}
              </EmptyState>
            ) : (
              <EmptyState
                title={after === '' ? 'Nothing in this folder' : 'No names from here on'}
                actions={
                  after !== '' && (
                    <Button variant="default" onClick={() => jumpTo('')}>
                      Show from the start
                    </Button>
                  )
                }
              >
                {after === '' &&
                  'Folders exist through the objects in them. Another branch may have some here.'}
              </EmptyState>
            )
          }
        />
      </div>
      {readme !== undefined && <Readme refName={refName} path={readme} />}
      {asked !== undefined && (
        <EntryDialogs
          asked={asked}
          refName={refName}
          isBranch={isBranch}
          onClose={() => setAsked(undefined)}
          onDone={() => {
            setAsked(undefined);
            choice.clear();
          }}
        />
      )}
    </div>
  );
}
