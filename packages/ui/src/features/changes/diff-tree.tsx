import { ActionIcon, Button, Checkbox } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight, Folder, RotateCcw } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import type { CSSProperties, ReactNode } from 'react';
import { ChangeTag, CopyButton, ErrorNotice, Skeletons } from '../../kit/basics.tsx';
import { Hint } from '../../kit/hint.tsx';
import type { Diff, Page } from '../../lib/api.ts';
import { formatBytes } from '../../lib/format.ts';
import { nameIn } from '../../lib/paths.ts';
import type { Viewed } from '../../lib/viewed.ts';

const ObjectDiff = lazy(async () => ({ default: (await import('./object-diff.tsx')).ObjectDiff }));

export interface DiffSource {
  /** Names the difference among others. */
  readonly key: readonly string[];
  readonly repository: string;
  readonly left: string;
  readonly right: string;
  readonly load: (query: {
    prefix: string;
    delimiter: string;
    after: string;
    amount: number;
  }) => Promise<Page<Diff>>;
}

interface TreeProps {
  readonly source: DiffSource;
  /** The file that was opened last, kept in the address. Others stay open. */
  readonly file?: string | undefined;
  readonly onFile?: ((path: string | undefined) => void) | undefined;
  readonly viewed?: Viewed | undefined;
  readonly onRevert?: ((entry: Diff) => void) | undefined;
  /** All open or all closed; when absent, short differences are open. */
  readonly expanded?: boolean | undefined;
}

