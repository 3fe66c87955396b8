import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { ErrorNotice, Skeletons, Tag } from '../../kit/basics.tsx';
import { DataGrid } from '../../kit/data-grid.tsx';
import { parseCsv } from '../../lib/csv.ts';
import { extensionOf } from '../../lib/file-kind.ts';
import { formatBytes, formatCount, plural } from '../../lib/format.ts';
import { fetchText } from '../../lib/object-data.ts';
import { useRepository } from '../shell/repository-context.tsx';
import { readParquet } from './read-parquet.ts';

interface TablePreviewProps {
  readonly refName: string;
  readonly path: string;
  readonly size: number;
}

/** The first rows of a data file, read by ranges; no SQL engine is needed. */
export function TablePreview(props: TablePreviewProps): ReactNode {
  return extensionOf(props.path) === 'parquet' ? <ParquetPreview {...props} /> : <CsvPreview {...props} />;
}

function CsvPreview({ refName, path, size }: TablePreviewProps): ReactNode {
  const repository = useRepository();
  const { data, error, refetch } = useQuery({
    queryKey: ['csv', repository.id, refName, path],
    queryFn: async ({ signal }) => {
      const { text, complete } = await fetchText(repository.id, refName, path, { limit: 256 * 1024, signal });
      return { ...parseCsv(text, complete, extensionOf(path) === 'tsv' ? '\t' : undefined), complete };
    },
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeletons />;
  return (
    <>
      <div className="row small bar">
        <Tag>{plural(data.columns.length, 'column')}</Tag>
        <Tag>
          {data.complete
            ? plural(data.rows.length, 'row')
            : `first ${plural(data.rows.length, 'row')} of ${formatBytes(size)}`}
        </Tag>
      </div>
      <DataGrid label={`Rows of ${path}`} columns={data.columns.map((name) => ({ name }))} rows={data.rows} />
    </>
  );
}

function ParquetPreview({ refName, path, size }: TablePreviewProps): ReactNode {
  const repository = useRepository();
  const [rows, setRows] = useState(100);
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['parquet', repository.id, refName, path, rows],
    queryFn: () => readParquet({ repository: repository.id, ref: refName, path }, size, rows),
    placeholderData: (previous) => previous,
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeletons />;
  return (
    <>
      <div className="row small bar">
        <Tag>{plural(data.rowCount, 'row')}</Tag>
        <Tag>{plural(data.columns.length, 'column')}</Tag>
        <Tag>{plural(data.rowGroups, 'row group')}</Tag>
        <Tag>{data.codecs.join(', ').toLowerCase()}</Tag>
        <Tag>{formatBytes(size)}</Tag>
      </div>
      <DataGrid label={`Rows of ${path}`} columns={data.columns} rows={data.rows} />
      <div className="box-body row small muted">
        {formatCount(data.rows.length)} of {formatCount(data.rowCount)} rows
        {data.rows.length < data.rowCount && (
          <Button
            variant="default"
            size="compact-sm"
            loading={isFetching}
            onClick={() => setRows(rows + 900)}
          >
            Load more
          </Button>
        )}
      </div>
    </>
  );
}

function Failed({ error, onRetry }: { error: unknown; onRetry: () => void }): ReactNode {
  return (
    <div className="box-body">
      <ErrorNotice error={error} onRetry={onRetry} />
    </div>
  );
}
