import type { BlockstoreType, StorageInfo } from './adapter.ts';

/** One configured store. A single store (`blockstore`) has the id "" and answers for every repository. */
export type BlockStoreConfig =
  | MemStoreConfig
  | LocalStoreConfig
  | S3StoreConfig
  | AzureStoreConfig
  | GsStoreConfig;

export interface CommonStoreConfig {
  /** `storage_id`; "" (default) in single-store mode. */
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  /** This store also answers for repositories recorded without a storage id. */
  readonly backwardCompatible?: boolean | undefined;
  readonly defaultNamespacePrefix?: string | undefined;
}

export interface MemStoreConfig extends CommonStoreConfig {
  readonly type: 'mem';
}

export interface LocalStoreConfig extends CommonStoreConfig {
  readonly type: 'local';
  readonly path: string;
  readonly importEnabled?: boolean | undefined;
  /** Walks also see entries whose name starts with a dot. */
  readonly importHidden?: boolean | undefined;
  /** Absolute folders outside `path` that full addresses may read from. */
  readonly allowedExternalPrefixes?: readonly string[] | undefined;
  /** False answers before data is on disk: faster, and a power loss may take acknowledged objects. Default true. */
  readonly sync?: boolean | undefined;
}

export interface S3StoreConfig extends CommonStoreConfig {
  readonly type: 's3';
  /** Default `us-east-1`. */
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  readonly credentialsFile?: string | undefined;
  readonly credentials?: StaticCredentials | undefined;
  readonly endpoint?: string | undefined;
  readonly forcePathStyle?: boolean | undefined;
  /** Default true. */
  readonly discoverBucketRegion?: boolean | undefined;
  readonly skipVerifyCertificateTestOnly?: boolean | undefined;
  readonly serverSideEncryption?: string | undefined;
  readonly serverSideEncryptionKmsKeyId?: string | undefined;
  /** The canned ACL of what is written; default none, which leaves it to the bucket. */
  readonly acl?: string | undefined;
  /** Default 15 minutes. */
  readonly preSignedExpiryMs?: number | undefined;
  readonly preSignedEndpoint?: string | undefined;
  readonly disablePreSigned?: boolean | undefined;
  /** Default true. */
  readonly disablePreSignedUi?: boolean | undefined;
  readonly disablePreSignedMultipart?: boolean | undefined;
  readonly clientLogRequest?: boolean | undefined;
  readonly clientLogRetries?: boolean | undefined;
  /** At least 8192; default 1 MiB. */
  readonly streamingChunkSize?: number | undefined;
  /** Default 60 s. */
  readonly streamingChunkTimeoutMs?: number | undefined;
  /** How often a failed request is sent again; default 5. */
  readonly maxRetries?: number | undefined;
  readonly webIdentity?: WebIdentityConfig | undefined;
}

export interface WebIdentityConfig {
  /** 0, the default, leaves the length of a session to the role. */
  readonly sessionDurationMs?: number | undefined;
  /** Credentials are renewed this long before they end; default 5 minutes. */
  readonly sessionExpiryWindowMs?: number | undefined;
}

export interface AzureStoreConfig extends CommonStoreConfig {
  readonly type: 'azure';
  readonly storageAccount?: string | undefined;
  /** Serves only that account: others are reached with the cloud's identity. */
  readonly storageAccessKey?: string | undefined;
  /** `msi` ignores the key. */
  readonly authMethod?: 'msi' | 'access-key' | undefined;
  /** Default `blob.core.windows.net`. */
  readonly domain?: string | undefined;
  /** Default 15 minutes. */
  readonly preSignedExpiryMs?: number | undefined;
  readonly disablePreSigned?: boolean | undefined;
  /** Default true. */
  readonly disablePreSignedUi?: boolean | undefined;
  /** Longest wait for a copy or a join; default 10 minutes. Other answers, and bodies, may pause for a minute at most. */
  readonly tryTimeoutMs?: number | undefined;
  /** A server that has accounts in its paths. */
  readonly testEndpointUrl?: string | undefined;
  /** How often a failed request is sent again; default 5. */
  readonly maxRetries?: number | undefined;
}

export interface GsStoreConfig extends CommonStoreConfig {
  readonly type: 'gs';
  /** Wins over `credentialsJson`; without both, the application-default credentials. */
  readonly credentialsFile?: string | undefined;
  readonly credentialsJson?: string | undefined;
  /** Default 15 minutes. */
  readonly preSignedExpiryMs?: number | undefined;
  readonly disablePreSigned?: boolean | undefined;
  /** Default true. */
  readonly disablePreSignedUi?: boolean | undefined;
  /** 32 bytes in hex. */
  readonly serverSideEncryptionCustomerSupplied?: string | undefined;
  readonly serverSideEncryptionKmsKeyId?: string | undefined;
  /** Default Google's, or what `STORAGE_EMULATOR_HOST` names. */
  readonly endpoint?: string | undefined;
  /** How often a failed request is sent again; default 5. */
  readonly maxRetries?: number | undefined;
  /** Longest silence of the store, but for copies and joins; default a minute. */
  readonly answerTimeoutMs?: number | undefined;
}

export interface StaticCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When a session token stops working; shortens pre-signed URLs. */
  readonly expiration?: Date | undefined;
}

/** Where adapters report what an operator should know; the server passes its own logger. */
export interface BlockLogger {
  debug(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface OpenOptions {
  readonly logger?: BlockLogger | undefined;
}

type InfoDifferences = Pick<
  StorageInfo,
  | 'productionSafe'
  | 'defaultNamespacePrefix'
  | 'preSignSupport'
  | 'preSignSupportUi'
  | 'preSignMultipartUpload'
  | 'importSupport'
> &
  Partial<Pick<StorageInfo, 'namespaceExample' | 'namespaceValidityRegex' | 'importValidityRegex'>>;

/** What `GET /config/storage` says: the fields common to all bucket-like stores plus what differs. */
export function storageInfo(
  type: BlockstoreType,
  config: CommonStoreConfig,
  differences: InfoDifferences,
): StorageInfo {
  return {
    storageId: config.id ?? '',
    description: config.description ?? '',
    backwardCompatible: config.backwardCompatible ?? false,
    namespaceExample: `${type}://example-bucket/`,
    namespaceValidityRegex: `^${type}://`,
    importValidityRegex: `^${type}://`,
    ...differences,
  };
}
