import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { Download, Play } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { EmptyState, Notice, Skeletons } from '../../kit/basics.tsx';
import { CodeEditor } from '../../kit/code-view.tsx';
import { DataGrid } from '../../kit/data-grid.tsx';
import { saveFile } from '../../kit/secret-card.tsx';
import { formatCount, plural } from '../../lib/format.ts';
import { svcUri } from '../../lib/paths.ts';
import { refreshAll } from '../../lib/queries.ts';
import { defaultQuery, isQuery, splitStatements } from '../../lib/sql-files.ts';
import { useRepository } from '../shell/repository-context.tsx';

/** SQL over this and any other object, run by an engine inside the browser. */
export function SqlTab({ refName, path }: { refName: string; path: string }): ReactNode {
  const repository = useRepository();
  const search = useSearch({ from: '/app/repositories/$repo/object' });
  const navigate = useNavigate({ from: '/repositories/$repo/object' });
  const [sql, setSql] = useState(search.sql ?? defaultQuery(svcUri(repository.id, refName, path)));
  const run = useMutation({
    // The engine is large: it is loaded when the first query runs.
    mutationFn: async (script: string) => (await import('./sql-engine.ts')).runSql(script),
    onSuccess(result) {
      if (result.written.length > 0) void refreshAll();
    },
  });
  /** The script that was run: what is typed meanwhile is another one. */
  const ran = run.variables ?? '';
  const save = useMutation({
    mutationFn: async () => saveFile('result.csv', await (await import('./sql-engine.ts')).exportCsv(ran)),
  });
  const execute = (): void => {
    void navigate({ search: (was) => ({ ...was, sql }), replace: true });
    run.mutate(sql);
  };
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) return;
    first.current = false;
    run.mutate(sql);
  }, [run, sql]);
  const result = run.data;
  return (
    <div className="box-body stack">
      <CodeEditor value={sql} onChange={setSql} extension="sql" label="SQL" onRun={execute} />
      <div className="row">
        <Button leftSection={<Play size={15} />} loading={run.isPending} onClick={execute}>
          Run
        </Button>
        <span className="muted small">
          Ctrl Enter runs. Name any object as <code>'svc://repository/ref/path'</code>; <code>COPY … TO</code>{' '}
          writes to a branch.
        </span>
        {result !== undefined && result.rows.length > 0 && (
          <Button
            className="right"
            variant="default"
            size="compact-sm"
            leftSection={<Download size={14} />}
            loading={save.isPending}
            disabled={run.isPending || !isQuery(splitStatements(ran).at(-1) ?? '')}
            onClick={() => save.mutate()}
          >
            All rows as CSV
          </Button>
        )}
      </div>
      {save.error !== null && (
        <Notice kind="error" title="The rows could not be saved">
          <pre className="message-text">{save.error.message}</pre>
        </Notice>
      )}
      {run.error !== null && (
        <Notice kind="error" title="The query failed">
          <pre className="message-text">{run.error.message}</pre>
        </Notice>
      )}
      {run.isPending && <Skeletons rows={5} />}
      {result !== undefined && !run.isPending && (
        <>
          {result.written.length > 0 && <Notice kind="good">Written: {result.written.join(', ')}</Notice>}
          <div className="small muted" role="status">
            {plural(result.total, 'row')} in {Math.round(result.milliseconds)} ms
            {result.total > result.rows.length && `; the first ${formatCount(result.rows.length)} are shown`}
          </div>
          {result.rows.length === 0 ? (
            <EmptyState title="No rows">The query ran and found nothing.</EmptyState>
          ) : (
            <div className="box">
              <DataGrid label="Result" columns={result.columns} rows={result.rows} />
            </div>
          )}
        </>
      )}
    </div>
  );
}
