import type { BlockStoreConfig } from '@svc/block';
import type { KvStoreConfig } from '@svc/kv';
import { storeSettings } from '../config/index.ts';
import type { Config, StoreSettings } from '../config/index.ts';

/** A configured limit is one of the whole server: each of its processes gets its part. */
export function shareOf(limit: number, processes: number): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / processes));
}

/** As `shareOf`, of connections: they do not spread evenly, and the limit should be in reach. */
export function unevenShareOf(limit: number, processes: number): number {
  return processes === 1 ? limit : shareOf(limit * 1.5, processes);
}

/** True when the stores live in the memory of one process, so that there can be only one. */
export function keepsStateInMemory(config: Config): boolean {
  return (
    config.database.type === 'mem' ||
    (config.database.type === 'local' && config.database.local.path.startsWith('memory:')) ||
    storeSettings(config).some((store) => store.type === 'mem')
  );
}

export function kvStoreConfig(config: Config, processes: number): KvStoreConfig {
  const { type, local, postgres, dynamodb, cosmosdb } = config.database;
  switch (type) {
    case 'mem':
      return { type };
    case 'local':
      return { type, path: local.path, syncWrites: local.sync_writes };
    case 'postgres':
      return {
        type,
        connectionString: postgres.connection_string,
        maxOpenConnections: shareOf(postgres.max_open_connections, processes),
        maxIdleConnections: shareOf(postgres.max_idle_connections, processes),
        connectionMaxLifetimeMs: postgres.connection_max_lifetime,
        scanPageSize: postgres.scan_page_size,
      };
    case 'dynamodb':
      return {
        type,
        tableName: dynamodb.table_name,
        scanLimit: dynamodb.scan_limit,
        endpoint: optional(dynamodb.endpoint),
        region: optional(dynamodb.aws_region),
        profile: optional(dynamodb.aws_profile),
        credentials:
          dynamodb.aws_access_key_id === ''
            ? undefined
            : { accessKeyId: dynamodb.aws_access_key_id, secretAccessKey: dynamodb.aws_secret_access_key },
        maxAttempts: dynamodb.max_attempts,
        maxConnections: shareOf(dynamodb.max_connections, processes),
        healthCheckIntervalMs: dynamodb.health_check_interval,
      };
    case 'cosmosdb':
      return {
        type,
        endpoint: cosmosdb.endpoint,
        database: cosmosdb.database,
        container: cosmosdb.container,
        key: optional(cosmosdb.key),
        throughput: cosmosdb.throughput,
        autoscale: cosmosdb.autoscale,
      };
    case '':
      // Refused when the configuration is loaded.
      throw new TypeError(`database.type ${type} cannot be opened`);
  }
}

export function blockStoreConfigs(config: Config): BlockStoreConfig[] {
  return storeSettings(config).map((store) => blockStoreConfig(store, config.database.local.sync_writes));
}

function blockStoreConfig(store: StoreSettings, sync: boolean): BlockStoreConfig {
  const common = {
    id: store.id,
    description: store.description,
    backwardCompatible: store.backwardCompatible,
    ...(store.defaultNamespacePrefix === '' ? {} : { defaultNamespacePrefix: store.defaultNamespacePrefix }),
  };
  switch (store.type) {
    case 'mem':
      return { type: 'mem', ...common };
    case 'local':
      return {
        type: 'local',
        ...common,
        path: store.local.path,
        importEnabled: store.local.import_enabled,
        importHidden: store.local.import_hidden,
        allowedExternalPrefixes: store.local.allowed_external_prefixes,
        sync,
      };
    case 's3':
      return { ...s3Config(store.s3), ...common };
    case 'azure':
      return { ...azureConfig(store.azure), ...common };
    case 'gs':
      return { ...gsConfig(store.gs), ...common };
  }
}

const optional = (value: string): string | undefined => (value === '' ? undefined : value);

function azureConfig(azure: StoreSettings['azure']): Extract<BlockStoreConfig, { type: 'azure' }> {
  return {
    type: 'azure',
    storageAccount: optional(azure.storage_account),
    storageAccessKey: optional(azure.storage_access_key),
    authMethod: azure.auth_method,
    domain: azure.domain,
    preSignedExpiryMs: azure.pre_signed_expiry,
    disablePreSigned: azure.disable_pre_signed,
    disablePreSignedUi: azure.disable_pre_signed_ui,
    tryTimeoutMs: azure.try_timeout,
    testEndpointUrl: optional(azure.test_endpoint_url),
  };
}

function gsConfig(gs: StoreSettings['gs']): Extract<BlockStoreConfig, { type: 'gs' }> {
  return {
    type: 'gs',
    credentialsFile: optional(gs.credentials_file),
    credentialsJson: optional(gs.credentials_json),
    preSignedExpiryMs: gs.pre_signed_expiry,
    disablePreSigned: gs.disable_pre_signed,
    disablePreSignedUi: gs.disable_pre_signed_ui,
    serverSideEncryptionCustomerSupplied: optional(gs.server_side_encryption_customer_supplied),
    serverSideEncryptionKmsKeyId: optional(gs.server_side_encryption_kms_key_id),
  };
}

function s3Config(s3: StoreSettings['s3']): Extract<BlockStoreConfig, { type: 's3' }> {
  const { credentials } = s3;
  return {
    type: 's3',
    region: s3.region,
    profile: optional(s3.profile),
    credentialsFile: optional(s3.credentials_file),
    credentials:
      credentials.access_key_id === ''
        ? undefined
        : {
            accessKeyId: credentials.access_key_id,
            secretAccessKey: credentials.secret_access_key,
            sessionToken: optional(credentials.session_token),
          },
    endpoint: optional(s3.endpoint),
    forcePathStyle: s3.force_path_style,
    discoverBucketRegion: s3.discover_bucket_region,
    skipVerifyCertificateTestOnly: s3.skip_verify_certificate_test_only,
    serverSideEncryption: optional(s3.server_side_encryption),
    serverSideEncryptionKmsKeyId: optional(s3.server_side_encryption_kms_key_id),
    acl: optional(s3.acl),
    preSignedExpiryMs: s3.pre_signed_expiry,
    preSignedEndpoint: optional(s3.pre_signed_endpoint),
    disablePreSigned: s3.disable_pre_signed,
    disablePreSignedUi: s3.disable_pre_signed_ui,
    disablePreSignedMultipart: s3.disable_pre_signed_multipart,
    clientLogRequest: s3.client_log_request,
    clientLogRetries: s3.client_log_retries,
    streamingChunkSize: s3.streaming_chunk_size,
    streamingChunkTimeoutMs: s3.streaming_chunk_timeout,
    maxRetries: s3.max_retries,
    webIdentity: {
      sessionDurationMs: s3.web_identity.session_duration,
      sessionExpiryWindowMs: s3.web_identity.session_expiry_window,
    },
  };
}
