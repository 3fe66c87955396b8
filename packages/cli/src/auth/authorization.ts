import type { Config } from '../config/config.ts';
import { CliError } from '../errors.ts';
import { readTokenCache } from './token-cache.ts';

/** The `Authorization` header: key pair, cached token, or a token of an AWS identity that is renewed in time. */
export function authorization(config: Config, apiUrl: string): () => Promise<string> {
  const id = config.get('credentials.access_key_id');
  const secret = config.get('credentials.secret_access_key');
  const provider = config.get('credentials.provider.type');
  if (provider === 'aws_iam') {
    return async () => {
      const { awsIamToken } = await import('./aws-iam.ts');
      return `Bearer ${await awsIamToken(config, apiUrl)}`;
    };
  }
  if (provider !== '')
    throw new CliError(`credentials.provider.type "${provider}" is not known: use aws_iam`);
  if (id === '' && secret === '') {
    const cached = readTokenCache();
    if (cached !== undefined && cached.expiration_time > Date.now() / 1000) {
      return () => Promise.resolve(`Bearer ${cached.token}`);
    }
  }
  const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  return () => Promise.resolve(basic);
}
