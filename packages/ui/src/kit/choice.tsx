import { Checkbox } from '@mantine/core';
import { useRef, useState } from 'react';
import type { PagedList } from '../lib/paged-list.ts';
import type { Column } from './virtual-list.tsx';

/** The selected rows. */
export interface Choice<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  readonly set: (rows: ReadonlyMap<string, Row>) => void;
  readonly clear: () => void;
}

export function useChoice<Row>(): Choice<Row> {
  const [rows, set] = useState<ReadonlyMap<string, Row>>(new Map());
  return { rows, set, clear: () => set(new Map()) };
}

interface ChoiceColumnOptions<Row> {
  readonly choice: Choice<Row>;
  readonly list: PagedList<Row>;
  readonly idOf: (row: Row) => string;
  readonly nameOf?: (row: Row) => string;
  /** Rows that cannot be chosen have no box. */
  readonly canChoose?: (row: Row) => boolean;
}

/** The column of boxes: one per row, one above for all that are loaded, Shift for all in between. */
export function useChoiceColumn<Row>(options: ChoiceColumnOptions<Row>): Column<Row> {
  const { choice, list, idOf, nameOf = idOf, canChoose = () => true } = options;
  const last = useRef<number>(undefined);
  const choosable = (from: number, to: number): Row[] => {
    const rows: Row[] = [];
    for (let index = from; index <= to; index++) {
      const row = list.row(index);
      if (row !== undefined && canChoose(row)) rows.push(row);
    }
    return rows;
  };
  const mark = (rows: readonly Row[], chosen: boolean): void => {
    const next = new Map(choice.rows);
    for (const row of rows) {
      if (chosen) next.set(idOf(row), row);
      else next.delete(idOf(row));
    }
    choice.set(next);
  };
  const { count } = list.state();
  const isAll = choice.rows.size > 0 && choosable(0, count - 1).every((row) => choice.rows.has(idOf(row)));
  return {
    name: 'Select',
    quiet: true,
    width: '22px',
    head: (
      <Checkbox
        size="xs"
        className="choose"
        aria-label="Select all that are loaded"
        checked={isAll}
        indeterminate={!isAll && choice.rows.size > 0}
        onChange={(event) => mark(choosable(0, count - 1), event.currentTarget.checked)}
      />
    ),
    cell: (row, index) =>
      canChoose(row) ? (
        <Checkbox
          size="xs"
          className="choose"
          aria-label={`Select ${nameOf(row)}`}
          checked={choice.rows.has(idOf(row))}
          onChange={(event) => {
            const isRange = (event.nativeEvent as MouseEvent).shiftKey && last.current !== undefined;
            const from = isRange ? (last.current ?? index) : index;
            mark(choosable(Math.min(from, index), Math.max(from, index)), event.currentTarget.checked);
            last.current = index;
          }}
        />
      ) : null,
  };
}
