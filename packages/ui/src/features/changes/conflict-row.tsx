import { Button, FileButton, Radio, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import { ErrorNotice, Tag, Time } from '../../kit/basics.tsx';
import { client } from '../../lib/api.ts';
import type { Conflict, ConflictList } from '../../lib/api.ts';
import { formatBytes } from '../../lib/format.ts';
import { useWrite } from '../../lib/queries.ts';
import type { Choice, Take } from '../../lib/resolutions.ts';
import { ObjectDiff } from './object-diff.tsx';

const kindWords: Readonly<Record<Conflict['kind'], string>> = {
  both_added: 'both added',
  both_changed: 'both changed',
  source_removed: 'removed and changed',
  destination_removed: 'changed and removed',
};

type Pair = 'destination-source' | 'base-source' | 'base-destination';
type SideName = 'base' | 'source' | 'destination';

interface RowProps {
  readonly repository: string;
  readonly conflict: Conflict;
  readonly commits: Pick<ConflictList, 'source_commit_id' | 'destination_commit_id' | 'base_commit_id'>;
  readonly branches: { readonly source: string; readonly destination: string };
  readonly take: Take | undefined;
  readonly stale: boolean;
  /** Whether rows that both sides appended to a table can be put together. */
  readonly canAppend: boolean;
  readonly onChoose: (choice: Choice) => void;
}

/** One conflict: what may be taken, and on demand the three versions beside each other. */
export function ConflictRow(props: RowProps): ReactNode {
  const { repository, conflict, branches, take, stale, canAppend, onChoose } = props;
  const { path, kind, table, conflict_id: conflictId } = conflict;
  const [open, setOpen] = useState(false);
  const name = useId();
  const upload = useWrite(
    (file: File) =>
      client.objects.uploadScratch({
        repository,
        branch: branches.destination,
        path,
        body: file,
        contentType: file.type === '' ? undefined : file.type,
      }),
    (object) => onChoose({ conflictId, take: 'object', object }),
  );
  // Only a merge can put tables together.
  const appends: readonly Take[] = canAppend && table !== undefined ? ['append'] : [];
  const words: Readonly<Record<Take, string>> = {
    source: branches.source,
    destination: branches.destination,
    base: conflict.base === undefined ? 'base (absent)' : 'base',
    delete: 'delete',
    append: 'append',
    object: 'uploaded file',
  };
  const takes: readonly Take[] = ['source', 'destination', ...appends, 'base', 'delete'];
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <li>
      <div className="row">
        <button
          type="button"
          className="plain conflict-path"
          aria-expanded={open}
          aria-label={`Versions of ${path}`}
          onClick={() => setOpen(!open)}
        >
          <Chevron size={15} aria-hidden />
          <span className="mono wrap">{path}</span>
        </button>
        {table !== undefined && <span className="muted">table {table}</span>}
        <Tag kind="conflict">{kindWords[kind]}</Tag>
        {stale && <Tag kind="changed">moved: choose again</Tag>}
        <div className="right row conflict-takes" role="radiogroup" aria-label={`What to take for ${path}`}>
          {takes.map((each) => (
            <Radio
              key={each}
              size="xs"
              name={name}
              label={words[each]}
              checked={take === each}
              onChange={() => onChoose({ conflictId, take: each })}
            />
          ))}
          {take === 'object' && <Tag kind="added">{words.object}</Tag>}
          <FileButton onChange={(file) => file !== null && upload.mutate(file)}>
            {(button) => (
              <Button
                {...button}
                variant="default"
                size="compact-xs"
                loading={upload.isPending}
                aria-label={`Upload a replacement for ${path}`}
              >
                Upload…
              </Button>
            )}
          </FileButton>
        </div>
      </div>
      {upload.error !== null && <ErrorNotice error={upload.error} />}
      {open && <Versions {...props} />}
    </li>
  );
}

function Versions({ repository, conflict, commits, branches }: RowProps): ReactNode {
  const { path } = conflict;
  const refs: Readonly<Record<SideName, string>> = {
    base: commits.base_commit_id,
    source: commits.source_commit_id,
    destination: commits.destination_commit_id,
  };
  const names: Readonly<Record<SideName, string>> = { base: 'Base', ...branches };
  const [pair, setPair] = useState<Pair>('destination-source');
  const [left, right] = pair.split('-') as [SideName, SideName];
  return (
    <div className="conflict-versions">
      <div className="row versions">
        {(['base', 'source', 'destination'] as const).map((side) => (
          <div key={side}>
            <div className="strong">{names[side]}</div>
            <Version repository={repository} path={path} entry={conflict[side]} refOf={refs[side]} />
          </div>
        ))}
        <SegmentedControl<Pair>
          className="right"
          size="xs"
          aria-label="Which versions are compared"
          value={pair}
          onChange={setPair}
          data={[
            { value: 'destination-source', label: `${branches.destination} → ${branches.source}` },
            { value: 'base-source', label: `base → ${branches.source}` },
            { value: 'base-destination', label: `base → ${branches.destination}` },
          ]}
        />
      </div>
      <ObjectDiff
        key={pair}
        entry={{ type: 'changed', path, path_type: 'object' }}
        source={{
          key: ['conflict', repository, refs[left], refs[right], path],
          repository,
          left: refs[left],
          right: refs[right],
          load: () => Promise.reject(new Error('a conflict is one object')),
        }}
      />
    </div>
  );
}

function Version({
  repository,
  path,
  entry,
  refOf,
}: {
  repository: string;
  path: string;
  entry: Conflict['base'];
  refOf: string;
}): ReactNode {
  if (entry === undefined) return <span className="muted">not there</span>;
  return (
    <span className="muted">
      <Link
        className="underlined"
        to="/repositories/$repo/object"
        params={{ repo: repository }}
        search={{ ref: refOf, path }}
      >
        {formatBytes(entry.size_bytes)}
      </Link>
      , <Time seconds={entry.mtime} />
    </span>
  );
}
