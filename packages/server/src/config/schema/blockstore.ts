import { choice, duration, flag, integer, list, text } from '../key.ts';
import { checkAbsolutePaths, checkUrl } from './checks.ts';
import { objects } from './objects.ts';

export const blockstoreTypes = ['local', 's3', 'gs', 'azure', 'mem'] as const;

const typeKey = (meaning: string) =>
  choice(blockstoreTypes, '', meaning, { required: true, spellings: { memory: 'mem' } });

const azureDomains = [
  'blob.core.windows.net',
  'blob.core.chinacloudapi.cn',
  'blob.core.usgovcloudapi.net',
] as const;

function checkHexKey(value: string): string | undefined {
  return /^[0-9a-fA-F]{64}$/.test(value) ? undefined : 'must be 32 bytes written as 64 hexadecimal digits';
}

/** Settings per kind of store, shared by `blockstore` and the entries of `blockstores.stores`. */
export const adapterKeys = {
  local: {
    path: text('Folder of all `local://` namespaces, created when missing.', {
      default: '~/svc/data/block',
      path: true,
    }),
    import_enabled: flag(
      false,
      'Allow imports from folders. Files whose names are not UTF-8 are left out, with a warning in the log.',
    ),
    import_hidden: flag(false, 'Imports also read entries starting with a dot.'),
    allowed_external_prefixes: list('Folders outside the store that may be read; empty allows none.', {
      check: checkAbsolutePaths,
    }),
  },
  s3: {
    region: text('Default region.', { default: 'us-east-1' }),
    profile: text('Named credentials profile.'),
    credentials_file: text('Credentials file.', { path: true }),
    credentials: {
      access_key_id: text('Static access key id; wins over file and profile.', { secret: true }),
      secret_access_key: text('Static secret access key.', { secret: true }),
      session_token: text('Static session token.', { secret: true }),
    },
    endpoint: text('Endpoint of another S3-compatible store.', { check: checkUrl }),
    force_path_style: flag(false, 'Path-style URLs.'),
    discover_bucket_region: flag(
      true,
      'Ask for the region of each bucket; turn off for stores without that query.',
    ),
    skip_verify_certificate_test_only: flag(false, 'Do not verify the TLS certificate; for tests only.'),
    server_side_encryption: text('Encryption of written objects, such as `AES256` or `aws:kms`.'),
    server_side_encryption_kms_key_id: text('Key id for `aws:kms`.'),
    acl: choice(
      ['private', 'bucket-owner-read', 'bucket-owner-full-control'],
      '',
      'Canned ACL of written objects, for a bucket of another account; none is sent by default.',
    ),
    pre_signed_expiry: duration('15m', 'Validity of pre-signed URLs.', { from: 'positive' }),
    pre_signed_endpoint: text('Endpoint used in pre-signed URLs only.', { check: checkUrl }),
    disable_pre_signed: flag(false, 'No pre-signed URLs.'),
    disable_pre_signed_ui: flag(true, 'No pre-signed URLs in the UI.'),
    disable_pre_signed_multipart: flag(false, 'No pre-signed multipart uploads.'),
    client_log_request: flag(false, 'Log requests to the store at debug level.'),
    client_log_retries: flag(false, 'Log retries at debug level.'),
    streaming_chunk_size: integer(1_048_576, 'Buffer of streaming uploads in bytes.', { min: 8192 }),
    streaming_chunk_timeout: duration('60s', 'Longest wait for one chunk of a streaming upload.', {
      from: 'positive',
    }),
    max_retries: integer(5, 'Retries of a failed request.', { min: 0 }),
    web_identity: {
      session_duration: duration(
        '0s',
        'Session length asked for with web identity credentials; 0 is their default.',
      ),
      session_expiry_window: duration('5m', 'Credentials of a role are renewed this long before they end.'),
    },
  },
  azure: {
    storage_account: text('Storage account.'),
    storage_access_key: text('Access key of that account.', { secret: true }),
    auth_method: choice(
      ['msi', 'access-key'],
      'access-key',
      '`msi` uses the default cloud identity even when a key is set.',
    ),
    pre_signed_expiry: duration('15m', 'Validity of pre-signed URLs.', { from: 'positive' }),
    disable_pre_signed: flag(false, 'No pre-signed URLs.'),
    disable_pre_signed_ui: flag(true, 'No pre-signed URLs in the UI.'),
    china_cloud: flag(false, 'Deprecated: sets `domain` to the China cloud.'),
    domain: choice(azureDomains, 'blob.core.windows.net', 'Cloud domain.', {
      unknown: (value) => `invalid Azure domain ${value}: must be one of ${azureDomains.join(', ')}`,
    }),
    try_timeout: duration('10m', 'Longest single attempt of a request.', { from: 'positive' }),
    test_endpoint_url: text('Endpoint of a store emulator, for tests.', { check: checkUrl }),
  },
  gs: {
    credentials_file: text('Service-account key file; wins over `credentials_json`.', { path: true }),
    credentials_json: text('Service-account key as JSON text.', { secret: true }),
    pre_signed_expiry: duration('15m', 'Validity of pre-signed URLs; 0 means 15m.'),
    disable_pre_signed: flag(false, 'No pre-signed URLs.'),
    disable_pre_signed_ui: flag(true, 'No pre-signed URLs in the UI.'),
    server_side_encryption_customer_supplied: text('AES-256 key in hex; excludes the key id below.', {
      secret: true,
      check: checkHexKey,
    }),
    server_side_encryption_kms_key_id: text('KMS key; excludes the key above.'),
    s3_endpoint: text('S3-compatible endpoint of the store.', { ignored: 'the native interface is used' }),
    data_credentials_file: text('Separate key file for object data.', {
      ignored: 'one set of credentials serves data and metadata',
    }),
    data_credentials_json: text('Separate key for object data.', {
      secret: true,
      ignored: 'one set of credentials serves data and metadata',
    }),
  },
};

const signingSecret = text('Secret that signs physical addresses handed out to clients.', {
  secret: true,
  required: true,
});

export const blockstoreKeys = {
  blockstore: {
    type: typeKey('Kind of object store.'),
    default_namespace_prefix: text('Pre-filled storage namespace when a repository is created in the UI.'),
    signing: { secret_key: signingSecret },
    ...adapterKeys,
  },
  blockstores: {
    signing: {
      secret_key: text('As `blockstore.signing.secret_key`; required with `blockstores.stores`.', {
        secret: true,
      }),
    },
    stores: objects(
      {
        id: text('Unique name, recorded in each repository.', { required: true }),
        backward_compatible: flag(
          false,
          'Also serves repositories that were created with the single `blockstore`.',
        ),
        description: text('Shown when a repository is created.'),
        type: typeKey('Kind of object store.'),
        default_namespace_prefix: text('As `blockstore.default_namespace_prefix`.'),
        ...adapterKeys,
      },
      'Several stores in place of `blockstore`. Entries are replaced as a whole: there are no variables per entry.',
    ),
  },
};
