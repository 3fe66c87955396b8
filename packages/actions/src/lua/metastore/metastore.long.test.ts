import { HiveMetastore } from '@svc/metastore';
import { orSkipReason, startHive } from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import { documents, fill, runHook, startEndless } from '../../../test/metastore-hook.ts';

const hive = await orSkipReason('the Hive metastore', startHive);
afterAll(() => hive?.dispose());

test.skipIf(hive === undefined)("a script copies a table in Hive's own metastore", async () => {
  const store = new HiveMetastore(hive?.address ?? '');
  await fill(store);
  const { output, failure } = await runHook(
    `
    local sales = {from_client = hive, from_schema = "sales", from_table = "orders", to_branch = "dev"}
    metastore.copy_schema{from_client = hive, from_schema = "sales", to_branch = "dev"}
    show(metastore.copy(sales).partitions)
    show(metastore.copy(sales).partitions)
    sales.to_branch, sales.to_schema = nil, "dev"
    show(metastore.diff(sales).partitions)`,
    { args: { hive: hive?.address } },
  );
  expect(failure).toBe('');
  expect(documents(output)).toEqual([
    { added: 2, altered: 0, dropped: 0, unchanged: 0 },
    { added: 0, altered: 0, dropped: 0, unchanged: 2 },
    { added: [], removed: [], changed: [] },
  ]);
  expect((await store.getTable('dev', 'orders'))?.storage?.location).toBe('s3a://lake/dev/orders');
  store.close();
});

test('what a metastore sends costs its own thread the memory, not the server', async () => {
  // A list of flags: each takes a byte on the wire, and far more in memory.
  const listener = await startEndless('0f0000020bebc200');
  const { failure } = await runHook(
    'metastore.diff{from_client = hive, from_schema = "sales", from_table = "orders"}',
    { args: { hive: listener.address } },
  );
  expect(failure).toContain('not enough memory for what the metastores sent');
  await listener.ends[0];
});
