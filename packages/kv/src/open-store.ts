import { KvError } from './errors.ts';
import type { KvStore } from './store.ts';

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

export interface MemStoreConfig {
  readonly type: 'mem';
}

export type KvStoreConfig = LocalStoreConfig | PostgresStoreConfig | MemStoreConfig;

/** Loads only the driver that is configured. */
export async function openStore(config: KvStoreConfig): Promise<KvStore> {
  switch (config.type) {
    case 'mem':
      return openMem();
    case 'local':
      if (config.path.startsWith('memory:')) return openMem();
      return openLocal(config);
    case 'postgres':
      return openPostgres(config);
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

function unknownDriver(config: never): KvError {
  return new KvError('unknown_driver', `unknown driver: ${String((config as { type?: unknown }).type)}`);
}
