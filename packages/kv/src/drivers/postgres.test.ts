import { randomBytes, randomUUID } from 'node:crypto';
import { testServerOrSkip } from '@svc/testing';
import { describeKvStore } from '@svc/kv/suite';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cuttingProxy } from '../../test/cutting-proxy.ts';
import type { KvStore } from '../store.ts';
import { predicateValue } from '../value-predicate.ts';
import { openPostgresStore } from './postgres.ts';
import { hashPartition } from './postgres/hash-partition.ts';

const server = await testServerOrSkip('postgres');

const open = (parameters: string, connections = 10, connectionString?: string): Promise<KvStore> =>
  openPostgresStore({
    connectionString: `${connectionString ?? server?.connectionString}${parameters}`,
    maxOpenConnections: connections,
    maxIdleConnections: 5,
    connectionMaxLifetimeMs: 60_000,
    scanPageSize: 1000,
  });

describe.runIf(server !== undefined)('on a real server', () => {
  describeKvStore('postgres', () => open('&svckv_table=kv_suite&synchronous_commit=off'));

  describe('postgres', () => {
    const schema = `s${randomUUID().replaceAll('-', '')}`;
    const inSchema = `&search_path=${schema}`;
    const admin = new Client(server?.connectionString);
    const [partition, key] = [Buffer.from('p'), Buffer.from('k')];
    beforeAll(async () => {
      await admin.connect();
      await admin.query(`CREATE SCHEMA ${schema}`);
    });
    afterAll(async () => {
      await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      await admin.end();
    });

    test('connections in use are counted', async () => {
      const store = await open(inSchema, 3);
      expect(store.connectionsInUse?.()).toBe(0);
      const calls = Array.from({ length: 20 }, () => store.delete(partition, key));
      expect(store.connectionsInUse?.()).toBe(3);
      await Promise.all(calls);
      expect(store.connectionsInUse?.()).toBe(0);
      await store.close();
    });

    test('predicates keep no other memory', async () => {
      const store = await open(inSchema);
      const write = { partition, key, value: Buffer.from('value') };
      const kept = [
        await store.setThenGet?.(write, partition, key),
        await store.get(partition, key),
        ...((await store.getMany?.(partition, [key])) ?? []),
      ].map((found) => found && predicateValue(found.predicate));
      expect(kept.map((value) => value?.toString())).toEqual(['value', 'value', 'value']);
      expect(kept.map((value) => value?.buffer.byteLength)).toEqual([5, 5, 5]);
      await store.close();
    });

    test('no statement reads more rows than it is asked for, however large its table was when it was planned', async () => {
      const table = `kv_${hashPartition(partition, 100)}`;
      const named = (name: string, index: number): Buffer => Buffer.from(`${name}${index}`);
      const records = (count: number) =>
        Array.from({ length: count }, (_, index) => ({ key: named('more', index), value: key }));
      const rowsRead = async (): Promise<number> => {
        const { rows } = await admin.query<{ read: number }>(
          'SELECT (t.seq_tup_read + i.idx_tup_read)::int AS read FROM pg_stat_user_tables t ' +
            `JOIN pg_stat_user_indexes i USING (relid) WHERE t.schemaname = '${schema}' AND t.relname = '${table}'`,
        );
        return rows[0]?.read ?? 0;
      };
      // Every kind of call. From the sixth time on a plan is used again.
      const work = async (store: KvStore): Promise<void> => {
        for (let round = 0; round < 8; round += 1) {
          const each = Array.from({ length: 20 }, (_, index) => named(`${round}/`, index));
          const create = (one: Buffer, beside: Buffer): Promise<boolean> =>
            store.change(
              partition,
              { key: one, condition: 'absent' },
              [
                { type: 'put', key: one, value: one },
                { type: 'put', key: beside, value: one },
              ],
              { key: Buffer.concat([key, one]), value: undefined },
            );
          await Promise.all(each.map((one) => create(one, Buffer.concat([one, key]))));
          await Promise.all(each.map((one) => store.set(partition, one, key)));
          const found = await Promise.all(each.map((one) => store.get(partition, one)));
          expect(found.every((one) => one?.value.equals(key))).toBe(true);
          expect((await store.getMany(partition, each)).length).toBe(20);
          await store.set(partition, key, key);
          expect(await store.setIf(partition, key, key, 'present')).toBe(true);
          const puts = each.slice(0, 2).map((one) => ({ type: 'delete', key: one }) as const);
          expect(await store.change(partition, { key, condition: 'present' }, puts)).toBe(true);
          for await (const page of store.scan(partition, { prefix: named('', round) })) {
            expect(page.length).toBe(38);
          }
          for await (const page of store.scan(partition, { batch: 2 })) {
            expect(page.length).toBe(2);
            break;
          }
          const together = each.map(async (one, index) => {
            const prefix = index % 2 === 0 ? one : undefined;
            const pages = store.scan(partition, { start: one, prefix, batch: 3 });
            for await (const page of pages) return page.length;
            return 0;
          });
          expect((await Promise.all(together)).every((length) => length <= 3)).toBe(true);
          await store.deleteMany(partition, each);
          await store.deleteMany(
            partition,
            each.map((one) => Buffer.concat([one, key])),
          );
          for await (const page of store.scan(partition, { prefix: named('', round) }))
            expect(page).toEqual([]);
          await store.delete(partition, key);
        }
      };
      const first = await open(inSchema, 2);
      await first.setMany(partition, records(1));
      await admin.query(`ANALYZE ${schema}.${table}`);
      await work(first);
      await first.setMany(partition, records(5000));
      await work(first);
      const second = await open(inSchema, 2);
      await work(second);
      await Promise.all([first.close(), second.close()]);
      // 24 rounds of some 300 rows; one that reads all of them would read 5000.
      expect(await rowsRead()).toBeLessThan(24 * 500);
      const left = await open(inSchema);
      let count = 0;
      for await (const page of left.scan(partition)) count += page.length;
      expect(count).toBe(5000);
      await left.deleteMany(
        partition,
        records(5000).map((record) => record.key),
      );
      for await (const page of left.scan(partition)) expect(page).toEqual([]);
      await left.close();
    });

    test('servers starting at once on an empty database all come up, with 100 partitions and the view', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => open(inSchema)));
      await Promise.all(stores.map((store, index) => store.set(partition, Buffer.from(`${index}`), key)));
      const { rows } = await admin.query<{ relname: string }>(
        `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = '${schema}.kv'::regclass`,
      );
      expect(rows.map((row) => row.relname).toSorted()).toEqual(
        Array.from({ length: 100 }, (_, index) => `kv_${index}`).toSorted(),
      );
      const view = await admin.query(`SELECT partition_key, key FROM ${schema}.kv_v ORDER BY key LIMIT 1`);
      expect(view.rows).toEqual([{ partition_key: 'p', key: '0' }]);
      await Promise.all(stores.map((store) => store.close()));
    });

    test('every partition of the store lies in the table that its hash names', async () => {
      const store = await open(`${inSchema}&lakefskv_table=hashed`);
      const partitions = Array.from({ length: 200 }, (_, index) => randomBytes(1 + (index % 50)));
      await Promise.all(partitions.map((each) => store.set(each, key, each)));
      const { rows } = await admin.query<{ value: Buffer; name: string }>(
        `SELECT value, tableoid::regclass::text AS name FROM ${schema}.hashed`,
      );
      for (const { value, name } of rows) expect(name).toBe(`${schema}.hashed_${hashPartition(value, 100)}`);
      expect(new Set(rows.map(({ name }) => name)).size).toBeGreaterThan(50);
      await store.close();
    });

    test('tables laid out by somebody else serve as well', async () => {
      const columns = 'partition_key BYTEA, key BYTEA, value BYTEA, PRIMARY KEY (partition_key, key)';
      // One table; partitions of other names; partitions whose names lie.
      await admin.query(`CREATE TABLE ${schema}.plain (${columns})`);
      await admin.query(
        `CREATE TABLE ${schema}.plain_99 (${columns}); CREATE VIEW ${schema}.plain_v AS SELECT 1`,
      );
      await admin.query(`CREATE TABLE ${schema}.few (${columns}) PARTITION BY HASH (partition_key)`);
      for (const [name, remainder] of [
        ['few_99', 0],
        ['few_0', 1],
      ] as const) {
        await admin.query(
          `CREATE TABLE ${schema}.${name} PARTITION OF ${schema}.few FOR VALUES WITH (MODULUS 2, REMAINDER ${remainder})`,
        );
      }
      await admin.query(`CREATE VIEW ${schema}.few_v AS SELECT 1`);
      await admin.query(`CREATE TABLE ${schema}.named (${columns}) PARTITION BY HASH (partition_key)`);
      for (const remainder of [0, 1]) {
        await admin.query(
          `CREATE TABLE ${schema}.other_${remainder} PARTITION OF ${schema}.named FOR VALUES WITH (MODULUS 2, REMAINDER ${remainder})`,
        );
      }
      await admin.query(
        `CREATE TABLE ${schema}.named_99 (${columns}); CREATE VIEW ${schema}.named_v AS SELECT 1`,
      );
      for (const table of ['plain', 'few', 'named']) {
        const store = await open(`${inSchema}&lakefskv_table=${table}`);
        const keys = Array.from({ length: 40 }, (_, index) => Buffer.from(`p${index}`));
        await Promise.all(keys.map((each) => store.set(each, key, each)));
        const read = await Promise.all(keys.map((each) => store.get(each, key)));
        expect(read.map((found) => found?.value)).toEqual(keys);
        const { rows } = await admin.query(`SELECT FROM ${schema}.${table}`);
        expect(rows).toHaveLength(40);
        // Rows of several tables have the same place, each in its own.
        const [first = key, second = key] = keys;
        await store.deleteMany(first, [key]);
        expect(await store.change(second, { key, condition: 'present' }, [{ type: 'delete', key }])).toBe(
          true,
        );
        await store.change(second, { key, condition: 'any' }, [{ type: 'put', key, value: second }]);
        await store.set(second, first, second);
        expect(
          await store.change(second, { key, condition: 'present' }, [{ type: 'delete', key: first }]),
        ).toBe(true);
        const left = await Promise.all(keys.map((each) => store.get(each, key)));
        expect(left.map((found) => found?.value)).toEqual([undefined, ...keys.slice(1)]);
        await store.close();
      }
    });

    test('a user who may use the table but not its partitions is served through the table', async () => {
      await (await open(`${inSchema}&lakefskv_table=granted`)).close();
      const user = `u${schema}`;
      await admin.query(`CREATE ROLE ${user} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${user}`);
      await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${schema}.granted TO ${user}`);
      const asUser = server?.connectionString.replace('//svc@', `//${user}@`);
      const store = await open(`${inSchema}&lakefskv_table=granted`, 2, asUser);
      await store.set(partition, key, Buffer.from('1'));
      expect(await store.change(partition, { key, condition: 'present' }, [{ type: 'delete', key }])).toBe(
        true,
      );
      expect(await store.get(partition, key)).toBeUndefined();
      await store.close();
      await admin.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
    });

    test('a table of a newer version is refused', async () => {
      const parameters = `${inSchema}&lakefskv_table=newer`;
      await (await open(parameters)).close();
      await admin.query(`COMMENT ON TABLE ${schema}.newer IS 'svc key-value schema 2'`);
      await expect(open(parameters)).rejects.toMatchObject({
        kind: 'setup_failed',
        message: expect.stringContaining('has schema version 2, this server knows 1') as string,
      });
    });

    test('a schema that does not exist, a server that does not answer, a wrong database', async () => {
      await expect(open('&search_path=no_such_schema')).rejects.toMatchObject({
        kind: 'setup_failed',
        message: expect.stringContaining('the schema in search_path must exist') as string,
      });
      await expect(open('', 1, 'postgres://svc:secret@127.0.0.1:1/db')).rejects.toMatchObject({
        kind: 'connect_failed',
        message: expect.stringMatching(
          /^connect failed: PostgreSQL at 127\.0\.0\.1:1: (?!.*secret).*check that it/,
        ) as string,
      });
      const wrong = server?.connectionString.replace('/postgres?', '/no_such_database?');
      await expect(open('', 1, wrong)).rejects.toMatchObject({ kind: 'connect_failed' });
    });

    test('a statement that waits too long and a pool that is exhausted ask to slow down', async () => {
      const store = await open(`${inSchema}&statement_timeout=2000&connect_timeout=1`, 1);
      await store.set(partition, key, Buffer.from('1'));
      await admin.query('BEGIN');
      await admin.query(`SELECT * FROM ${schema}.kv FOR UPDATE`);
      await expect(store.set(partition, key, Buffer.from('2'))).rejects.toMatchObject({ kind: 'slow_down' });
      await admin.query('ROLLBACK');
      expect((await store.get(partition, key))?.value).toEqual(Buffer.from('1'));
      await store.close();
      const busy = await open(`${inSchema}&connect_timeout=1`, 1);
      await admin.query('BEGIN');
      await admin.query(`SELECT * FROM ${schema}.kv FOR UPDATE`);
      const waiting = busy.set(partition, key, Buffer.from('3'));
      await expect(busy.get(partition, key)).rejects.toMatchObject({
        kind: 'slow_down',
        message: expect.stringContaining('max_open_connections') as string,
      });
      await admin.query('ROLLBACK');
      await waiting;
      await busy.close();
    });

    test('a write whose answer is lost is an error, never "the condition failed"', async () => {
      const proxy = await cuttingProxy(new URL(server?.connectionString ?? ''));
      const store = await open(inSchema, 1, proxy.connectionString);
      await store.set(partition, key, Buffer.from('before'));
      const read = await store.get(partition, key);
      proxy.cutNextAnswer();
      const lost = store.setIf(partition, key, Buffer.from('after'), read?.predicate ?? 'absent');
      await expect(lost).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
      expect((await store.get(partition, key))?.value).toEqual(Buffer.from('after'));
      proxy.cutNextAnswer();
      const write = { type: 'create', key: Buffer.from('once'), value: key } as const;
      const lostChange = store.change(partition, { key, condition: 'present' }, [write]);
      await expect(lostChange).rejects.toMatchObject({ kind: 'unavailable', retryable: true });
      expect((await store.get(partition, Buffer.from('once')))?.value).toEqual(key);
      await store.close();
      await proxy.close();
    });
  });
});