/** Changes as a tree of folders, read as they are opened. */
export function DiffTree({
  prefix = '',
  depth = 0,
  empty,
  ...props
}: TreeProps & { prefix?: string; depth?: number; empty?: ReactNode }): ReactNode {
  const { source } = props;
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['diff', ...source.key, prefix],
    queryFn: ({ pageParam }) => source.load({ prefix, delimiter: '/', after: pageParam, amount: 200 }),
    initialPageParam: '',
    getNextPageParam: ({ pagination }) => (pagination.has_more ? pagination.next_offset : undefined),
  });
  if (error !== null && data === undefined) {
    return (
      <div className="box-body">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (data === undefined) return <Skeletons rows={depth === 0 ? 4 : 2} />;
  const entries = data.pages.flatMap(({ results }) => results);
  if (entries.length === 0 && depth === 0) return empty;
  // Show a few changes at once instead of making people open folder after folder.
  const few = entries.length <= 8 && !hasNextPage;
  const openFiles = entries.length <= 2 && !hasNextPage && props.onRevert === undefined;
  return (
    <>
      <ul
        className="diff-tree"
        style={{ '--depth': depth } as CSSProperties}
        aria-label={depth === 0 ? 'Changes' : `Changes in ${prefix}`}
      >
        {entries.map((entry) =>
          entry.path_type === 'common_prefix' ? (
            <FolderRow
              key={entry.path}
              {...props}
              entry={entry}
              prefix={prefix}
              depth={depth}
              initiallyOpen={props.expanded ?? few}
            />
          ) : (
            <ObjectRow
              key={entry.path}
              {...props}
              entry={entry}
              prefix={prefix}
              initiallyOpen={props.expanded ?? (openFiles && entry.type === 'changed')}
            />
          ),
        )}
      </ul>
      {hasNextPage && (
        <div className="box-body">
          <Button
            variant="default"
            size="compact-sm"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            Load more changes
          </Button>
        </div>
      )}
    </>
  );
}

function RevertButton({ entry, onRevert }: { entry: Diff; onRevert: TreeProps['onRevert'] }): ReactNode {
  if (onRevert === undefined) return null;
  return (
    <Hint label="Undo this change">
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label={`Undo the change of ${entry.path}`}
        onClick={() => onRevert(entry)}
      >
        <RotateCcw size={14} />
      </ActionIcon>
    </Hint>
  );
}

function FolderRow({
  entry,
  prefix,
  depth,
  initiallyOpen,
  ...props
}: TreeProps & { entry: Diff; prefix: string; depth: number; initiallyOpen: boolean }): ReactNode {
  const holdsFile = props.file?.startsWith(entry.path) === true;
  const [open, setOpen] = useState(initiallyOpen || holdsFile);
  const [fileBefore, setFileBefore] = useState(props.file);
  if (props.file !== fileBefore) {
    setFileBefore(props.file);
    if (holdsFile) setOpen(true);
  }
  const [sum, setSum] = useState<string>();
  const count = async (): Promise<void> => {
    let objects = 0;
    let bytes = 0;
    for (let after = ''; ;) {
      const { pagination, results } = await props.source.load({
        prefix: entry.path,
        delimiter: '',
        after,
        amount: 1000,
      });
      objects += results.length;
      for (const { size_bytes = 0 } of results) bytes += size_bytes;
      if (!pagination.has_more || objects >= 10_000) {
        setSum(`${objects}${pagination.has_more ? '+' : ''} changes, ${formatBytes(bytes)}`);
        return;
      }
      after = pagination.next_offset;
    }
  };
  return (
    <li>
      <div className="diff-row">
        <button
          type="button"
          className="twist"
          aria-expanded={open}
          aria-label={`Folder ${entry.path}`}
          onClick={() => setOpen(!open)}
        >
          {open ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
        </button>
        <Folder size={15} color="#2e86c1" aria-hidden />
        <button type="button" className="plain name ellipsis" tabIndex={-1} onClick={() => setOpen(!open)}>
          {nameIn(prefix, entry.path)}
        </button>
        <span className="right small muted">
          {sum ?? (
            <button type="button" className="plain show-more" onClick={() => void count()}>
              count changes
            </button>
          )}
        </span>
        <RevertButton entry={entry} onRevert={props.onRevert} />
        <ChangeTag type={entry.type} />
      </div>
      {open && <DiffTree {...props} prefix={entry.path} depth={depth + 1} />}
    </li>
  );
}

function ObjectRow({
  entry,
  prefix,
  initiallyOpen,
  source,
  file,
  onFile,
  onRevert,
  viewed,
}: TreeProps & { entry: Diff; prefix: string; initiallyOpen: boolean }): ReactNode {
  const isViewed = viewed?.has(entry) === true;
  const isNamed = file === entry.path;
  const [open, setOpen] = useState(isNamed || (initiallyOpen && !isViewed));
  const [wasNamed, setWasNamed] = useState(isNamed);
  if (isNamed !== wasNamed) {
    setWasNamed(isNamed);
    if (isNamed) setOpen(true);
  }
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isNamed) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isNamed]);
  const show = (isShown: boolean): void => {
    setOpen(isShown);
    if (isShown !== isNamed) onFile?.(isShown ? entry.path : undefined);
  };
  const toggle = (): void => show(!open);
  return (
    <li>
      <div className="diff-row" ref={row}>
        <button
          type="button"
          className="twist"
          data-diff-file
          aria-expanded={open}
          aria-label={`Difference of ${entry.path}`}
          onClick={toggle}
        >
          {open ? <ChevronDown size={15} /> : <ChevronRight size={15} />}
        </button>
        <button type="button" className="plain name ellipsis" tabIndex={-1} onClick={toggle}>
          {nameIn(prefix, entry.path)}
        </button>
        <span className="hide-narrow">
          <CopyButton text={entry.path} label={`Copy path ${entry.path}`} />
        </span>
        <span className="right small muted num">
          {/* Of what is removed but not committed the size is not known. */}
          {entry.size_bytes !== undefined &&
            !(entry.type === 'removed' && entry.size_bytes === 0) &&
            formatBytes(entry.size_bytes)}
        </span>
        {viewed !== undefined && (
          <Checkbox
            size="xs"
            label={<span className="hide-narrow">Viewed</span>}
            aria-label={`Viewed ${entry.path}`}
            checked={isViewed}
            onChange={({ currentTarget: { checked } }) => {
              viewed.mark(entry, checked);
              if (checked) show(false);
            }}
          />
        )}
        <RevertButton entry={entry} onRevert={onRevert} />
        <ChangeTag type={entry.type} />
      </div>
      {open && (
        <div className="diff-body">
          <Suspense fallback={<Skeletons rows={3} />}>
            <ObjectDiff entry={entry} source={source} />
          </Suspense>
        </div>
      )}
    </li>
  );
}
