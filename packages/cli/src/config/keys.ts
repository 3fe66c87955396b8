interface KeyDefinition {
  readonly type: keyof ValueOf;
  readonly default: string | number | boolean | object;
  /** Why the key is accepted and has no effect. */
  readonly ignored?: string;
}

const loginsAreSentOnce = 'a login is sent once';

/** Every key of the configuration file and its environment variable (`SVCCTL_` + upper case, `.` to `_`). */
export const configKeys = {
  'credentials.access_key_id': { type: 'only-string', default: '' },
  'credentials.secret_access_key': { type: 'only-string', default: '' },
  'credentials.provider.type': { type: 'only-string', default: '' },
  'credentials.provider.aws_iam.token_ttl_seconds': { type: 'duration', default: '1h' },
  'credentials.provider.aws_iam.url_presign_ttl_seconds': { type: 'duration', default: '1m' },
  'credentials.provider.aws_iam.refresh_interval': { type: 'duration', default: '5m' },
  'credentials.provider.aws_iam.token_request_headers': { type: 'map', default: {} },
  'credentials.provider.aws_iam.client_log_pre_signing_request': {
    type: 'bool',
    default: false,
    ignored: 'signed requests are secrets, none is logged',
  },
  'network.http2.enabled': { type: 'bool', default: true, ignored: 'requests use HTTP/1.1' },
  'server.endpoint_url': { type: 'only-string', default: '' },
  'server.retries.enabled': { type: 'bool', default: true },
  'server.retries.max_attempts': { type: 'uint', default: 4 },
  'server.retries.min_wait_interval': { type: 'duration', default: '200ms' },
  'server.retries.max_wait_interval': { type: 'duration', default: '30s' },
  'server.login_retries.enabled': { type: 'bool', default: true, ignored: loginsAreSentOnce },
  'server.login_retries.max_attempts': { type: 'uint', default: 75, ignored: loginsAreSentOnce },
  'server.login_retries.min_wait_interval': { type: 'duration', default: '50ms', ignored: loginsAreSentOnce },
  'server.login_retries.max_wait_interval': { type: 'duration', default: '1s', ignored: loginsAreSentOnce },
  'options.parallelism': { type: 'positive', default: 25 },
  'local.skip_non_regular_files': { type: 'bool', default: false },
  'local.symlink_support': { type: 'bool', default: false },
  'local.verify_checksum': { type: 'bool', default: true },
  'experimental.local.posix_permissions.enabled': { type: 'bool', default: false },
  'experimental.local.posix_permissions.include_uid': { type: 'bool', default: false },
  'experimental.local.posix_permissions.include_gid': { type: 'bool', default: false },
  'metastore.type': { type: 'string', default: '' },
  'metastore.hive.uri': { type: 'string', default: '' },
  'metastore.hive.db_location_uri': { type: 'string', default: 'file:/user/hive/warehouse/' },
  'metastore.glue.region': { type: 'string', default: '' },
  'metastore.glue.profile': { type: 'string', default: '' },
  'metastore.glue.credentials_file': { type: 'string', default: '' },
  'metastore.glue.catalog_id': { type: 'string', default: '' },
  'metastore.glue.db_location_uri': { type: 'string', default: '' },
  'metastore.glue.credentials.access_key_id': { type: 'only-string', default: '' },
  'metastore.glue.credentials.access_secret_key': { type: 'only-string', default: '' },
  'metastore.glue.credentials.session_token': { type: 'only-string', default: '' },
  'metastore.fix_spark_placeholder': { type: 'bool', default: false },
} as const satisfies Record<string, KeyDefinition>;

export type ConfigKey = keyof typeof configKeys;
export type KeyType = (typeof configKeys)[ConfigKey]['type'];

interface ValueOf {
  'only-string': string;
  string: string;
  bool: boolean;
  uint: number;
  positive: number;
  /** Milliseconds. */
  duration: number;
  map: Readonly<Record<string, string>>;
}

export type ConfigValue<Key extends ConfigKey> = ValueOf[(typeof configKeys)[Key]['type']];
export type AnyConfigValue = ValueOf[KeyType];

/** Why a key has no effect; undefined for one that has. */
export function ignoredReason(key: ConfigKey): string | undefined {
  const definition: KeyDefinition = configKeys[key];
  return definition.ignored;
}
