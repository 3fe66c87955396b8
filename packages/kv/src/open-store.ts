import { KvError } from './errors.ts';
import type { KvObserver, KvStore } from './store.ts';

export interface LocalStoreConfig {
  readonly type: 'local';
  /** The folder, created when missing; a `memory:` prefix keeps everything in this process's memory. */
  readonly path: string;
  /** True: a write is acknowledged once it is on disk; false: once it is committed in memory. */
  readonly syncWrites: boolean;
}

export interface PostgresStoreConfig {
  readonly type: 'postgres';
  readonly connectionString: string;
  readonly maxOpenConnections: number;
  readonly maxIdleConnections: number;
  /** 0: connections live forever. */
  readonly connectionMaxLifetimeMs: number;
  readonly scanPageSize: number;
}

export interface DynamoStoreConfig {
  readonly type: 'dynamodb';
  readonly tableName: string;
  /** Entries of the largest page of a scan. */
  readonly scanLimit: number;
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  /** Without them AWS's usual chain: environment, profile, web identity, role of the machine. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Attempts per call, the first included. */
  readonly maxAttempts: number;
  /** 0: as many as there are calls. */
  readonly maxConnections: number;
  /** 0: never. */
  readonly healthCheckIntervalMs: number;
}

export interface CosmosStoreConfig {
  readonly type: 'cosmosdb';
  readonly endpoint: string;
  readonly database: string;
  readonly container: string;
  /** Without it the default cloud identity. */
  readonly key?: string | undefined;
  /** Throughput of a container that is created. */
  readonly throughput: number | undefined;
  readonly autoscale: boolean;
}

export interface MemStoreConfig {
  readonly type: 'mem';
}

export type KvStoreConfig =
  | LocalStoreConfig
  | PostgresStoreConfig
  | DynamoStoreConfig
  | CosmosStoreConfig
  | MemStoreConfig;

/** Loads only the driver that is configured. */
export async function openStore(config: KvStoreConfig, observer: KvObserver = {}): Promise<KvStore> {
  switch (config.type) {
    case 'mem':
      return openMem();
    case 'local':
      if (config.path.startsWith('memory:')) return openMem();
      return openLocal(config);
    case 'postgres':
      return openPostgres(config);
    case 'dynamodb':
      return openDynamo(config, observer);
    case 'cosmosdb':
      return openCosmos(config, observer);
    default:
      throw unknownDriver(config);
  }
}

async function openMem(): Promise<KvStore> {
  const { createMemStore } = await import('./drivers/mem.ts');
  return createMemStore();
}

async function openLocal(config: LocalStoreConfig): Promise<KvStore> {
  const { openLocalStore } = await import('./drivers/local.ts');
  return openLocalStore(config);
}

async function openPostgres(config: PostgresStoreConfig): Promise<KvStore> {
  const { openPostgresStore } = await import('./drivers/postgres.ts');
  return openPostgresStore(config);
}

async function openDynamo(config: DynamoStoreConfig, observer: KvObserver): Promise<KvStore> {
  const { openDynamoStore } = await import('./drivers/dynamodb.ts');
  return openDynamoStore(config, observer);
}

async function openCosmos(config: CosmosStoreConfig, observer: KvObserver): Promise<KvStore> {
  const { openCosmosStore } = await import('./drivers/cosmosdb.ts');
  return openCosmosStore(config, observer);
}

function unknownDriver(config: never): KvError {
  return new KvError('unknown_driver', `unknown driver: ${String((config as { type?: unknown }).type)}`);
}
