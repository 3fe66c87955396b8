import { GlueMetastore, HiveMetastore, type GlueAccount, type Metastore } from '@svc/metastore';
import { awsCredentials } from '../auth/aws-iam.ts';
import type { Config } from '../config/config.ts';
import { CliError, UsageError } from '../errors.ts';

export interface MetastoreChoice {
  /** `--from-client-type` or `--to-client-type`; else `metastore.type`. */
  readonly type: string | undefined;
  readonly typeFlag: string;
  /** Of a Hive metastore; else `metastore.hive.uri`. */
  readonly address?: string | undefined;
  /** Of a Glue catalog; else `metastore.glue.catalog_id`. */
  readonly catalogId?: string | undefined;
}

/** Nothing is connected before the first call. */
export function openMetastore(config: Config, choice: MetastoreChoice): Metastore {
  const type = choice.type ?? config.get('metastore.type');
  if (type === 'glue') return new GlueMetastore(glueAccount(config, choice.catalogId));
  if (type === 'hive') return new HiveMetastore(hiveAddress(config, choice.address));
  if (type === '')
    throw new UsageError(`${choice.typeFlag} is missing: hive or glue (or set metastore.type)`);
  throw new UsageError(`${choice.typeFlag} must be hive or glue, not "${type}"`);
}

function hiveAddress(config: Config, given: string | undefined): string {
  const address = given ?? config.get('metastore.hive.uri');
  if (address === '') {
    throw new CliError('no Hive metastore is configured: set metastore.hive.uri to host:port');
  }
  return address;
}

function glueAccount(config: Config, catalogId: string | undefined): GlueAccount {
  const { env } = process;
  const region = firstOf(config.get('metastore.glue.region'), env['AWS_REGION'], env['AWS_DEFAULT_REGION']);
  if (region === undefined) {
    throw new CliError('no AWS region for Glue: set metastore.glue.region or AWS_REGION');
  }
  return {
    credentials: glueCredentials(config),
    region,
    endpoint: firstOf(env['AWS_ENDPOINT_URL_GLUE'], env['AWS_ENDPOINT_URL']),
    catalogId: firstOf(catalogId, config.get('metastore.glue.catalog_id')),
  };
}

function glueCredentials(config: Config): GlueAccount['credentials'] {
  const accessKeyId = config.get('metastore.glue.credentials.access_key_id');
  const secretAccessKey = config.get('metastore.glue.credentials.access_secret_key');
  const sessionToken = firstOf(config.get('metastore.glue.credentials.session_token'));
  if (accessKeyId !== '' && secretAccessKey !== '') return { accessKeyId, secretAccessKey, sessionToken };
  if (accessKeyId !== '' || secretAccessKey !== '') {
    throw new CliError(
      'metastore.glue.credentials needs both access_key_id and access_secret_key; only one of them is set',
    );
  }
  const profile = config.get('metastore.glue.profile');
  const file = config.get('metastore.glue.credentials_file');
  const chosen = { ...process.env };
  if (profile !== '') chosen['AWS_PROFILE'] = profile;
  if (file !== '') chosen['AWS_SHARED_CREDENTIALS_FILE'] = file;
  // Who names a profile or a file means it, whatever keys the environment has.
  if (profile !== '' || file !== '') delete chosen['AWS_ACCESS_KEY_ID'];
  return awsCredentials(chosen);
}

function firstOf(...candidates: readonly (string | undefined)[]): string | undefined {
  return candidates.find((candidate) => candidate !== undefined && candidate !== '');
}
