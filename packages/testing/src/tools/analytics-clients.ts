import { pythonEnvironment } from '../fetch/python-environment.ts';

/** A Python with what builds models and trains on data: only the long run needs it. */
export function analyticsClients(): Promise<string> {
  return pythonEnvironment([
    'datasets==5.2.0',
    // The next one fetches a part of itself from elsewhere when it is installed.
    'dbt-core==1.10.23',
    'dbt-duckdb==1.10.1',
    'duckdb==1.5.5',
    'duckdb-extension-httpfs==1.5.5',
    'pandas==3.1.1',
    's3fs==2026.9.0',
  ]);
}
