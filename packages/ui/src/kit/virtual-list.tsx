import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { KeyboardEvent, ReactNode } from 'react';
import type { PagedList } from '../lib/paged-list.ts';
import { usePagedState } from '../lib/use-paged-list.ts';
import { formatCount } from '../lib/format.ts';
import { usePreference } from '../lib/use-preference.ts';
import { ErrorNotice, Skeletons } from './basics.tsx';
import { placeOf } from './place-of.ts';

export interface Column<Row> {
  readonly name: string;
  /** A grid track such as `minmax(0, 1fr)`. */
  readonly width: string;
  readonly className?: string;
  /** Left out on narrow screens. */
  readonly wide?: boolean;
  /** The heading is for screen readers only. */
  readonly quiet?: boolean;
  /** Replaces the name in the heading. */
  readonly head?: ReactNode;
  readonly cell: (row: Row, index: number) => ReactNode;
}

interface VirtualListProps<Row> {
  readonly label: string;
  readonly list: PagedList<Row>;
  readonly columns: readonly Column<Row>[];
  readonly rowHeight?: number;
  readonly empty: ReactNode;
  readonly noun: string;
  readonly header?: boolean;
  /** Called with the row under the pointer or the focus. */
  readonly onPoint?: (index: number | undefined) => void;
}

/** Up to this many rows are part of the page; longer lists scroll in a frame of their own. */
const flowLimit = 60;
/** Browsers clamp an element's height; beyond this the last rows could not be reached. */
const maxHeight = 30_000_000;

/** A table of any length. Only visible rows are rendered. Another list begins at its own place. */
export function VirtualList<Row>(props: VirtualListProps<Row>): ReactNode {
  return <OneList key={props.list.id} {...props} />;
}

function OneList<Row>({
  label,
  list,
  columns,
  rowHeight: comfortable = 36,
  empty,
  noun,
  header = true,
  onPoint,
}: VirtualListProps<Row>): ReactNode {
  const state = usePagedState(list);
  const [density] = usePreference<'comfortable' | 'compact'>('density', 'comfortable');
  const rowHeight = density === 'compact' ? Math.max(28, Math.round(comfortable * 0.82)) : comfortable;
  const scroller = useRef<HTMLDivElement>(null);
  const flows = state.count <= flowLimit && (state.complete || state.count === 0);
  const height = Math.min(rowHeight, Math.floor(maxHeight / Math.max(1, state.count)));
  const virtualizer = useVirtualizer({
    count: flows ? 0 : state.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 8,
    initialOffset: list.offset,
  });
  const items = virtualizer.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (!flows) list.show(first, last);
  }, [list, flows, first, last, state.count]);
  useEffect(() => virtualizer.measure(), [virtualizer, height]);
  // The End key follows the list as pages arrive, until another key or the wheel takes over.
  const following = useRef(false);
  useEffect(() => {
    if (following.current) virtualizer.scrollToIndex(state.count - 1);
    if (state.complete) following.current = false;
  }, [virtualizer, state.count, state.complete]);
  const style = {
    '--columns': columns.map(({ width }) => width).join(' '),
    '--narrow-columns': columns
      .filter(({ wide }) => wide !== true)
      .map(({ width }) => width)
      .join(' '),
    '--row-height': `${rowHeight}px`,
  } as React.CSSProperties;

  if (state.count === 0) {
    if (state.error !== undefined) {
      return (
        <div className="box-body">
          <ErrorNotice error={state.error} onRetry={() => list.retry()} />
        </div>
      );
    }
    return state.loading ? <Skeletons height={rowHeight} /> : empty;
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    following.current = event.key === 'End' && !flows;
    if (following.current) {
      event.preventDefault();
      virtualizer.scrollToIndex(state.count - 1);
    } else if (event.key === 'Home' && !flows) {
      event.preventDefault();
      virtualizer.scrollToIndex(0);
    }
  };
  const cells = (index: number): ReactNode => {
    const row = list.row(index);
    return (
      <div
        role="row"
        aria-rowindex={index + (header ? 2 : 1)}
        onMouseEnter={() => onPoint?.(index)}
        onMouseLeave={() => onPoint?.(undefined)}
        onFocus={() => onPoint?.(index)}
        onBlur={() => onPoint?.(undefined)}
      >
        {columns.map((column) => (
          <div
            role="cell"
            key={column.name}
            className={`${column.className ?? ''} ${column.wide === true ? 'hide-narrow' : ''}`}
          >
            {row === undefined ? <span className="muted">…</span> : column.cell(row, index)}
          </div>
        ))}
      </div>
    );
  };
  return (
    <>
      <div
        className="list"
        role="table"
        aria-label={label}
        aria-rowcount={state.complete ? state.count + (header ? 1 : 0) : -1}
        aria-busy={state.loading}
        style={style}
      >
        {header && (
          <div role="rowgroup" className="list-head">
            <div role="row" aria-rowindex={1}>
              {columns.map((column) => (
                <div
                  role="columnheader"
                  key={column.name}
                  className={`${column.className ?? ''} ${column.wide === true ? 'hide-narrow' : ''}`}
                >
                  {column.head ??
                    (column.quiet === true ? (
                      <span className="visually-hidden">{column.name}</span>
                    ) : (
                      column.name
                    ))}
                </div>
              ))}
            </div>
          </div>
        )}
        {flows ? (
          <div role="rowgroup" className="list-body flow">
            {Array.from({ length: state.count }, (_, index) => (
              <div key={index} role="presentation">
                {cells(index)}
              </div>
            ))}
          </div>
        ) : (
          <div
            className="scroller"
            ref={scroller}
            tabIndex={0}
            role="rowgroup"
            aria-label={label}
            onKeyDown={onKeyDown}
            onScroll={({ currentTarget }) => {
              list.offset = currentTarget.scrollTop;
            }}
            onWheel={() => {
              following.current = false;
            }}
          >
            <div
              className="list-body in-sight"
              role="presentation"
              style={{ height: virtualizer.getTotalSize() }}
            >
              {items.map((item) => (
                <div key={item.key} role="presentation" style={placeOf(item)}>
                  {cells(item.index)}
                </div>
              ))}
            </div>
          </div>
        )}
      </div>
      {state.error !== undefined && (
        <div className="box-body">
          <ErrorNotice error={state.error} onRetry={() => list.retry()} />
        </div>
      )}
      {!flows && (
        <div className="box-head small muted foot">
          {state.complete ? formatCount(state.count) : `${formatCount(state.count)}+`} {noun}
          {state.loading && ', loading more …'}
        </div>
      )}
    </>
  );
}
