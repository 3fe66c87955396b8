import { Popover, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useLocation } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Check, GitBranch, GitCommitHorizontal, History, Search } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import { client } from '../lib/api.ts';
import { shortId } from '../lib/format.ts';
import { toPage } from '../lib/paged-list.ts';
import { usePagedList, usePagedState } from '../lib/use-paged-list.ts';
import type { ListedPage } from '../lib/paged-list.ts';
import { forgetRefs, recentRefs, rememberRef } from '../lib/preferences.ts';
import { useWrite } from '../lib/queries.ts';
import { parseUri } from '../lib/sql-files.ts';
import { parseTimeRef } from '../lib/time-refs.ts';
import { Tag } from './basics.tsx';
import { CommitChoice } from './commit-choice.tsx';
import { placeOf } from './place-of.ts';
import { RefButton } from './ref-picker.tsx';
import type { RefPickerProps } from './ref-picker.tsx';
import { TimeChoice } from './time-choice.tsx';

type Shelf = 'branches' | 'tags' | 'time' | 'recent';

/** The picker, open from the start. */
export function OpenedRefPicker(props: RefPickerProps): ReactNode {
  const { value, kind, label } = props;
  const { href } = useLocation();
  // Open only where it was opened: going back, or a dialog with an address of its own, closes it.
  const [openedAt, setOpenedAt] = useState<string | undefined>(href);
  const opened = openedAt === href;
  const setOpened = (open: boolean): void => setOpenedAt(open ? href : undefined);
  return (
    <Popover opened={opened} onChange={setOpened} position="bottom-start" width={340} shadow="md" trapFocus>
      <Popover.Target>
        <RefButton value={value} kind={kind} label={label} onClick={() => setOpened(!opened)} />
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Choose a ref">
        <RefChoice {...props} onDone={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}

/** Text that names a ref by itself: a commit id, an expression, a URI. */
function asExpression(text: string): string | undefined {
  const uri = /^(svc|lakefs):\/\//.test(text) ? (parseUri(text)?.ref ?? text.split('/')[3]) : undefined;
  if (uri !== undefined && uri !== '') return uri;
  return /^[0-9a-f]{6,64}$/.test(text) || /[~^@$]/.test(text) ? text : undefined;
}

function RefChoice(props: RefPickerProps & { onDone: () => void }): ReactNode {
  const {
    repository,
    defaultBranch,
    value,
    kind,
    onChange,
    branchesOnly = false,
    canCreate = false,
    onDone,
  } = props;
  const [shelf, setShelf] = useState<Shelf>('branches');
  const [text, setText] = useState('');
  const [commitsOf, setCommitsOf] = useState<string>();
  const [part] = useDebouncedValue(text.trim(), 200);
  const [active, setActive] = useState(0);
  const listId = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const list = usePagedList<string>(
    ['refs', repository, shelf, part],
    async (after, amount, signal): Promise<ListedPage<string>> => {
      if (shelf === 'time') return { rows: [], next: undefined };
      if (shelf === 'recent')
        return { rows: recentRefs(repository).filter((ref) => ref.includes(part)), next: undefined };
      const path =
        shelf === 'branches' ? '/repositories/{repository}/branches' : '/repositories/{repository}/tags';
      const page = toPage(
        await client.get(path, {
          params: { path: { repository }, query: { search: part, after, amount } },
          signal,
        }),
      );
      return { rows: page.rows.map(({ id }) => id), next: page.next };
    },
  );
  const state = usePagedState(list);
  const virtualizer = useVirtualizer({
    count: state.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 34,
    overscan: 6,
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => list.show(items[0]?.index ?? 0, last), [list, items, last]);
  useEffect(() => setActive(0), [shelf, part]);

  const choose = (ref: string): void => {
    rememberRef(repository, ref);
    onChange(ref);
    onDone();
  };
  const create = useWrite(
    (name: string) =>
      client.post('/repositories/{repository}/branches', {
        params: { path: { repository } },
        body: { name, source: value },
      }),
    (_id, name) => choose(name),
  );
  const base = parseTimeRef(value)?.base ?? value;
  // Commits have no log.
  const canShowTime = kind !== 'commit' || base !== value;
  const hasCommits = shelf === 'branches' && !branchesOnly;
  const expression = branchesOnly ? undefined : asExpression(text.trim());
  const exists = Array.from({ length: state.count }, (_, index) => list.row(index)).includes(text.trim());
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      const next = Math.max(0, Math.min(state.count - 1, active + step));
      setActive(next);
      virtualizer.scrollToIndex(next);
    } else if (event.key === 'ArrowRight' && text === '' && hasCommits) {
      event.preventDefault();
      setCommitsOf(list.row(active));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const ref = expression ?? list.row(active);
      if (ref !== undefined) choose(ref);
    }
  };
  if (commitsOf !== undefined) {
    return (
      <CommitChoice
        repository={repository}
        branch={commitsOf}
        onBack={() => setCommitsOf(undefined)}
        onChoose={choose}
      />
    );
  }
  const shelves: readonly Shelf[] = branchesOnly
    ? ['branches', 'recent']
    : canShowTime
      ? ['branches', 'tags', 'time', 'recent']
      : ['branches', 'tags', 'recent'];

  return (
    <div>
      <div className="padded">
        <TextInput
          data-autofocus
          aria-label="Find a branch, tag or commit"
          placeholder={branchesOnly ? 'Find a branch' : 'Name, commit id, main~1 or main@2h'}
          leftSection={<Search size={15} />}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={state.count > 0 ? `${listId}-${active}` : undefined}
        />
      </div>
      <div className="tabs line inset" role="tablist" aria-label="Kinds of refs">
        {shelves.map((one) => (
          <button
            key={one}
            type="button"
            role="tab"
            aria-selected={shelf === one}
            onClick={() => setShelf(one)}
          >
            {one[0]?.toUpperCase() + one.slice(1)}
          </button>
        ))}
        {shelf === 'recent' && (
          <button
            type="button"
            className="right small muted"
            onClick={() => {
              forgetRefs(repository);
              list.reload();
            }}
          >
            Clear
          </button>
        )}
      </div>
      {expression !== undefined && (
        <button type="button" className="plain pick" onClick={() => choose(expression)}>
          <GitCommitHorizontal size={15} aria-hidden /> Go to{' '}
          <strong className="mono">{shortId(expression)}</strong>
        </button>
      )}
      {shelf === 'time' && <TimeChoice repository={repository} base={base} onChoose={choose} />}
      <div className="pick-list" ref={scroller} hidden={shelf === 'time'}>
        <div
          id={listId}
          role="listbox"
          aria-label={shelf}
          className="in-sight"
          style={{ height: virtualizer.getTotalSize() }}
        >
          {items.map((item) => {
            const ref = list.row(item.index);
            if (ref === undefined) return null;
            return (
              // The text field above keeps the focus and moves through the options.
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
              <div
                key={item.key}
                id={`${listId}-${item.index}`}
                role="option"
                aria-selected={ref === value}
                className={`pick ${item.index === active ? 'active' : ''} ${hasCommits ? 'with-commits' : ''}`}
                style={placeOf(item)}
                onClick={() => choose(ref)}
              >
                <span className="pick-mark">{ref === value && <Check size={15} aria-hidden />}</span>
                <span className="ellipsis grow">{shortId(ref)}</span>
                {ref === defaultBranch && shelf !== 'tags' && <Tag>default</Tag>}
              </div>
            );
          })}
        </div>
        {/* An option may hold nothing to press, so these stand beside the list. */}
        {hasCommits &&
          items.map((item) => {
            const ref = list.row(item.index);
            return (
              <button
                key={item.key}
                type="button"
                className="plain pick-commits"
                style={{ top: item.start + 4 }}
                aria-label={`Commits of ${ref ?? ''}`}
                title="Show commits"
                onClick={() => setCommitsOf(ref)}
              >
                <History size={14} aria-hidden />
              </button>
            );
          })}
      </div>
      {state.count === 0 && !state.loading && shelf !== 'time' && (
        <div className="muted small pick-none">
          {shelf === 'recent' ? 'Refs you choose are remembered here.' : `No ${shelf} contain “${part}”.`}
        </div>
      )}
      {canCreate && shelf === 'branches' && text.trim() !== '' && !exists && expression === undefined && (
        <button
          type="button"
          className="plain pick pick-more"
          disabled={create.isPending}
          onClick={() => create.mutate(text.trim())}
        >
          <GitBranch size={15} aria-hidden /> Create branch <strong>{text.trim()}</strong> from{' '}
          {shortId(value)}
        </button>
      )}
      {create.error !== null && <div className="padded failure">{create.error.message}</div>}
    </div>
  );
}
