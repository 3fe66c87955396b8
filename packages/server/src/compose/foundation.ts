import type { Auth, AuthOptions } from '@svc/auth';
import type { BlockStores } from '@svc/block';
import { openStore } from '@svc/kv';
import type { CacheBus, KvObserver, KvStore } from '@svc/kv';
import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';
import type { OnChanged } from '../metrics/instrument-kv.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Tracing } from '../tracing/open-tracing.ts';
import { openAuthorizationService } from './identity-sources.ts';
import { blockStoreConfigs, kvStoreConfig, shareOf } from './store-configs.ts';

export interface FoundationOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly cacheBus: CacheBus;
  /** Processes that share the configured limits. */
  readonly processes: number;
  /** This process's part of the memory for blocks; by default an equal one. */
  readonly blockMemoryShare?: number | undefined;
  /** Of access control, derived by the primary process for all. */
  readonly rootKey?: Promise<Uint8Array> | undefined;
  readonly metrics?: Metrics | undefined;
  /** Only where traces are configured. */
  readonly tracing?: Tracing | undefined;
}

/** Opens the key-value store as configured, measured when there are metrics. */
export async function openKv(options: FoundationOptions, changed?: OnChanged): Promise<KvStore> {
  const store = await openStore(kvStoreConfig(options.config, options.processes), kvObserver(options));
  if (options.metrics === undefined) return store;
  const { connectionsInUse } = store;
  if (connectionsInUse !== undefined) options.metrics.connectionsInUse.set(store.type, connectionsInUse);
  const { instrumentKv } = await import('../metrics/instrument-kv.ts');
  const measured = instrumentKv(store, options.metrics, changed);
  return options.tracing?.traceKv(measured) ?? measured;
}

function kvObserver({ logger, metrics }: FoundationOptions): KvObserver {
  return {
    healthCheck: (error) =>
      logger.debug({ ...(error !== undefined && { error: error.message }) }, 'key-value store checked'),
    ...(metrics !== undefined && {
      consumedCapacity: (operation, units) => metrics.dynamoCapacity.inc({ operation }, units),
      slowDown: (operation) => metrics.dynamoSlowdown.inc({ operation }),
    }),
  };
}

/** Opens the block stores as configured, measured when there are metrics. */
export async function openBlocks(options: FoundationOptions): Promise<BlockStores> {
  const { BlockStores, openBlockStores } = await import('@svc/block');
  const stores = await openBlockStores(blockStoreConfigs(options.config), { logger: options.logger });
  const { metrics } = options;
  if (metrics === undefined) return stores;
  for (const { type, info, connectionsInUse } of stores.list()) {
    const service = info.storageId === '' ? type : `${type}:${info.storageId}`;
    if (connectionsInUse !== undefined) metrics.connectionsInUse.set(service, connectionsInUse);
  }
  const { instrumentBlock } = await import('../metrics/instrument-block.ts');
  return new BlockStores(
    stores.list().map((adapter) => {
      const measured = instrumentBlock(adapter, metrics);
      return options.tracing?.traceBlock(measured) ?? measured;
    }),
  );
}

/** Where identities come from besides the store. */
export type IdentitySources = Pick<
  AuthOptions,
  | 'passwordAuthenticators'
  | 'externalSession'
  | 'identityProvider'
  | 'authenticationService'
  | 'mail'
  | 'provisioningToken'
>;

/** Opens access control; the store may still be opening. */
export async function openAuth(
  options: FoundationOptions,
  kv: KvStore | Promise<KvStore>,
  sources: IdentitySources = {},
): Promise<Auth> {
  const { config, processes } = options;
  const { createAuth } = await import('@svc/auth');
  const { auth, security, installation } = config;
  const opened = await createAuth({
    kv,
    cacheBus: options.cacheBus,
    encryptSecretKey: auth.encrypt.secret_key,
    rootKey: options.rootKey,
    mode: auth.ui_config.rbac,
    cache: {
      enabled: auth.cache.enabled,
      size: shareOf(auth.cache.size, processes),
      ttlMs: auth.cache.ttl,
      jitterMs: auth.cache.jitter,
    },
    loginDurationMs: auth.login_duration,
    loginMaxDurationMs: auth.login_max_duration,
    cookieDomain: auth.cookie_domain === '' ? undefined : auth.cookie_domain,
    trustedProxies: security.trusted_proxies,
    fixedInstallationId: installation.fixed_id === '' ? undefined : installation.fixed_id,
    ...sources,
    authorizationService: await openAuthorizationService(config, options.logger),
    logger: options.logger,
  });
  if (options.metrics === undefined) return opened;
  const { instrumentAuth } = await import('../metrics/instrument-auth.ts');
  return instrumentAuth(opened, options.metrics);
}

/** What follows requests, loaded only where it is configured. */
export async function openTracing(
  config: Config,
  logger: Logger,
  metrics: Metrics,
): Promise<Tracing | undefined> {
  if (config.tracing.endpoint === '') return undefined;
  const tracing = await import('../tracing/open-tracing.ts');
  return tracing.openTracing(config, logger, metrics);
}
