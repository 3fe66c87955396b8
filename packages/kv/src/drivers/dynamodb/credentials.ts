import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SigV4Credentials } from '@svc/encoding';
import { KvError } from '../../errors.ts';

/** Credentials are renewed this long before they end, so that no request is sent with dying ones. */
const renewBeforeMs = 5 * 60 * 1000;

interface EndingCredentials extends SigV4Credentials {
  readonly expiration?: Date | undefined;
}

export interface AwsSettings {
  readonly region?: string | undefined;
  readonly profile?: string | undefined;
  readonly credentials?: SigV4Credentials | undefined;
}

/** Static credentials, else a named profile, else the default chain. AWS's providers are loaded only when needed. */
export async function openCredentials(settings: AwsSettings): Promise<RenewingCredentials> {
  const { credentials, profile } = settings;
  if (credentials !== undefined) return new RenewingCredentials(async () => credentials);
  const providers = await import('@aws-sdk/credential-providers').catch((error: unknown) => {
    throw new KvError(
      'driver_configuration',
      'dynamodb: credentials from the environment, a profile or a role need the package @aws-sdk/credential-providers; install it beside svc, or set database.dynamodb.aws_access_key_id and aws_secret_access_key',
      { cause: error },
    );
  });
  return new RenewingCredentials(
    profile === undefined ? providers.fromNodeProviderChain() : providers.fromIni({ profile }),
  );
}

/** Keeps credentials until shortly before they end; concurrent askers share one renewal. */
export class RenewingCredentials {
  readonly #source: () => Promise<EndingCredentials>;
  #current: EndingCredentials | undefined;
  #renewing: Promise<EndingCredentials> | undefined;

  constructor(source: () => Promise<EndingCredentials>) {
    this.#source = source;
  }

  get(): SigV4Credentials | Promise<SigV4Credentials> {
    const end = this.#current?.expiration?.getTime();
    if (this.#current !== undefined && (end === undefined || end - Date.now() > renewBeforeMs)) {
      return this.#current;
    }
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  /** The service said they are no longer good. */
  forget(): void {
    this.#current = undefined;
  }

  async #renew(): Promise<EndingCredentials> {
    try {
      this.#current = await this.#source();
      return this.#current;
    } catch (error) {
      throw new KvError(
        'unavailable',
        `dynamodb: no AWS credentials: ${(error as Error).message}; set database.dynamodb.aws_access_key_id and ` +
          'aws_secret_access_key, or give the machine a role or a profile',
        { cause: error },
      );
    }
  }
}

/** The region as AWS's tools find it: settings, environment, configuration file. */
export async function findRegion(settings: AwsSettings, hasEndpoint: boolean): Promise<string> {
  const named = settings.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (named !== undefined && named !== '') return named;
  const profile = settings.profile ?? process.env['AWS_PROFILE'] ?? 'default';
  const region = await regionOfProfile(profile);
  if (region !== undefined) return region;
  if (hasEndpoint) return 'us-east-1';
  throw new KvError(
    'driver_configuration',
    'database.dynamodb.aws_region: no region is configured; set it, or AWS_REGION',
  );
}

async function regionOfProfile(profile: string): Promise<string | undefined> {
  const file = process.env['AWS_CONFIG_FILE'] ?? join(homedir(), '.aws', 'config');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    // There need not be one.
    return undefined;
  }
  let inProfile = false;
  for (const line of text.split('\n')) {
    const section = /^\s*\[\s*(?:profile\s+)?([^\]]+?)\s*\]/.exec(line);
    if (section !== null) inProfile = section[1] === profile;
    const region = /^\s*region\s*=\s*(\S+)/.exec(line);
    if (inProfile && region !== null) return region[1];
  }
  return undefined;
}
