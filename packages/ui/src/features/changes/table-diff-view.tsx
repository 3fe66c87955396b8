import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { ChangeTag, ErrorNotice, Notice, Skeletons, Tag } from '../../kit/basics.tsx';
import { DataGrid } from '../../kit/data-grid.tsx';
import { parseCsv } from '../../lib/csv.ts';
import { extensionOf } from '../../lib/file-kind.ts';
import { formatCount, plural } from '../../lib/format.ts';
import { fetchText } from '../../lib/object-data.ts';
import { diffTables, guessKey } from '../../lib/table-diff.ts';
import type { ColumnChange, Table } from '../../lib/table-diff.ts';
import { readParquet } from '../viewer/read-parquet.ts';

/** The number of rows compared on each side; nobody would read more. */
const rowLimit = 20_000;
const csvLimit = 4 * 1024 * 1024;

export interface TableSide {
  readonly ref: string;
  readonly size: number;
}

interface ReadTable extends Table {
  readonly complete: boolean;
}

const nothing: ReadTable = { columns: [], rows: [], complete: true };

async function readTable(
  repository: string,
  path: string,
  side: TableSide | undefined,
  signal: AbortSignal,
): Promise<ReadTable> {
  if (side === undefined || side.size === 0) return nothing;
  const { ref, size } = side;
  if (extensionOf(path) === 'parquet') {
    const { columns, rows, rowCount } = await readParquet({ repository, ref, path }, size, rowLimit);
    return { columns, rows, complete: rows.length >= rowCount };
  }
  const { text, complete } = await fetchText(repository, ref, path, { limit: csvLimit, signal });
  const { columns, rows } = parseCsv(text, complete, extensionOf(path) === 'tsv' ? '\t' : undefined);
  return {
    columns: columns.map((name) => ({ name })),
    rows: rows.slice(0, rowLimit),
    complete: complete && rows.length <= rowLimit,
  };
}

function columnWords({ name, change, before, after }: ColumnChange): string {
  if (change === 'type') return `${name}: ${before ?? '?'} → ${after ?? '?'}`;
  return `${change === 'added' ? '+' : '−'} column ${name}`;
}

const columnKinds = { added: 'added', removed: 'removed', type: 'changed' } as const;

/** Rows and columns two versions of a data file differ in. */
export function TableDiffView({
  repository,
  path,
  before,
  after,
  name,
}: {
  repository: string;
  path: string;
  before: TableSide | undefined;
  after: TableSide | undefined;
  /** Names the difference among others. */
  name: readonly string[];
}): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['table-diff', ...name, path],
    queryFn: async ({ signal }) => {
      const [old, now] = await Promise.all([
        readTable(repository, path, before, signal),
        readTable(repository, path, after, signal),
      ]);
      return { old, now };
    },
  });
  const keyId = useId();
  const [chosen, setChosen] = useState<string[]>();
  const key = useMemo(
    () => chosen ?? (data === undefined ? [] : guessKey(data.old, data.now)),
    [chosen, data],
  );
  const diff = useMemo(
    () => (data === undefined ? undefined : diffTables(data.old, data.now, key)),
    [data, key],
  );
  if (error !== null) return <ErrorNotice error={error} onRetry={() => void refetch()} />;
  if (data === undefined || diff === undefined) return <Skeletons rows={4} />;
  const { counts, rows, columns, columnChanges, unchanged } = diff;
  const both = data.now.columns.filter((column) => data.old.columns.some((old) => old.name === column.name));
  return (
    <div className="stack tight box-body">
      <div className="row">
        {counts.added > 0 && <Tag kind="added">+ {plural(counts.added, 'row')}</Tag>}
        {counts.changed > 0 && <Tag kind="changed">~ {plural(counts.changed, 'row')}</Tag>}
        {counts.removed > 0 && <Tag kind="removed">− {plural(counts.removed, 'row')}</Tag>}
        <span className="small muted">{formatCount(unchanged)} unchanged</span>
        {both.length > 0 && (
          <div className="right row">
            <label htmlFor={keyId} className="small muted">
              Rows matched by
            </label>
            <MultiSelect
              id={keyId}
              size="xs"
              placeholder={key.length === 0 ? 'all columns' : undefined}
              data={both.map((column) => column.name)}
              value={key}
              onChange={setChosen}
              w={200}
              comboboxProps={{ transitionProps: { duration: 0 } }}
            />
          </div>
        )}
      </div>
      {columnChanges.length > 0 && (
        <div className="row">
          {columnChanges.map((change) => (
            <Tag key={change.name} kind={columnKinds[change.change]}>
              {columnWords(change)}
            </Tag>
          ))}
        </div>
      )}
      {!(data.old.complete && data.now.complete) && (
        <Notice kind="warn">
          Only the first rows of each version are compared: {formatCount(data.old.rows.length)} before,{' '}
          {formatCount(data.now.rows.length)} after.
        </Notice>
      )}
      {rows.length === 0 ? (
        <div className="muted">The rows are the same.</div>
      ) : (
        <div className="box">
          <DataGrid
            label={`Changed rows of ${path}`}
            columns={columns}
            rows={rows.map(({ cells }) => cells)}
            leadOf={(index) => <ChangeTag type={rows[index]?.change ?? ''} />}
            markOf={(row, column) => {
              const change = rows[row];
              if (change === undefined) return undefined;
              if (change.change !== 'changed') return { kind: change.change };
              return change.before.has(column)
                ? { kind: 'changed', before: change.before.get(column) }
                : undefined;
            }}
          />
        </div>
      )}
    </div>
  );
}
