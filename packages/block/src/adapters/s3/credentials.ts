import type { S3StoreConfig, StaticCredentials } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { Renewing } from '../../remote/renewing.ts';

export type RenewingCredentials = Renewing<StaticCredentials>;

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
    return new Renewing<StaticCredentials>(async () => credentials);
  }
  const providers = await import('@aws-sdk/credential-providers').catch((error: unknown) => {
    throw new BlockError(
      'configuration',
      's3: credentials from the environment, a profile or a role need the package @aws-sdk/credential-providers; install it beside svc, or set s3.credentials',
      { cause: error },
    );
  });
  if (config.profile === undefined && config.credentialsFile === undefined) {
    const { sessionDurationMs = 0, sessionExpiryWindowMs } = config.webIdentity ?? {};
    const durationSeconds = Math.round(sessionDurationMs / 1000);
    // Asked directly: the chain has a window of its own, and no length of a session.
    const source = usesWebIdentity(process.env)
      ? providers.fromTokenFile(durationSeconds > 0 ? { durationSeconds } : {})
      : providers.fromNodeProviderChain();
    return new Renewing<StaticCredentials>(source, sessionExpiryWindowMs);
  }
  const source = new Renewing<StaticCredentials>(
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

/** Whether web identity is what the default chain would come to. */
function usesWebIdentity(env: NodeJS.ProcessEnv): boolean {
  return Boolean(env['AWS_WEB_IDENTITY_TOKEN_FILE']) && !env['AWS_ACCESS_KEY_ID'] && !env['AWS_PROFILE'];
}
