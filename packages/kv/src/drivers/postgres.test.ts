import { describe } from 'vitest';
import { testServerOrSkip } from '@svc/testing';
import { describeKvStore } from '@svc/kv/suite';
import { openPostgresStore } from './postgres.ts';

const server = await testServerOrSkip('postgres');

describe.runIf(server !== undefined)('on a real server', () => {
  describeKvStore('postgres', () =>
    openPostgresStore({
      connectionString: `${server?.connectionString}&svckv_table=kv_suite`,
      maxOpenConnections: 10,
      maxIdleConnections: 5,
      connectionMaxLifetimeMs: 60_000,
      scanPageSize: 1000,
    }),
  );
});
