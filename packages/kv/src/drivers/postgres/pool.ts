import { setTimeout as delay } from 'node:timers/promises';
import type { ClientConfig, Pool } from 'pg';
import { KvError } from '../../errors.ts';
import { connectionFailure } from '../../remote/connection-failure.ts';
import { bytesOnly } from './binary-client.ts';
import type { PostgresAddress } from './connection-string.ts';
import { databaseError } from './database-error.ts';
import { clusterClient, ClusterHosts, ClusterPool, placeOf, UnusableHost } from './hosts.ts';
import { ensureSchema } from './schema.ts';
import { readTables, type Tables } from './tables.ts';

const connectTimeoutMs = 10_000;
/** Above the server's statement_timeout: only a server that no longer answers at all is given up here. */
const answerTimeoutMs = 45_000;
const idleTimeoutMs = 60_000;
/** A database started together with this server accepts connections a while before it serves them. */
const startingUp = '57P03';
const startUpMs = 60_000;
const startUpPollMs = 200;
/** One whose machine or port is not there yet either. Shorter: most often the address is wrong. */
const absentMs = 5000;
const noEncryption = 'The server does not support SSL connections';

export interface PoolOptions {
  readonly maxOpenConnections: number;
  readonly maxIdleConnections: number;
  readonly connectionMaxLifetimeMs: number;
}

/** Connects once, creates the schema where it is missing, and returns the pool that serves from then on. */
export async function openPool(
  address: PostgresAddress,
  options: PoolOptions,
): Promise<{ readonly pool: Pool; readonly tables: Tables }> {
  const config = clientConfig(address);
  const hosts = new ClusterHosts(address);
  const { ssl, tables } = await connectFirst(config, address, hosts);
  const settings = {
    ...config,
    ssl,
    Client: clusterClient(hosts),
    // Statements that are handed over together leave together.
    pipeline: true,
    max: options.maxOpenConnections,
    min: Math.min(options.maxIdleConnections, options.maxOpenConnections),
    idleTimeoutMillis: idleTimeoutMs,
    maxLifetimeSeconds: Math.ceil(options.connectionMaxLifetimeMs / 1000),
  };
  const pool = new ClusterPool(settings, hosts.count);
  // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
  pool.on('error', () => undefined);
  return { pool, tables };
}

function clientConfig(address: PostgresAddress): ClientConfig {
  return {
    ...(address.user !== undefined && { user: address.user }),
    ...(address.password !== undefined && { password: address.password }),
    ...(address.database !== undefined && { database: address.database }),
    application_name: address.applicationName ?? 'svc',
    options: address.options,
    keepAlive: true,
    connectionTimeoutMillis: address.connectTimeoutMs ?? connectTimeoutMs,
    query_timeout: answerTimeoutMs,
    types: bytesOnly,
  };
}

type Encryption = NonNullable<ClientConfig['ssl']>;

interface FirstConnection {
  /** How this server is reached: encrypted or, where only preferred and refused, plain. */
  readonly ssl: Encryption;
  readonly tables: Tables;
}

async function connectFirst(
  config: ClientConfig,
  address: PostgresAddress,
  hosts: ClusterHosts,
): Promise<FirstConnection> {
  let ssl: Encryption = address.encryption === 'prefer' ? { rejectUnauthorized: false } : address.encryption;
  const begun = Date.now();
  let left = hosts.count;
  for (;;) {
    try {
      return { ssl, tables: await connectOnce(config, ssl, address.table, hosts) };
    } catch (error) {
      const { cause } = error as Error;
      const failed = cause instanceof UnusableHost ? cause : undefined;
      const { message, code } = (failed?.cause ?? cause ?? {}) as { message?: string; code?: string };
      if (address.encryption === 'prefer' && message === noEncryption) ssl = false;
      else if (code === startingUp && Date.now() < begun + startUpMs) await delay(startUpPollMs);
      else if (failed !== undefined && --left > 0) continue;
      else if (connectionFailure(failed?.cause)?.absent === true && Date.now() < begun + absentMs) {
        left = hosts.count;
        await delay(startUpPollMs);
      } else throw error;
    }
  }
}

async function connectOnce(
  config: ClientConfig,
  ssl: Encryption,
  table: string,
  hosts: ClusterHosts,
): Promise<Tables> {
  // The time for an answer is left to the server here: creating the schema may wait for another server doing so.
  const { query_timeout: _unlimited, ...first } = config;
  const { current } = hosts;
  const client = new (clusterClient(hosts))({ ...first, ssl });
  // The call that fails reports it; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    // There may be no connection to end.
    await client.end().catch(() => undefined);
    throw connectError(error, placeOf(current));
  }
  try {
    await ensureSchema(client, table);
    return await readTables(client, table);
  } finally {
    await client.end();
  }
}

function connectError(error: unknown, config: ClientConfig): KvError {
  const reason = databaseError(error instanceof UnusableHost ? (error.cause ?? error) : error);
  const place = `${config.host ?? 'localhost'}:${config.port ?? 5432}`;
  return new KvError(
    'connect_failed',
    `connect failed: PostgreSQL at ${place}: ${reason.message.replace(/^postgres: /, '')}; ` +
      'check that it runs and that database.postgres.connection_string names it',
    { cause: error },
  );
}
