import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  copyAll,
  copyTable,
  diffTables,
  HiveMetastore,
  onBranch,
  type MetastoreError,
} from '../src/index.ts';
import { fieldsOf, struct, structIn, text, textIn, type ThriftFields } from '../src/hive/thrift/values.ts';
import { describeCopies, ordersPartition, ordersTable, storageAt } from './copy-suite.ts';
import { HiveFake, type HiveFakeOptions } from './hive-fake.ts';

async function pairOf(options: HiveFakeOptions): Promise<{ fakes: HiveFake[]; stores: HiveMetastore[] }> {
  const fakes = [await HiveFake.start(options), await HiveFake.start(options)];
  return { fakes, stores: fakes.map((fake) => new HiveMetastore(fake.address)) };
}

function suiteWith(options: HiveFakeOptions): Parameters<typeof describeCopies>[1] {
  return async () => {
    const { fakes, stores } = await pairOf(options);
    const [from, to] = stores;
    if (from === undefined || to === undefined) throw new Error('no pair');
    const close = async (): Promise<void> => {
      for (const store of stores) store.close();
      for (const fake of fakes) await fake.stop();
    };
    return { from, to, close };
  };
}

describeCopies('from Hive to Hive', suiteWith({}));
describeCopies(
  'from Hive to Hive in frames, without get_table',
  suiteWith({ framed: true, without: ['get_table'] }),
);

