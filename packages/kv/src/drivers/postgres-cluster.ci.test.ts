import { appendFile, cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { orSkipReason, runCommand, startPostgres, tempDir, type RunningServer } from '@svc/testing';
import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { KvError } from '../errors.ts';
import type { KvStore } from '../store.ts';
import { openPostgresStore } from './postgres.ts';

const certificates = tempDir('svc-certificates');
const file = (name: string): string => join(certificates, name);
const openssl = (...args: string[]): Promise<unknown> => runCommand('openssl', args, { cwd: certificates });

/** A key and a certificate of our authority. */
async function certify(name: string, subject: string, names: string): Promise<void> {
  const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', `${name}.key`];
  await openssl('req', ...key, '-subj', `/CN=${subject}`, '-out', `${name}.csr`);
  await writeFile(file(`${name}.ext`), `subjectAltName=${names}`);
  const signing = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2'];
  await openssl(
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    ...signing,
    '-extfile',
    `${name}.ext`,
    '-out',
    `${name}.crt`,
  );
}

async function startEncrypted(): Promise<RunningServer> {
  const authority = ['-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-subj', '/CN=authority'];
  await openssl('req', '-x509', ...authority, '-days', '2', '-out', 'ca.crt');
  await certify('server', 'server', 'IP:127.0.0.1');
  await certify('client', 'certified', 'DNS:client');
  return startPostgres({
    settings: { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key', ssl_ca_file: 'ca.crt' },
    prepare: async (data) => {
      for (const name of ['server.crt', 'server.key', 'ca.crt']) await cp(file(name), join(data, name));
      const rules = ['local all all trust', 'hostssl all certified all cert', 'hostssl all all all trust'];
      await writeFile(join(data, 'pg_hba.conf'), `${rules.join('\n')}\n`);
    },
  });
}

const encrypted = await orSkipReason('postgres', startEncrypted);
const [partition, key] = [Buffer.from('p'), Buffer.from('k')];

function open(connectionString: string): Promise<KvStore> {
  return openPostgresStore({
    connectionString,
    maxOpenConnections: 4,
    maxIdleConnections: 4,
    connectionMaxLifetimeMs: 0,
    scanPageSize: 1000,
  });
}

describe.runIf(encrypted !== undefined)('encrypted connections', () => {
  afterAll(() => encrypted?.dispose());
  const port = encrypted?.address['port'] ?? '';
  const at = (user: string, query: string, host = '127.0.0.1'): string =>
    `postgres://${user}@${host}:${port}/postgres?${query}`;

  test('verify-full takes a server whose certificate names its address, and verify-ca any name', async () => {
    for (const [host, mode] of [
      ['127.0.0.1', 'verify-full'],
      ['127.0.0.1', 'verify-ca'],
      ['localhost', 'verify-ca'],
      ['localhost', 'require'],
    ] as const) {
      const store = await open(at('svc', `sslmode=${mode}&sslrootcert=${file('ca.crt')}`, host));
      await store.set(partition, key, Buffer.from(mode));
      expect((await store.get(partition, key))?.value).toEqual(Buffer.from(mode));
      await store.close();
    }
  });

  test('a certificate of another name, of another authority, or a connection without encryption is refused by name', async () => {
    for (const [address, reason] of [
      [
        at('svc', `sslmode=verify-full&sslrootcert=${file('ca.crt')}`, 'localhost'),
        /does not match certificate/,
      ],
      [at('svc', 'sslmode=verify-full'), /certificate/],
      [at('svc', 'sslmode=disable'), /no encryption/],
    ] as const) {
      await expect(open(address)).rejects.toMatchObject({
        kind: 'connect_failed',
        message: expect.stringMatching(reason) as string,
      });
    }
  });

  test('a client certificate is shown, and its absence told', async () => {
    const admin = new Client({
      host: '127.0.0.1',
      port: Number(port),
      user: 'svc',
      database: 'postgres',
      ssl: { rejectUnauthorized: false },
    });
    await admin.connect();
    await admin.query('CREATE ROLE certified LOGIN SUPERUSER');
    await admin.end();
    const trusting = `sslmode=verify-full&sslrootcert=${file('ca.crt')}`;
    await expect(open(at('certified', trusting))).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('client certificate') as string,
    });
    const shown = `${trusting}&sslcert=${file('client.crt')}&sslkey=${file('client.key')}`;
    const store = await open(at('certified', shown));
    await store.set(partition, key, key);
    await store.close();
  });
});

async function startPair(): Promise<{ primary: RunningServer; standby: RunningServer }> {
  const primary = await startPostgres({
    settings: { wal_level: 'replica', synchronous_standby_names: '*', fsync: 'on' },
  });
  await primary.stop();
  const standby = await startPostgres({
    settings: { hot_standby: 'on' },
    prepare: async (data) => {
      await rm(data, { recursive: true });
      await runCommand('cp', ['-a', primary.address['data'] ?? '', data], { cwd: certificates });
      await rm(join(data, 'postmaster.pid'), { force: true });
      const conninfo = `host=127.0.0.1 port=${primary.address['port']} user=svc`;
      await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
      await writeFile(join(data, 'standby.signal'), '');
    },
  });
  await primary.start();
  return { primary, standby };
}

const pair = await orSkipReason('postgres', startPair);

describe.runIf(pair !== undefined)('a primary and its standby', () => {
  afterAll(async () => {
    await pair?.primary.dispose();
    await pair?.standby.dispose();
  });

  test('when the primary dies and the standby is promoted, nothing acknowledged is lost and calls work again', async () => {
    if (pair === undefined) return;
    const { primary, standby } = pair;
    const [first, second] = [primary.address['port'], standby.address['port']];
    const alone = `postgres://svc@127.0.0.1:${second}/postgres?sslmode=disable`;
    await expect(open(alone)).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('it is a standby') as string,
    });
    // The standby comes first: whoever takes writes is found all the same.
    const both = `postgres://svc@127.0.0.1:${second},127.0.0.1:${first}/postgres?sslmode=disable`;
    const store = await open(both);
    const acknowledged: string[] = [];
    const stop = new AbortController();
    let promoted = false;
    const { promise: underWay, resolve: wasUp } = Promise.withResolvers<void>();
    const { promise: again, resolve: isBack } = Promise.withResolvers<void>();
    const writer = async (name: number): Promise<void> => {
      for (let index = 0; !stop.signal.aborted; index++) {
        const written = `${name}/${index}`;
        try {
          await store.setIf(partition, Buffer.from(written), Buffer.from(written), 'absent');
          acknowledged.push(written);
          if (acknowledged.length > 200) wasUp();
          if (promoted) isBack();
        } catch (error) {
          if (!(error instanceof KvError) || !error.retryable) throw error;
        }
      }
    };
    const load = Promise.all(Array.from({ length: 4 }, (_, name) => writer(name)));
    await underWay;
    await primary.stop();
    const admin = new Client({ host: '127.0.0.1', port: Number(second), user: 'svc', database: 'postgres' });
    await admin.connect();
    await admin.query('SELECT pg_promote()');
    await admin.end();
    promoted = true;
    await again;
    stop.abort();
    await load;
    const found = new Set<string>();
    for await (const page of store.scan(partition)) for (const entry of page) found.add(entry.key.toString());
    expect(acknowledged.filter((each) => !found.has(each))).toEqual([]);
    await store.close();
  });
});
