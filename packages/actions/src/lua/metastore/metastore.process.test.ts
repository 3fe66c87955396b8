import { createServer, type AddressInfo } from 'node:net';
import { HiveMetastore } from '@svc/metastore';
import { HiveFake } from '@svc/metastore/hive-fake';
import { publicAnd, type OutgoingOptions } from '@svc/outgoing';
import { testServerOrSkip } from '@svc/testing';
import { beforeEach, expect, test } from 'vitest';
import {
  closers,
  documents,
  fill,
  open,
  orders,
  runHook,
  setting,
  startEndless,
  startListener,
  storage,
  type Surroundings,
} from '../../../test/metastore-hook.ts';

const guarded: OutgoingOptions = { rule: publicAnd({ setting, networks: [] }) };
const moto = await testServerOrSkip('moto');

let hive: HiveFake;
let other: HiveFake;

async function inHive<Result>(
  fake: HiveFake,
  work: (store: HiveMetastore) => Promise<Result>,
): Promise<Result> {
  const store = new HiveMetastore(fake.address);
  try {
    return await work(store);
  } finally {
    store.close();
  }
}

beforeEach(async () => {
  hive = await HiveFake.start();
  other = await HiveFake.start();
  closers.push(
    () => hive.stop(),
    () => other.stop(),
  );
  await inHive(hive, fill);
  hive.calls.length = 0;
});

const locationIn = (fake: HiveFake, database: string, table = 'orders'): Promise<string | undefined> =>
  inHive(fake, async (store) => (await store.getTable(database, table))?.storage?.location);

const run = (script: string, { args, ...surroundings }: Surroundings = {}) =>
  runHook(script, { ...surroundings, args: { hive: hive.address, other: other.address, ...args } });

async function shown(script: string): Promise<unknown[]> {
  const { output, failure } = await run(script);
  expect(failure).toBe('');
  return documents(output);
}

test('copies a schema and a table to a branch and finds no difference', async () => {
  const nothing = { added: [], removed: [], changed: [] };
  expect(
    await shown(`
    show(metastore.copy_schema{from_client = hive, from_schema = "sales", to_branch = "dev"})
    local copy = {from_client = hive, from_schema = "sales", from_table = "orders", to_branch = "dev"}
    show(metastore.copy(copy))
    copy.partition, copy.dry_run = {2025}, true
    show(require("lakefs/metastore").copy(copy))
    show(metastore.diff{from_client = hive, from_schema = "sales", from_table = "orders", to_schema = "dev"})`),
  ).toEqual([
    { from: 'sales', to: 'dev', location: 's3a://lake/dev/db', dry_run: false },
    {
      from: 'sales.orders',
      to: 'dev.orders',
      table: 'created',
      partitions: { added: 2, altered: 0, dropped: 0, unchanged: 0 },
      dry_run: false,
    },
    {
      from: 'sales.orders',
      to: 'dev.orders',
      table: 'kept',
      partitions: { added: 0, altered: 1, dropped: 0, unchanged: 0 },
      dry_run: true,
    },
    { from: 'sales.orders', to: 'dev.orders', columns: nothing, partitions: nothing },
  ]);
  expect(await locationIn(hive, 'dev')).toBe('s3a://lake/dev/orders');
});

test('copies everything to another metastore, and tells what failed when it goes on', async () => {
  await inHive(hive, (store) =>
    store.createTable({ ...orders, name: 'broken', storage: { ...storage, location: '/no/store' } }),
  );
  expect(
    await shown(`
    local all = {from_client = hive, to_client = other, branch = "dev", continue_on_error = true}
    show(metastore.copy_all(all))
    all.repo, all.table_filter = "pond", "orders"
    show(metastore.import_all(all))
    show({(pcall(metastore.copy_all, {from_client = hive, to_client = other, branch = "dev"}))})`),
  ).toEqual([
    {
      tables: [expect.objectContaining({ from: 'sales.orders', table: 'created' })],
      errors: [
        {
          what: 'table sales.broken',
          message: expect.stringContaining('"/no/store" cannot be moved') as string,
        },
      ],
      copied: 1,
      failed: 1,
      dry_run: false,
    },
    expect.objectContaining({ copied: 1, failed: 0 }),
    [false],
  ]);
  expect(await locationIn(other, 'sales')).toBe('s3a://pond/dev/main/orders');
});

