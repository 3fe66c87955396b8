import * as duckdb from '@duckdb/duckdb-wasm';
import wasmUrl from '@duckdb/duckdb-wasm/dist/duckdb-eh.wasm?url';
import workerUrl from '@duckdb/duckdb-wasm/dist/duckdb-browser-eh.worker.js?url';
import { client } from '../../lib/api.ts';
import { objectUrl } from '../../lib/paths.ts';
import { prepareSql, splitStatements } from '../../lib/sql-files.ts';

export interface SqlResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
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
  const { db, connection } = await startEngine();
  const prepared = prepareSql(script, ++runs);
  const started = performance.now();
  for (const { name, repository, ref, path } of prepared.reads) {
    const url = new URL(objectUrl(repository, ref, path), globalThis.location.href).href;
    await db.registerFileURL(name, url, duckdb.DuckDBDataProtocol.HTTP, false);
  }
  try {
    let columns: SqlResult['columns'] = [];
    let rows: unknown[][] = [];
    let total = 0;
    for (const statement of splitStatements(prepared.sql)) {
      const table = await connection.query(statement);
      columns = table.schema.fields.map((field: { name: string; type: unknown }) => ({
        name: field.name,
        type: String(field.type),
      }));
      total = table.numRows;
      rows = [];
      for (let index = 0; index < Math.min(total, shownRows); index++) {
        const row = table.get(index);
        rows.push(columns.map(({ name }) => plain(row?.[name] as unknown)));
      }
    }
    for (const { name, repository, ref, path } of prepared.writes) {
      const bytes = await db.copyFileToBuffer(name);
      await client.objects.upload({ repository, branch: ref, path, body: new Blob([new Uint8Array(bytes)]) });
      await db.dropFile(name);
    }
    return {
      columns,
      rows,
      total,
      written: prepared.writes.map(({ uri }) => uri),
      milliseconds: performance.now() - started,
    };
  } finally {
    // Dropped, so that the next query sees what the objects hold then.
    for (const { name } of prepared.reads) await db.dropFile(name);
  }
}

/** Arrow's own value types as plain ones. */
function plain(value: unknown): unknown {
  if (
    typeof value === 'object' &&
    value !== null &&
    'toJSON' in value &&
    typeof value.toJSON === 'function' &&
    !(value instanceof Date)
  ) {
    return (value.toJSON as () => unknown)();
  }
  return value;
}
