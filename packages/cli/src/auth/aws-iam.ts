import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createCalls } from '@svc/client';
import {
  deriveSigningKey,
  emptySha256,
  encodeQuery,
  signCanonicalRequest,
  sigV4Algorithm,
  sigV4DateTime,
  sigV4ScopeText,
  type SigV4Credentials,
} from '@svc/encoding';
import type { Config } from '../config/config.ts';
import { CliError } from '../errors.ts';
import { createNodeTransport } from '../http/transport.ts';
import { Log } from '../log.ts';
import { readTokenCache, writeTokenCache } from './token-cache.ts';

const action = 'GetCallerIdentity';
const version = '2011-06-15';

/** A token for the caller's AWS identity; a new one when the cached one is about to expire. */
export async function awsIamToken(config: Config, apiUrl: string): Promise<string> {
  const cached = readTokenCache(apiUrl);
  const renewBefore = config.get('credentials.provider.aws_iam.refresh_interval') / 1000;
  if (cached !== undefined && cached.expiration_time - Date.now() / 1000 > renewBefore) return cached.token;
  const lifetime = Math.max(3600, config.get('credentials.provider.aws_iam.token_ttl_seconds') / 1000);
  const anonymous = createCalls(createNodeTransport({ endpoint: apiUrl }, new Log({})));
  const identity: Record<string, unknown> = { identity_token: identityToken(config, apiUrl, new Date()) };
  const login = await anonymous.post('/auth/external/principal/login', {
    body: {
      // The contract leaves its form to the provider.
      identityRequest: identity as Record<string, never>,
      token_expiration_duration: lifetime,
    },
    repeat: false,
  });
  writeTokenCache({
    endpoint: apiUrl,
    token: login.token,
    expiration_time: login.token_expiration ?? Math.floor(Date.now() / 1000 + lifetime),
  });
  return login.token;
}

/** The parts of a pre-signed AWS "who am I" request: whoever sends it learns our identity and nothing else. */
export function identityToken(config: Config, apiUrl: string, now: Date): string {
  const credentials = awsCredentials(process.env);
  const region = process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'] ?? 'us-east-1';
  const host = `sts.${region}.amazonaws.com`;
  const expires = Math.round(config.get('credentials.provider.aws_iam.url_presign_ttl_seconds') / 1000);
  const configured = config.get('credentials.provider.aws_iam.token_request_headers');
  const extra =
    Object.keys(configured).length > 0 ? configured : { 'X-LakeFS-Server-ID': new URL(apiUrl).hostname };
  const headers: Record<string, string> = { host };
  for (const [name, value] of Object.entries(extra)) headers[name.toLowerCase()] = value;
  const names = Object.keys(headers).toSorted();
  const date = sigV4DateTime(now);
  const scope = { date: date.slice(0, 8), region, service: 'sts' };
  const query = encodeQuery([
    ['Action', action],
    ['Version', version],
    ['X-Amz-Algorithm', sigV4Algorithm],
    ['X-Amz-Credential', `${credentials.accessKeyId}/${sigV4ScopeText(scope)}`],
    ['X-Amz-Date', date],
    ['X-Amz-Expires', String(expires)],
    ...(credentials.sessionToken === undefined
      ? []
      : [['X-Amz-Security-Token', credentials.sessionToken] as const]),
    ['X-Amz-SignedHeaders', names.join(';')],
  ]);
  const signature = signCanonicalRequest(deriveSigningKey(credentials.secretAccessKey, scope), date, scope, {
    method: 'POST',
    uri: '/',
    query,
    headers: names.map((name) => [name, headers[name] ?? '']),
    payloadHash: emptySha256,
  });
  const facts = {
    method: 'POST',
    host,
    region,
    action,
    date,
    expiration_duration: String(expires),
    access_key_id: credentials.accessKeyId,
    signature,
    signed_headers: names,
    version,
    algorithm: sigV4Algorithm,
    security_token: credentials.sessionToken ?? '',
  };
  return Buffer.from(JSON.stringify(facts)).toString('base64');
}

/** From the environment, else from the profile of the shared credentials file. */
export function awsCredentials(environment: NodeJS.ProcessEnv): SigV4Credentials {
  const id = environment['AWS_ACCESS_KEY_ID'] ?? '';
  const secret = environment['AWS_SECRET_ACCESS_KEY'] ?? '';
  if (id !== '' && secret !== '') {
    return { accessKeyId: id, secretAccessKey: secret, sessionToken: environment['AWS_SESSION_TOKEN'] };
  }
  const file = environment['AWS_SHARED_CREDENTIALS_FILE'] ?? join(homedir(), '.aws', 'credentials');
  const profile = environment['AWS_PROFILE'] ?? 'default';
  const found = readProfile(file, profile);
  const accessKeyId = found['aws_access_key_id'] ?? '';
  const secretAccessKey = found['aws_secret_access_key'] ?? '';
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new CliError(
      `no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or profile "${profile}" in ${file}`,
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: found['aws_session_token'] };
}

function readProfile(file: string, profile: string): Record<string, string> {
  const values: Record<string, string> = {};
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // No such file: the caller says where credentials may come from.
    return values;
  }
  let inside = false;
  for (const line of text.split('\n')) {
    const section = /^\s*\[([^\]]+)\]/.exec(line)?.[1];
    if (section !== undefined) inside = section.trim() === profile;
    const pair = /^\s*([A-Za-z_]+)\s*=\s*(.*?)\s*$/.exec(line);
    if (inside && pair !== null) values[(pair[1] ?? '').toLowerCase()] = pair[2] ?? '';
  }
  return values;
}
