import { join } from 'node:path';
import {
  dataClients,
  orSkipReason,
  rclone as fetchRclone,
  startSvcProcess,
  type SvcProcess,
} from '@svc/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { runPage } from './integrations/run-page.ts';

const [python, rclone] = await Promise.all([
  orSkipReason('the data clients', dataClients),
  orSkipReason('rclone', fetchRclone),
]);
const runSql = join(import.meta.dirname, '../../iceberg/test/tours/run_sql.py');

describe.skipIf(python === undefined || rclone === undefined)('the pages about integrations', () => {
  let server: SvcProcess;
  beforeAll(async () => {
    server = await startSvcProcess();
  });
  afterAll(() => server.stop());

  it.each([
    'integrations/duckdb.md',
    'integrations/pandas-polars.md',
    'integrations/delta.md',
    'integrations/iceberg.md',
    'integrations/rclone.md',
  ])(
    'tells what works: %s',
    async (page) => {
      await runPage({
        page,
        server,
        runners: {
          // The native libraries abort now and then while the interpreter ends, long after the last request.
          python: (code) => [python ?? '', '-c', `${code}\nimport os, sys\nsys.stdout.flush()\nos._exit(0)`],
          duckdb: (code) => [python ?? '', runSql, code],
        },
        programs: { rclone: [rclone ?? ''] },
      });
    },
    120_000,
  );
});
