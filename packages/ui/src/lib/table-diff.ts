export interface TableColumn {
  readonly name: string;
  readonly type?: string | undefined;
}

export interface Table {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface ColumnChange {
  readonly name: string;
  readonly change: 'added' | 'removed' | 'type';
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface RowChange {
  readonly change: 'added' | 'removed' | 'changed';
  /** By the columns of the difference. */
  readonly cells: readonly unknown[];
  /** What a cell held before, where it differs. */
  readonly before: ReadonlyMap<number, unknown>;
}

export interface TableDiff {
  /** The columns of both sides: those of the new one, then those that are gone. */
  readonly columns: readonly TableColumn[];
  readonly columnChanges: readonly ColumnChange[];
  readonly rows: readonly RowChange[];
  readonly counts: Readonly<Record<RowChange['change'], number>>;
  readonly unchanged: number;
}

/** A value as text that equals another's exactly when the values are equal. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return `"${value}`;
  // An integer column may be read as numbers on one side and as big integers on the other.
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? String(inner) : inner,
  ) as string | undefined;
  return text ?? 'null';
}

function keysOf(table: Table, positions: readonly number[]): string[] {
  return table.rows.map((row) => positions.map((at) => (at < 0 ? '' : textOf(row[at]))).join('\u0000'));
}

const positionsOf = (table: Table, names: readonly string[]): number[] =>
  names.map((name) => table.columns.findIndex((column) => column.name === name));

/** The first column whose values are unique on both sides, if there is one. */
export function guessKey(before: Table, after: Table): string[] {
  for (const { name } of after.columns) {
    const isUnique = [before, after].every((table) => {
      const positions = positionsOf(table, [name]);
      return !positions.includes(-1) && new Set(keysOf(table, positions)).size === table.rows.length;
    });
    if (isUnique) return [name];
  }
  return [];
}

function compareColumns(before: Table, after: Table): ColumnChange[] {
  const changes: ColumnChange[] = [];
  const old = new Map(before.columns.map((column) => [column.name, column.type]));
  const now = new Set(after.columns.map(({ name }) => name));
  for (const { name, type } of after.columns) {
    if (!old.has(name)) changes.push({ name, change: 'added', after: type });
    else if (old.get(name) !== type)
      changes.push({ name, change: 'type', before: old.get(name), after: type });
  }
  for (const { name, type } of before.columns) {
    if (!now.has(name)) changes.push({ name, change: 'removed', before: type });
  }
  return changes;
}

/**
 * Rows of two tables, matched by the key columns. Without a key a row is the same when all its cells are, so that
 * there are only added and removed rows. A key that repeats is matched in the order of the rows.
 */
export function diffTables(before: Table, after: Table, key: readonly string[]): TableDiff {
  const columnChanges = compareColumns(before, after);
  const gone = columnChanges.filter(({ change }) => change === 'removed').map(({ name }) => name);
  const columns = [...after.columns, ...before.columns.filter(({ name }) => gone.includes(name))];
  const names = columns.map(({ name }) => name);
  const fromOld = positionsOf(before, names);
  const fromNew = positionsOf(after, names);
  const cellsOf = (row: readonly unknown[], from: readonly number[]): unknown[] =>
    from.map((at) => (at < 0 ? undefined : row[at]));
  const matchBy = key.length > 0 ? key : names.filter((_, at) => fromOld[at] !== -1 && fromNew[at] !== -1);

  const waiting = new Map<string, number[]>();
  for (const [index, id] of keysOf(before, positionsOf(before, matchBy)).entries()) {
    const queue = waiting.get(id);
    if (queue === undefined) waiting.set(id, [index]);
    else queue.push(index);
  }
  const rows: RowChange[] = [];
  const counts = { added: 0, removed: 0, changed: 0 };
  let unchanged = 0;
  const none: ReadonlyMap<number, unknown> = new Map();
  for (const [index, id] of keysOf(after, positionsOf(after, matchBy)).entries()) {
    const cells = cellsOf(after.rows[index] ?? [], fromNew);
    const match = waiting.get(id)?.shift();
    if (match === undefined) {
      rows.push({ change: 'added', cells, before: none });
      counts.added++;
      continue;
    }
    const old = cellsOf(before.rows[match] ?? [], fromOld);
    const differing = new Map<number, unknown>();
    for (const [at, value] of cells.entries()) {
      // A column that only one side has is a change of the columns, not of every row.
      if (fromOld[at] === -1 || fromNew[at] === -1) continue;
      if (textOf(value) !== textOf(old[at])) differing.set(at, old[at]);
    }
    if (differing.size === 0) unchanged++;
    else {
      rows.push({ change: 'changed', cells, before: differing });
      counts.changed++;
    }
  }
  for (const left of waiting.values()) {
    for (const index of left) {
      rows.push({ change: 'removed', cells: cellsOf(before.rows[index] ?? [], fromOld), before: none });
      counts.removed++;
    }
  }
  return { columns, columnChanges, rows, counts, unchanged };
}
