import { randomUUID } from 'node:crypto';
import { cosmosFake, testServerOrSkip } from '@svc/testing';
import { Client } from 'pg';
import { openCosmosStore } from '../../src/drivers/cosmosdb.ts';
import { openDynamoStore } from '../../src/drivers/dynamodb.ts';
import { openPostgresStore } from '../../src/drivers/postgres.ts';
import type { KvStore } from '../../src/store.ts';

/** One kind of store on a server of its kind. */
export interface Driver {
  readonly name: string;
  /** Where its server is. */
  readonly address: string;
  /** Opens it at an address, which may be that of a proxy; `attempts` is for what counts them. */
  open(address: string, attempts?: number): Promise<KvStore>;
  /** Opens it as somebody whom the server does not know. */
  openAsStranger(): Promise<KvStore>;
  /** Must not be told to anybody. */
  readonly secret: string;
  /** Takes away what its entries are in. */
  removeTable(): Promise<void>;
  /** Opens it where the server gives it fewer connections than it wants. Others have no such limit. */
  openCrowded?(): Promise<KvStore>;
  /** Answers of a service over HTTP that is overloaded or finds our clock wrong. Others have none. */
  readonly http?: {
    readonly throttled: HttpAnswer;
    readonly wrongClock: HttpAnswer;
  };
}

interface HttpAnswer {
  readonly status: number;
  readonly body?: string;
}

async function postgres(): Promise<Driver | undefined> {
  const server = await testServerOrSkip('postgres');
  if (server === undefined) return undefined;
  const table = `faults_${randomUUID().replaceAll('-', '')}`;
  const openAt = (connectionString: string): Promise<KvStore> =>
    openPostgresStore({
      connectionString: `${connectionString}&svckv_table=${table}&connect_timeout=5`,
      maxOpenConnections: 4,
      maxIdleConnections: 4,
      connectionMaxLifetimeMs: 0,
      scanPageSize: 100,
    });
  const asAdmin = async (...statements: string[]): Promise<void> => {
    const admin = new Client(server.connectionString);
    await admin.connect();
    for (const statement of statements) await admin.query(statement);
    await admin.end();
  };
  return {
    name: 'postgres',
    address: server.connectionString,
    open: openAt,
    openAsStranger: () => {
      const stranger = new URL(server.connectionString);
      [stranger.username, stranger.password] = ['stranger', 'kept-to-itself'];
      return openAt(stranger.href);
    },
    secret: 'kept-to-itself',
    async openCrowded() {
      await asAdmin(
        `CREATE ROLE ${table} LOGIN CONNECTION LIMIT 1`,
        `GRANT USAGE, CREATE ON SCHEMA public TO ${table}`,
        `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${table}`,
      );
      const crowd = new URL(server.connectionString);
      crowd.username = table;
      return openAt(crowd.href);
    },
    removeTable: () => asAdmin(`DROP TABLE ${table} CASCADE`),
  };
}

async function dynamodb(): Promise<Driver | undefined> {
  const server = await testServerOrSkip('dynamodb');
  if (server === undefined) return undefined;
  const tableName = `faults-${randomUUID()}`;
  const openAt = (endpoint: string, attempts = 2, accessKeyId = server.accessKeyId): Promise<KvStore> =>
    openDynamoStore({
      tableName,
      scanLimit: 100,
      endpoint,
      region: server.region,
      credentials: { accessKeyId, secretAccessKey: server.secretAccessKey },
      maxAttempts: attempts,
      maxConnections: 8,
      healthCheckIntervalMs: 0,
    });
  return {
    name: 'dynamodb',
    address: server.endpoint,
    open: openAt,
    // The emulator knows everybody whose key id looks like one.
    openAsStranger: () => openAt(server.endpoint, 2, 'not a key id'),
    secret: server.secretAccessKey,
    async removeTable() {
      await fetch(server.endpoint, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'DynamoDB_20120810.DeleteTable',
          authorization: `AWS4-HMAC-SHA256 Credential=${server.accessKeyId}/20260101/${server.region}/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
        },
        body: JSON.stringify({ TableName: tableName }),
      });
    },
    http: {
      throttled: { status: 400, body: '{"__type":"x#ProvisionedThroughputExceededException"}' },
      wrongClock: { status: 400, body: '{"__type":"x#InvalidSignatureException"}' },
    },
  };
}

async function cosmosdb(): Promise<Driver> {
  const { endpoint, key, containers } = await cosmosFake();
  const openAt = (at: string, attempts = 2, with_ = key): Promise<KvStore> => {
    const place = { endpoint: at, key: with_, database: 'svc', container: 'faults' };
    return openCosmosStore({ ...place, throughput: undefined, autoscale: false }, {}, attempts);
  };
  const wrongKey = Buffer.from('kept-to-itself').toString('base64');
  return {
    name: 'cosmosdb',
    address: endpoint,
    open: openAt,
    openAsStranger: () => openAt(endpoint, 2, wrongKey),
    secret: wrongKey,
    removeTable() {
      (containers as Map<string, object>).delete('svc/faults');
      return Promise.resolve();
    },
    http: { throttled: { status: 429 }, wrongClock: { status: 401 } },
  };
}

export async function everyDriver(): Promise<Driver[]> {
  const all = await Promise.all([postgres(), dynamodb(), cosmosdb()]);
  return all.filter((driver) => driver !== undefined);
}
