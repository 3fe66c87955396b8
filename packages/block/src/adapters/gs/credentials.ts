import { createSign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GsStoreConfig } from '../../config.ts';
import { BlockError } from '../../errors.ts';
import { Renewing } from '../../remote/renewing.ts';
import { accessToken, askIdentity, type AccessToken } from '../../remote/token-requests.ts';
import { externalAccountToken } from './external-account.ts';

const scope = 'https://www.googleapis.com/auth/devstorage.read_write';
const iamEndpoint = 'https://iamcredentials.googleapis.com';

/** Who we are to Google, and how we sign in that name. */
export interface GsCredentials {
  /** Undefined: requests are anonymous, as emulators want them. */
  readonly token: Renewing<AccessToken> | undefined;
  readonly signer: GsSigner | undefined;
}

export interface GsSigner {
  email(): Promise<string>;
  sign(text: string): Promise<Buffer>;
}

interface KeyFile {
  readonly type?: string;
  readonly client_email?: string;
  readonly private_key?: string;
  readonly token_uri?: string;
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly refresh_token?: string;
  readonly service_account_impersonation_url?: string;
}

/** Where Google's services are found; tests name their own. */
export interface GsServices {
  readonly iam?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * The configured key, else the application-default credentials: the file that `GOOGLE_APPLICATION_CREDENTIALS` names,
 * the one that `gcloud auth application-default login` writes, or the machine's service account.
 */
export async function openGsCredentials(
  config: GsStoreConfig,
  isEmulator: boolean,
  { iam = iamEndpoint, env = process.env }: GsServices = {},
): Promise<GsCredentials> {
  const { credentialsFile, credentialsJson } = config;
  if (credentialsFile) {
    return fromKey(await readKey(credentialsFile, 'gs.credentials_file'), 'gs.credentials_file', iam);
  }
  if (credentialsJson)
    return fromKey(parseKey(credentialsJson, 'gs.credentials_json'), 'gs.credentials_json', iam);
  if (isEmulator) return { token: undefined, signer: undefined };
  const named = env['GOOGLE_APPLICATION_CREDENTIALS'];
  if (named) {
    const source = 'GOOGLE_APPLICATION_CREDENTIALS';
    return fromKey(await readKey(named, source), source, iam);
  }
  const folder = env['CLOUDSDK_CONFIG'] || join(env['HOME'] ?? homedir(), '.config', 'gcloud');
  const wellKnown = join(folder, 'application_default_credentials.json');
  const text = await readFile(wellKnown, 'utf8').catch(() => undefined);
  if (text !== undefined) return fromKey(parseKey(text, wellKnown), wellKnown, iam);
  return fromMachine(env, iam);
}

async function readKey(path: string, source: string): Promise<KeyFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new BlockError('configuration', `${source} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return parseKey(text, source);
}

function parseKey(text: string, source: string): KeyFile {
  try {
    const key: unknown = JSON.parse(text);
    if (typeof key === 'object' && key !== null) return key;
  } catch {
    // Reported below; the text may be secret.
  }
  throw new BlockError('configuration', `${source} is not the JSON of a key`);
}

function fromKey(key: KeyFile, source: string, iam: string): GsCredentials {
  switch (key.type) {
    case 'service_account':
      return serviceAccount(key, source);
    case 'authorized_user':
      return { token: new Renewing(() => userToken(key)), signer: undefined };
    case 'external_account': {
      const token = new Renewing(() => externalAccountToken(key));
      const email = /serviceAccounts\/([^/:]+):/.exec(key.service_account_impersonation_url ?? '')?.[1];
      const signer = email === undefined ? undefined : remoteSigner(iam, token, () => Promise.resolve(email));
      return { token, signer };
    }
    case undefined:
    default:
      throw new BlockError(
        'configuration',
        `${source} is of type "${key.type ?? ''}": use a service account, user credentials or workload identity federation`,
      );
  }
}

function serviceAccount(key: KeyFile, source: string): GsCredentials {
  const { client_email: email, private_key: privateKey } = key;
  if (!email || !privateKey) {
    throw new BlockError('configuration', `${source} has no client_email or no private_key`);
  }
  const sign = (text: string): Buffer => {
    try {
      return createSign('RSA-SHA256').update(text).sign(privateKey);
    } catch {
      // The cause could quote the key.
      throw new BlockError('configuration', `the private_key of ${source} is not an RSA key in PEM form`);
    }
  };
  sign('');
  const url = key.token_uri ?? 'https://oauth2.googleapis.com/token';
  const from = 'the token service of Google';
  const grant = async (): Promise<AccessToken> => {
    const answer = await askIdentity({
      method: 'POST',
      url,
      from,
      body: (now) => ({
        grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        assertion: assertion(email, url, now, sign),
      }),
    });
    return accessToken(answer, from);
  };
  return {
    token: new Renewing(grant),
    signer: { email: () => Promise.resolve(email), sign: async (text) => sign(text) },
  };
}

function assertion(email: string, audience: string, now: Date, sign: (text: string) => Buffer): string {
  const seconds = Math.floor(now.getTime() / 1000);
  const claims = { iss: email, scope, aud: audience, iat: seconds, exp: seconds + 3600 };
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign(text).toString('base64url')}`;
}

async function userToken(key: KeyFile): Promise<AccessToken> {
  const from = 'the token service of Google';
  const answer = await askIdentity({
    method: 'POST',
    url: key.token_uri ?? 'https://oauth2.googleapis.com/token',
    from,
    body: {
      grant_type: 'refresh_token',
      client_id: key.client_id ?? '',
      client_secret: key.client_secret ?? '',
      refresh_token: key.refresh_token ?? '',
    },
  });
  return accessToken(answer, from);
}

function fromMachine(env: NodeJS.ProcessEnv, iam: string): GsCredentials {
  const host = env['GCE_METADATA_HOST'] || 'metadata.google.internal';
  const account = `http://${host}/computeMetadata/v1/instance/service-accounts/default`;
  const from = 'the metadata server of Google';
  const ask = (path: string): Promise<Record<string, unknown>> =>
    askIdentity({
      method: 'GET',
      url: `${account}/${path}`,
      headers: { 'metadata-flavor': 'Google' },
      from,
    });
  const token = new Renewing(async () => accessToken(await ask('token'), from));
  let email: Promise<string> | undefined;
  const askEmail = (): Promise<string> => {
    email ??= ask('?recursive=true').then((answer) => textOf(answer['email']));
    email.catch(() => (email = undefined));
    return email;
  };
  return { token, signer: remoteSigner(iam, token, askEmail) };
}

/** Signs where the key is: at Google. */
function remoteSigner(iam: string, token: Renewing<AccessToken>, email: () => Promise<string>): GsSigner {
  return {
    email,
    async sign(text) {
      const answer = await askIdentity({
        method: 'POST',
        url: `${iam}/v1/projects/-/serviceAccounts/${encodeURIComponent(await email())}:signBlob`,
        headers: {
          authorization: `Bearer ${(await token.get()).token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ payload: Buffer.from(text).toString('base64') }),
        from: 'the signing service of Google (signBlob)',
      });
      return Buffer.from(textOf(answer['signedBlob']), 'base64');
    },
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
