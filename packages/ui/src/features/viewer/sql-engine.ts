import * as duckdb from '@duckdb/duckdb-wasm';
import wasmUrl from '@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url';
import workerUrl from '@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url';
import { cellText } from '../../kit/data-grid.tsx';
import { client } from '../../lib/api.ts';
import { objectUrl } from '../../lib/paths.ts';
import {
  asTextQuery,
  isJsonLines,
  isNumericType,
  isQuery,
  jsonArrayOf,
  prepareSql,
  splitStatements,
} from '../../lib/sql-files.ts';
import type { PreparedSql, SqlFile } from '../../lib/sql-files.ts';

export interface SqlColumn {
  readonly name: string;
  /** As SQL calls it. */
  readonly type?: string | undefined;
  readonly isNumeric: boolean;
}

export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  /** As the engine writes them. */
  readonly rows: readonly (readonly (string | null)[])[];
  readonly total: number;
  /** Objects written by `COPY … TO`. */
  readonly written: readonly string[];
  readonly milliseconds: number;
}

const shownRows = 1000;

interface Engine {
  readonly db: duckdb.AsyncDuckDB;
  readonly connection: duckdb.AsyncDuckDBConnection;
}

let engine: Promise<Engine> | undefined;
let runs = 0;

/** One engine for the life of the page, so that tables made by one query are there for the next. */
function startEngine(): Promise<Engine> {
  engine ??= (async () => {
    const worker = new Worker(workerUrl);
    const db = new duckdb.AsyncDuckDB(new duckdb.VoidLogger(), worker);
    await db.instantiate(wasmUrl);
    return { db, connection: await db.connect() };
  })();
  // The caller gets the error; the next query tries to start again.
  engine.catch(() => {
    engine = undefined;
  });
  return engine;
}

/** Runs a script in the browser. Objects are read by ranges from this server; nothing else is contacted. */
export async function runSql(script: string): Promise<SqlResult> {
  const started = performance.now();
  return withFiles(script, async ({ db, connection }, prepared) => {
    let result: Pick<SqlResult, 'columns' | 'rows' | 'total'> = { columns: [], rows: [], total: 0 };
    for (const statement of splitStatements(prepared.sql)) result = await answerOf(connection, statement);
    for (const { name, repository, ref, path } of prepared.writes) {
      const bytes = await db.copyFileToBuffer(name);
      await client.objects.upload({ repository, branch: ref, path, body: new Blob([new Uint8Array(bytes)]) });
      await db.dropFile(name);
    }
    return {
      ...result,
      written: prepared.writes.map(({ uri }) => uri),
      milliseconds: performance.now() - started,
    };
  });
}

/** Every row of a script's last query as CSV. */
export async function exportCsv(script: string): Promise<Uint8Array<ArrayBuffer>> {
  return withFiles(script, async ({ db, connection }, prepared) => {
    const query = splitStatements(prepared.sql).at(-1) ?? '';
    const name = `export_${runs}.csv`;
    try {
      await connection.query(`COPY (${query}\n) TO '${name}' (FORMAT csv, HEADER)`);
      return new Uint8Array(await db.copyFileToBuffer(name));
    } finally {
      await db.dropFile(name);
    }
  });
}

/** Makes the objects a script reads known to the engine while it works. */
async function withFiles<T>(
  script: string,
  work: (engine: Engine, prepared: PreparedSql) => Promise<T>,
): Promise<T> {
  const started = await startEngine();
  const { db, connection } = started;
  const prepared = prepareSql(script, ++runs);
  try {
    for (const file of prepared.reads) await openFile(started, file);
    return await work(started, prepared);
  } finally {
    // Dropped, so that the next query sees what the objects hold then.
    for (const { name } of prepared.reads) {
      if (isJsonLines(name)) await connection.query(`DROP TABLE IF EXISTS "${name}"`);
      await db.dropFile(name);
    }
  }
}

async function openFile({ db, connection }: Engine, { name, repository, ref, path }: SqlFile): Promise<void> {
  const url = new URL(objectUrl(repository, ref, path), globalThis.location.href).href;
  if (!isJsonLines(name)) {
    await db.registerFileURL(name, url, duckdb.DuckDBDataProtocol.HTTP, false);
    return;
  }
  // The engine reads JSON only into tables; a name in quotes after FROM is looked for among them first.
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${answer.statusText}`);
  await db.registerFileText(name, jsonArrayOf(await answer.text()));
  await connection.insertJSONFromPath(name, { name });
}

async function answerOf(
  connection: duckdb.AsyncDuckDBConnection,
  statement: string,
): Promise<Pick<SqlResult, 'columns' | 'rows' | 'total'>> {
  if (!isQuery(statement)) {
    const table = await connection.query(statement);
    const columns = table.schema.fields.map((field: { name: string }) => ({
      name: field.name,
      isNumeric: false,
    }));
    return { columns, rows: cellsOf(table, columns.length), total: table.numRows };
  }
  const described = await connection.query(`DESCRIBE ${statement}`);
  const columns = cellsOf(described, 2).map(([name, type]) => ({
    name: name ?? '',
    type: type ?? '',
    isNumeric: isNumericType(type ?? ''),
  }));
  const table = await connection.query(asTextQuery(statement, columns.length));
  return { columns, rows: cellsOf(table, columns.length), total: table.numRows };
}

interface ArrowTable {
  readonly numRows: number;
  getChildAt(index: number): { get(row: number): unknown } | null;
}

/** Cells by place: two columns may have one name. */
function cellsOf(table: ArrowTable, width: number): (string | null)[][] {
  const columns = Array.from({ length: width }, (_, index) => table.getChildAt(index));
  return Array.from({ length: Math.min(table.numRows, shownRows) }, (_, row) =>
    columns.map((column) => {
      const value = column?.get(row);
      return value === null || value === undefined ? null : cellText(value);
    }),
  );
}
