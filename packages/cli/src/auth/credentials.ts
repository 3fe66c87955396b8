import type { Credentials } from '@svc/client';
import type { Config } from '../config/config.ts';
import { CliError } from '../errors.ts';
import { readTokenCache, type CachedToken } from './token-cache.ts';

/** Who asks: a key pair, a cached token, or a token of an AWS identity that is renewed in time. */
export function credentialsOf(config: Config, apiUrl: string): Credentials {
  const accessKeyId = config.get('credentials.access_key_id');
  const secretAccessKey = config.get('credentials.secret_access_key');
  const provider = config.get('credentials.provider.type');
  if (provider === 'aws_iam') {
    return {
      token: async () => {
        const { awsIamToken } = await import('./aws-iam.ts');
        return awsIamToken(config, apiUrl);
      },
    };
  }
  if (provider !== '')
    throw new CliError(`credentials.provider.type "${provider}" is not known: use aws_iam`);
  if (accessKeyId === '' && secretAccessKey === '') {
    const cached = readTokenCache(apiUrl);
    if (cached !== undefined) return { token: () => unexpired(cached) };
  }
  return { accessKeyId, secretAccessKey };
}

function unexpired({ token, expiration_time: end }: CachedToken): Promise<string> {
  if (end > Date.now() / 1000) return Promise.resolve(token);
  return Promise.reject(new CliError('your login has expired: run "svcctl login" to log in again'));
}