describe('a Hive metastore', () => {
  const closers: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });
  async function start(options: HiveFakeOptions = {}): Promise<{ fake: HiveFake; hive: HiveMetastore }> {
    const fake = await HiveFake.start(options);
    const hive = new HiveMetastore(fake.address);
    closers.push(
      () => hive.close(),
      () => fake.stop(),
    );
    return { fake, hive };
  }
  const request = (hive: HiveMetastore) => ({
    from: { metastore: hive, database: 'sales', table: 'orders' },
    to: { metastore: hive, database: 'dev', table: 'orders' },
    rewrite: { serde: 'orders', relocate: onBranch('dev'), fixSparkPlaceholder: false },
    dryRun: false,
  });
  async function fill(hive: HiveMetastore, partitions: number): Promise<void> {
    await hive.createDatabase({ name: 'sales', parameters: {} });
    await hive.createDatabase({ name: 'dev', parameters: {} });
    await hive.createTable(ordersTable('sales'));
    const years = Array.from({ length: partitions }, (_, at) => ordersPartition('sales', String(at)));
    await hive.addPartitions(years);
  }
  const change = (
    fields: ThriftFields,
    id: number,
    more: Readonly<Record<number, ReturnType<typeof text>>>,
  ) => new Map(fields).set(id, struct(new Map([...(structIn(fields, id) ?? []), ...fieldsOf(more)])));

  it('keeps what it does not know of, on creation from the original and on changes from the copy', async () => {
    const { fake, hive } = await start();
    await fill(hive, 1);
    const original = fake.tables.get('sales.orders');
    if (original === undefined) throw new Error('no table');
    const catalog = 17;
    original.fields = new Map(change(original.fields, 7, { 77: text('storage') }))
      .set(99, text('future'))
      .set(catalog, text('hive'));
    const [key, partition] = [...original.partitions][0] ?? ['', new Map()];
    original.partitions.set(key, new Map(partition).set(66, text('partition')));
    await copyTable(request(hive));

    const copy = fake.tables.get('dev.orders');
    if (copy === undefined) throw new Error('no copy');
    expect(textIn(copy.fields, 99)).toBe('future');
    expect(textIn(structIn(copy.fields, 7) ?? new Map(), 77)).toBe('storage');
    expect(copy.fields.has(catalog)).toBe(false);
    expect(textIn(copy.partitions.get(key) ?? new Map(), 66)).toBe('partition');

    copy.fields = new Map(copy.fields).set(99, text('own')).set(catalog, text('spark'));
    copy.partitions.set(key, new Map(copy.partitions.get(key)).set(66, text('own')));
    original.partitions.set(key, new Map(original.partitions.get(key)).set(5, { type: 'i32', value: 9 }));
    expect((await copyTable(request(hive))).partitions.altered).toBe(1);
    expect(textIn(copy.fields, 99)).toBe('own');
    expect(textIn(copy.fields, catalog)).toBe('spark');
    expect(textIn(copy.partitions.get(key) ?? new Map(), 66)).toBe('own');
  });

  it('carries skewed columns without the places of their values', async () => {
    const { fake, hive } = await start();
    await fill(hive, 0);
    const original = fake.tables.get('sales.orders');
    if (original === undefined) throw new Error('no table');
    const names = { type: 'list', item: 'string', items: [text('id')] } as const;
    const key = { type: 'list', item: 'string', items: [text('1')] } as const;
    const places = [[key, text('s3a://lake/main/orders/id=1')]] as const;
    const skewed = fieldsOf({ 1: names, 3: { type: 'map', key: 'list', item: 'string', entries: places } });
    original.fields = change(original.fields, 7, { 11: struct(skewed) });
    await copyTable(request(hive));
    const copied = structIn(structIn(fake.tables.get('dev.orders')?.fields ?? new Map(), 7) ?? new Map(), 11);
    expect(copied?.get(1)).toEqual(names);
    expect(copied?.get(3)).toMatchObject({ type: 'map', entries: [] });
  });

  it('says what was done before a failure, and goes on from there', async () => {
    const { fake, hive } = await start();
    await fill(hive, 1200);
    const already = fake.calls.filter((call) => call === 'add_partitions').length;
    fake.failAt = { method: 'add_partitions', call: already + 2 };
    await expect(copyTable(request(hive))).rejects.toThrow(
      /refused add_partitions: the metastore is out of order\nBefore this dev.orders was changed: table created, 500 partitions added. Run the command again/,
    );
    fake.failAt = undefined;
    expect(await copyTable(request(hive))).toEqual({
      table: 'altered',
      partitions: { added: 700, altered: 0, dropped: 0, unchanged: 500 },
    });
  });

  it('stops at the first table that fails and says how many were copied', async () => {
    const { hive } = await start();
    const { hive: target } = await start();
    await fill(hive, 0);
    await hive.createTable({ ...ordersTable('sales'), name: 'zlocal', storage: storageAt('file:/tmp/x') });
    const failures: string[] = [];
    const everything = {
      from: hive,
      to: target,
      databases: '.*',
      tables: '.*',
      rewrite: { relocate: onBranch('dev'), fixSparkPlaceholder: false },
      warehouse: 'file:/user/hive/warehouse/',
      dryRun: false,
      report: {
        started: () => undefined,
        progress: () => undefined,
        finished: () => undefined,
        failed: (what: string, error: MetastoreError) => failures.push(`${what}: ${error.message}`),
      },
    };
    await expect(copyAll({ ...everything, continueOnError: false })).rejects.toThrow(
      /table sales.zlocal: .*file:\/tmp\/x.*\n1 tables were copied before it/,
    );
    expect(await copyAll({ ...everything, continueOnError: true })).toEqual({ copied: 1, failed: 1 });
    expect(failures).toEqual([expect.stringContaining('file:/tmp/x')]);
    expect((await target.getDatabase('sales'))?.location).toBe('file:/user/hive/warehouse/sales.db');
  });

  it('says that it does not know what became of a call without an answer', async () => {
    const { fake, hive } = await start();
    await fill(hive, 0);
    fake.hangUpAt = 'create_table';
    await expect(copyTable(request(hive))).rejects.toThrow(
      /the Hive metastore at 127\.0\.0\.1:\d+: the connection was closed during create_table: it may or may not/,
    );
    fake.hangUpAt = undefined;
    expect((await copyTable(request(hive))).table).toBe('created');
  });

  it.each([{ framed: false }, { framed: true }])(
    'greets over the connection it is given before it says anything else (%j)',
    async (options) => {
      const { fake } = await start(options);
      const asked: string[] = [];
      // The name means nothing: only who connects knows where it is.
      const hive = new HiveMetastore(fake.address.replace('127.0.0.1', 'hive.test'), {
        greets: true,
        connect({ host, port }) {
          asked.push(host);
          return Promise.resolve(connect({ host: '127.0.0.1', port }));
        },
      });
      closers.push(() => hive.close());
      expect(await hive.getDatabase('none')).toBeUndefined();
      expect(await hive.getDatabase('none')).toBeUndefined();
      expect(asked).toEqual(['hive.test']);
      expect(fake.calls).toEqual(['getName', 'get_database', 'get_database']);
      const refused = new HiveMetastore('hive.test', {
        connect: () => Promise.reject(new Error('not there')),
      });
      await expect(refused.getDatabase('none')).rejects.toThrow(
        /^cannot connect to the Hive metastore at hive\.test:9083: not there$/,
      );
    },
  );

  it('takes no more than it was told to', async () => {
    const { fake, hive } = await start();
    await fill(hive, 600);
    const small = new HiveMetastore(fake.address, { maxReceivedBytes: 20_000 });
    closers.push(() => small.close());
    expect(await small.getDatabase('sales')).toBeDefined();
    await expect(diffTables(request(small).from, request(small).from)).rejects.toThrow(
      /it sent more than 20000 bytes/,
    );
  });

  it('says which address does not answer', async () => {
    const { fake, hive } = await start();
    await fake.stop();
    closers.length = 0;
    await expect(hive.getTable('a', 'b')).rejects.toThrow(/cannot connect to .*metastore\.hive\.uri/);
  });

  it.each(['', 'host:0', 'host:99999', 'http://host:9083', 'host:9083/path', 'a b'])(
    'refuses the address %j',
    (address) => {
      expect(() => new HiveMetastore(address)).toThrow(/expected host:port/);
    },
  );

  it.each([
    ['hive', 'hive:9083'],
    ['thrift://hive:9000', 'hive:9000'],
    ['thrift+framed://[::1]:9000/', '::1:9000'],
  ])('takes the address %s', (address, shown) => {
    expect(new HiveMetastore(address).label).toBe(`the Hive metastore at ${shown}`);
  });
});