test.skipIf(moto === undefined)('makes a table of symlinks in Glue, as the user of the event', async () => {
  const script = `
    local glue = {type = "glue", key = args.key, secret = "secret", region = args.region, endpoint = args.endpoint}
    metastore.copy_schema{from_client = hive, to_client = glue, from_schema = "sales", to_branch = "main", to_schema = args.schema}
    local link = {from_client = hive, to_client = glue, repo = "lake", branch = "main", path = "orders/",
      from_schema = "sales", from_table = "orders", to_schema = args.schema, to_table = "orders"}
    link.dry_run = true
    show(metastore.create_symlink(link))
    link.dry_run = nil
    show(metastore.create_symlink(link))
    show(metastore.diff{from_client = hive, to_client = glue, from_schema = "sales", from_table = "orders", to_schema = args.schema})`;
  const schema = `lua_${process.pid}_${Date.now()}`;
  const args = { key: moto?.accessKeyId, region: moto?.region, endpoint: moto?.endpoint, schema };
  const { output, failure, asked } = await run(script, { args });
  expect(failure).toBe('');
  const [dry, made, difference] = documents(output);
  expect(dry).toMatchObject({ location: '', table: 'created', dry_run: true });
  expect(made).toMatchObject({
    location: 's3://store/ns/symlinks',
    table: 'created',
    partitions: { added: 2 },
  });
  // They lie elsewhere in another format.
  const changed = { added: [], removed: [], changed: ['2025', '2026'] };
  expect(difference).toMatchObject({ columns: { changed: [] }, partitions: changed });
  expect(asked).toEqual([
    expect.objectContaining({
      userId: 'ada',
      method: 'POST',
      path: '/repositories/lake/refs/main/symlink',
      query: { location: 'orders/' },
      depth: 1,
    }),
  ]);
  const refused = await run(script, { args, outgoing: guarded });
  expect(refused.failure).toContain('address 127.0.0.1 is not allowed (actions.allowed_networks)');
});

const diff = 'metastore.diff{from_client = hive, from_schema = "sales", from_table = "orders"}';

test('an address that is not allowed is never connected to, however it is spelled', async () => {
  const port = hive.address.split(':').at(-1) ?? '';
  let connections = 0;
  const listener = createServer(() => (connections += 1));
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  closers.push(() => listener.close());
  for (const host of ['127.0.0.1', '[::ffff:7f00:1]', '2130706433', 'localhost']) {
    const address = `${host}:${(listener.address() as AddressInfo).port}`;
    const { failure } = await run(diff, { outgoing: guarded, args: { hive: address } });
    expect(failure).toMatch(/cannot connect to .*: address \S+ is not allowed \(actions\.allowed_networks\)/);
  }
  const rebinding = await run(diff, {
    args: { hive: `two-faces.test:${port}` },
    outgoing: {
      ...open,
      resolve: () =>
        Promise.resolve(['127.0.0.1', '169.254.169.254'].map((address) => ({ address, family: 4 }))),
    },
  });
  expect(rebinding.failure).toContain('address 169.254.169.254 is not allowed');
  expect(connections).toBe(0);
  expect(hive.calls).toEqual([]);
});

test('a name is resolved once, and the connection goes to what was checked', async () => {
  const port = hive.address.split(':').at(-1) ?? '';
  const asked: string[] = [];
  const resolve = (name: string) => {
    asked.push(name);
    return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
  };
  const { failure } = await run(diff, {
    args: { hive: `hive.test:${port}` },
    outgoing: { ...open, resolve },
  });
  expect(failure).toBe('');
  expect(asked).toEqual(['hive.test']);
  expect(hive.calls[0]).toBe('getName');
});

test('what does not speak Thrift hears a greeting and nothing that a script chose', async () => {
  const listener = await startListener((socket) => socket.write('-ERR unknown command\r\n'));
  const script =
    'metastore.diff{from_client = hive, from_schema = "x\\r\\nFLUSHALL\\r\\n", from_table = "t"}';
  const { failure } = await run(script, { args: { hive: listener.address } });
  expect(failure).toContain('its answer is not Thrift');
  const heard = Buffer.concat(listener.heard).toString('latin1');
  expect(heard).toContain('getName');
  expect(heard).not.toMatch(/FLUSHALL|[\r\n]/);
});

test('the end of a hook ends its connection', async () => {
  const stopping = new AbortController();
  const listener = await startListener(() => stopping.abort());
  const { failure } = await run(diff, { args: { hive: listener.address }, signal: stopping.signal });
  expect(failure).toBe('the server stopped while the hook ran');
  await listener.ends[0];
});

test('a metastore that sends without end is cut off', async () => {
  const listener = await startEndless('0b000005f5e100');
  const { failure } = await run(diff, { args: { hive: listener.address }, memoryBytes: 1024 ** 2 });
  expect(failure).toContain('it sent more than 1048576 bytes');
  await listener.ends[0];
});
