import { HiveFake } from '@svc/metastore/hive-fake';
import { HiveMetastore } from '@svc/metastore';
import { svcBundle, tempDir, testServerOrSkip } from '@svc/testing';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeServer } from './fake-server.ts';
import { Tool, type Finished } from './start-svc.ts';

const moto = await testServerOrSkip('moto');
svcBundle();

describe.skipIf(moto === undefined)('svcctl metastore', () => {
  let hive: HiveFake;
  let other: HiveFake;
  let server: FakeServer;
  let tool: Tool;

  beforeAll(async () => {
    server = await FakeServer.start(() => ({ status: 201, body: { location: 's3://store/ns/symlinks' } }));
    tool = new Tool(server.url, tempDir());
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    hive = await HiveFake.start();
    other = await HiveFake.start();
    const client = new HiveMetastore(hive.address);
    const storage = {
      columns: [{ name: 'id', type: 'bigint' }],
      location: 's3a://lake/main/orders',
      compressed: false,
      buckets: 0,
      serde: { name: 'orders', library: 'Lazy', parameters: {} },
      bucketColumns: [],
      sortColumns: [],
      parameters: {},
    };
    const table = { database: 'sales', name: 'orders', lastAccessTime: 0, retention: 0, parameters: {} };
    await client.createDatabase({ name: 'sales', location: 's3a://lake/main/db', parameters: {} });
    await client.createTable({ ...table, storage, partitionKeys: [{ name: 'year', type: 'string' }] });
    const place = { database: 'sales', table: 'orders', lastAccessTime: 0, parameters: {} };
    await client.addPartitions(
      ['2025', '2026'].map((year) => ({
        ...place,
        values: [year],
        storage: { ...storage, location: `s3a://lake/main/orders/year=${year}` },
      })),
    );
    client.close();
    return async () => {
      await hive.stop();
      await other.stop();
    };
  });

  const run = (line: string, env: Record<string, string> = {}): Promise<Finished> =>
    tool.run(['metastore', ...line.split(' ')], {
      env: {
        SVCCTL_METASTORE_TYPE: 'hive',
        SVCCTL_METASTORE_HIVE_URI: hive.address,
        SVCCTL_METASTORE_GLUE_REGION: moto?.region ?? '',
        SVCCTL_METASTORE_GLUE_CREDENTIALS_ACCESS_KEY_ID: moto?.accessKeyId ?? '',
        SVCCTL_METASTORE_GLUE_CREDENTIALS_ACCESS_SECRET_KEY: moto?.secretAccessKey ?? '',
        AWS_ENDPOINT_URL_GLUE: moto?.endpoint ?? '',
        ...env,
      },
    });
  const ok = async (line: string, env?: Record<string, string>): Promise<string> => {
    const { code, stdout, stderr } = await run(line, env);
    expect(stderr).toBe('');
    expect(code).toBe(0);
    return stdout;
  };
  const locationIn = async (fake: HiveFake, database: string, table: string): Promise<string | undefined> => {
    const client = new HiveMetastore(fake.address);
    const found = await client.getTable(database, table);
    client.close();
    return found?.storage?.location;
  };

  it('copies a schema and a table to a branch, says so, and finds no difference', async () => {
    expect(await ok('copy-schema --from-schema sales --to-branch dev')).toBe(
      'copy schema sales -> dev\nschema created at s3a://lake/dev/db\n',
    );
    const copy = 'copy --from-schema sales --from-table orders --to-branch dev';
    expect(await ok(`${copy} --dry-run`)).toBe(
      'copy sales.orders -> dev.orders\ndry run: table created, 2 partitions added\n',
    );
    expect(await locationIn(hive, 'dev', 'orders')).toBeUndefined();
    expect(await ok(copy)).toBe('copy sales.orders -> dev.orders\ntable created, 2 partitions added\n');
    expect(await locationIn(hive, 'dev', 'orders')).toBe('s3a://lake/dev/orders');
    expect(await ok('diff --from-schema sales --from-table orders --to-schema dev')).toBe(
      'sales.orders <--> dev.orders\nColumns are identical\nPartitions are identical\n',
    );
    expect(JSON.parse(await ok(`${copy} -p 2025 --json`))).toEqual({
      from: 'sales.orders',
      to: 'dev.orders',
      table: 'kept',
      partitions: { added: 0, altered: 1, dropped: 0, unchanged: 0 },
      dry_run: false,
    });
  });

  it('does what the page about metastores tells', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/integrations/metastore.md'), 'utf8');
    const [, block = ''] = /```sh\n(.*?)```/s.exec(page) ?? [];
    const told = block.trim().split('\n');
    expect(told).toHaveLength(3);
    const printed: string[] = [];
    for (const line of told) printed.push(await ok(line.replace('svcctl metastore ', '')));
    expect(printed.at(-1)).toBe(
      'sales.orders <--> sales_dev.orders\nColumns are identical\nPartitions are identical\n',
    );
  });

  it('shows differences as lines and as JSON', async () => {
    await ok('copy-schema --from-schema sales --to-branch dev');
    await ok('copy --from-schema sales --from-table orders --to-branch dev');
    const client = new HiveMetastore(hive.address);
    const table = await client.getTable('dev', 'orders');
    if (table?.storage === undefined) throw new Error('no copy');
    await client.dropPartition({
      database: 'dev',
      table: 'orders',
      values: ['2026'],
      lastAccessTime: 0,
      parameters: {},
    });
    const columns = [
      { name: 'id', type: 'int' },
      { name: 'extra', type: 'int' },
    ];
    await client.alterTable({ ...table, storage: { ...table.storage, columns } });
    client.close();
    const diff = 'diff --from-schema sales --from-table orders --to-schema dev';
    expect(await ok(diff)).toBe('sales.orders <--> dev.orders\nColumns\n- extra\n~ id\nPartitions\n+ 2026\n');
    expect(JSON.parse(await ok(`${diff} --json`))).toMatchObject({
      columns: { added: [], removed: ['extra'], changed: ['id'] },
      partitions: { added: ['2026'], removed: [], changed: [] },
    });
  });

  it('copies everything to another metastore', async () => {
    const line = `copy-all --to-address ${other.address} --branch dev`;
    expect(await ok(line)).toBe(
      'table sales.orders -> sales.orders\ntable created, 2 partitions added\n1 copied, 0 failed\n',
    );
    expect(await locationIn(other, 'sales', 'orders')).toBe('s3a://lake/dev/orders');
    expect(
      await ok(`import-all --to-address ${other.address} --repo pond --branch b --table-filter orders`),
    ).toBe('table sales.orders -> sales.orders\ntable altered, 2 partitions altered\n1 copied, 0 failed\n');
    expect(await locationIn(other, 'sales', 'orders')).toBe('s3a://pond/b/main/orders');
    const same = await run('copy-all --branch dev');
    expect(same).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^Error: .*changed in place/) as string,
    });
  });

  it('goes on after errors when told to, and ends with 1', async () => {
    const client = new HiveMetastore(hive.address);
    const table = await client.getTable('sales', 'orders');
    if (table?.storage === undefined) throw new Error('no table');
    const storage = { ...table.storage, location: '/no/store' };
    await client.createTable({ ...table, name: 'broken', storage });
    client.close();
    const line = `copy-all --to-address ${other.address} --branch dev`;
    const stopped = await run(line);
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toMatch(
      /table sales.broken: .*"\/no\/store" cannot be moved.*\n0 tables were copied/,
    );
    const finished = await run(`${line} --continue-on-error --json`);
    expect(finished.code).toBe(1);
    expect(finished.stderr).toMatch(/"\/no\/store" cannot be moved[^]*1 of 2 could not be copied/);
    expect(JSON.parse(finished.stdout)).toMatchObject({
      tables: [{ from: 'sales.orders', table: 'created' }],
      errors: [{ what: 'table sales.broken' }],
    });
  });

  it('makes a table of symlinks in Glue', async () => {
    const line =
      'create-symlink --repo lake --branch main --path orders/ --from-schema sales --from-table orders --to-schema sym --to-table orders';
    const missing = await run(line);
    expect(missing.stderr).toMatch(/no schema sym in the Glue catalog in us-east-1/);
    expect(server.seen).toEqual([]);
    await ok('copy-schema --from-schema sales --to-branch main --to-client-type glue --to-schema sym');
    expect(await ok(line)).toBe(
      'create symlink sales.orders -> sym.orders\nLocation: s3://store/ns/symlinks\ntable created, 2 partitions added\n',
    );
    expect(server.seen.map(({ method, path, query }) => [method, path, query.get('location')])).toEqual([
      ['POST', '/api/v1/repositories/lake/refs/main/symlink', 'orders/'],
    ]);
    await ok('copy-schema --from-schema sales --to-branch back');
    const back =
      'copy --from-client-type glue --from-schema sym --from-table orders --to-branch back --to-schema back';
    await ok(`${back} --to-table symlinks`);
    const client = new HiveMetastore(hive.address);
    const table = await client.getTable('back', 'symlinks');
    client.close();
    expect(table?.storage?.inputFormat).toBe('org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat');
    expect(table?.storage?.location).toBe('s3://store/back/symlinks/lake/main/orders');
  });

  it('takes the keys of Glue from a profile', async () => {
    const file = join(tempDir(), 'credentials');
    writeFileSync(file, `[other]\naws_access_key_id = ${moto?.accessKeyId}\naws_secret_access_key = x\n`);
    const env = {
      SVCCTL_METASTORE_GLUE_CREDENTIALS_ACCESS_KEY_ID: '',
      SVCCTL_METASTORE_GLUE_CREDENTIALS_ACCESS_SECRET_KEY: '',
      SVCCTL_METASTORE_GLUE_CREDENTIALS_FILE: file,
      SVCCTL_METASTORE_GLUE_PROFILE: 'other',
    };
    const line = 'diff --from-client-type glue --to-client-type glue --from-schema none --from-table none';
    expect((await run(line, env)).stderr).toMatch(/there is no table none.none in the Glue catalog/);
    const wrong = await run(line, { ...env, SVCCTL_METASTORE_GLUE_PROFILE: 'missing' });
    expect(wrong.stderr).toMatch(/profile "missing" in/);
    expect((await run(`${line} --catalog-id 42`, env)).stderr).toMatch(/Glue catalog 42 in us-east-1/);
  });

  it.each([
    ['copy --from-schema a --from-table b', /required option '--to-branch/],
    ['copy --from-schema a --from-table b --to-branch a/b', /--to-branch "a\/b" is not the name of a branch/],
    [
      'copy --from-schema a --from-table b --to-branch c --from-client-type x',
      /must be hive or glue, not "x"/,
    ],
    ['import-all --repo A --branch b', /--repo "A" is not the name of a repository/],
    [
      'copy-all --branch b --from-client-type glue --to-client-type glue',
      /the same Glue catalog: its tables would be changed in place/,
    ],
    ['copy --from-schema a --from-table b --to-branch c --metastore-uri host:x', /expected host:port/],
  ])('refuses %s', async (line, message) => {
    const { code, stderr } = await run(line);
    expect(stderr).toMatch(message);
    expect(code).toBe(1);
  });
});
