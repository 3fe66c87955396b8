import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import type { ReactNode } from 'react';

export interface GridColumn {
  readonly name: string;
  readonly type?: string | undefined;
  readonly note?: string | undefined;
  /** Aligned as numbers although the cells are texts. */
  readonly isNumeric?: boolean | undefined;
}

/** A cell that differs from another version of the table. */
export interface CellMark {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: unknown;
}

const rowHeight = 29;

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A value of any data file as text. */
export function cellText(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      if (value instanceof Date) return value.toISOString();
      if (value instanceof Uint8Array) return `0x${hexOf(value)}`;
      return JSON.stringify(value, (_key, inner: unknown) =>
        typeof inner === 'bigint' ? String(inner) : inner,
      );
    case 'undefined':
    case 'function':
    case 'symbol':
      return 'null';
  }
}

const isNumeric = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';

/** Rows of a data file or a query under a sticky heading with types. Only visible rows are rendered. */
export function DataGrid({
  label,
  columns,
  rows,
  leadOf,
  markOf,
}: {
  label: string;
  columns: readonly GridColumn[];
  rows: readonly (readonly unknown[])[];
  /** Replaces the row number. */
  leadOf?: (row: number) => ReactNode;
  markOf?: (row: number, column: number) => CellMark | undefined;
}): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    initialRect: { width: 800, height: 600 },
  });
  const items = virtualizer.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div className="data-grid" ref={scroller} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th className="index" scope="col">
              {leadOf === undefined ? (
                <>
                  <span className="visually-hidden">Row</span>#
                </>
              ) : (
                'Change'
              )}
            </th>
            {columns.map((column, index) => (
              <th
                key={index}
                scope="col"
                className={column.isNumeric === true || isNumeric(rows[0]?.[index]) ? 'number' : undefined}
              >
                {column.name}
                {column.type !== undefined && <small>{column.type}</small>}
                {column.note !== undefined && <small>{column.note}</small>}
              </th>
            ))}
            {/* Takes the room that is left, so that columns are as wide as what they hold. */}
            <td className="filler" />
          </tr>
        </thead>
        <tbody>
          {before > 0 && (
            <tr style={{ height: before }} aria-hidden>
              <td colSpan={columns.length + 2} />
            </tr>
          )}
          {items.map((item) => (
            <tr key={item.key} style={{ height: rowHeight }} aria-rowindex={item.index + 2}>
              <td className="index">{leadOf === undefined ? item.index + 1 : leadOf(item.index)}</td>
              {columns.map((column, index) => {
                const value = rows[item.index]?.[index];
                const text = cellText(value);
                const isNull = value === null || value === undefined;
                const numeric = column.isNumeric === true || isNumeric(value);
                const mark = markOf?.(item.index, index);
                return (
                  <td
                    key={index}
                    className={`${isNull ? 'null' : numeric ? 'number' : ''} ${mark?.kind ?? ''}`}
                    title={text.length > 40 ? text : undefined}
                  >
                    {mark?.kind === 'changed' && <del>{cellText(mark.before)}</del>}
                    {text.length > 300 ? `${text.slice(0, 300)}…` : text}
                  </td>
                );
              })}
              <td className="filler" />
            </tr>
          ))}
          {after > 0 && (
            <tr style={{ height: after }} aria-hidden>
              <td colSpan={columns.length + 2} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
