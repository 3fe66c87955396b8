import type { S3StoreConfig, StaticCredentials } from '../../config.ts';
import { BlockError } from '../../errors.ts';

/** Credentials are renewed this long before they end, so that no request is sent with dying ones. */
const renewBeforeMs = 5 * 60 * 1000;

export type CredentialSource = () => Promise<StaticCredentials>;

/**
 * Where credentials come from: static ones, else the named profile or credentials file, else the default chain
 * (environment, web identity, container, instance). The SDK's providers are loaded only when needed.
 */
export async function openCredentials(config: S3StoreConfig): Promise<RenewingCredentials> {
  const { credentials } = config;
  if (credentials !== undefined) {
    if (credentials.accessKeyId === '' || credentials.secretAccessKey === '') {
      throw new BlockError('configuration', 's3.credentials needs both access_key_id and secret_access_key');
    }
    return new RenewingCredentials(async () => credentials);
  }
  const providers = await import('@aws-sdk/credential-providers');
  if (config.profile === undefined && config.credentialsFile === undefined) {
    return new RenewingCredentials(providers.fromNodeProviderChain());
  }
  const source = new RenewingCredentials(
    providers.fromIni({
      ...(config.profile === undefined ? {} : { profile: config.profile }),
      ...(config.credentialsFile === undefined ? {} : { filepath: config.credentialsFile }),
    }),
  );
  try {
    await source.get();
  } catch (error) {
    throw new BlockError(
      'configuration',
      `no credentials in profile "${config.profile ?? 'default'}"${
        config.credentialsFile === undefined ? '' : ` of "${config.credentialsFile}"`
      }: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return source;
}

/** Keeps credentials until shortly before they end; concurrent askers share one renewal. */
export class RenewingCredentials {
  readonly #source: CredentialSource;
  #current: StaticCredentials | undefined;
  #renewing: Promise<StaticCredentials> | undefined;

  constructor(source: CredentialSource) {
    this.#source = source;
  }

  get(): StaticCredentials | Promise<StaticCredentials> {
    const current = this.#current;
    if (current === undefined) return this.#renew();
    const end = current.expiration?.getTime();
    if (end === undefined || end - Date.now() > renewBeforeMs) return current;
    // Close to the end, a source that has nothing newer may still answer with the same ones.
    return this.#renew();
  }

  /** The store said they are no longer good. */
  forget(): void {
    this.#current = undefined;
  }

  #renew(): Promise<StaticCredentials> {
    this.#renewing ??= this.#source()
      .then(
        (credentials) => (this.#current = credentials),
        (error: unknown) => {
          throw new BlockError(
            'unavailable',
            `no credentials for the object store: ${(error as Error).message}`,
            { cause: error },
          );
        },
      )
      .finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }
}
