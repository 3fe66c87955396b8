import { readFile } from 'node:fs/promises';
import { BlockError } from '../../errors.ts';
import { accessToken, askIdentity, type AccessToken } from '../../remote/token-requests.ts';

/** Workload identity federation: a token of another identity provider is exchanged for one of Google's. */
interface ExternalAccount {
  readonly audience?: string;
  readonly subject_token_type?: string;
  readonly token_url?: string;
  readonly service_account_impersonation_url?: string;
  readonly credential_source?: {
    readonly file?: string;
    readonly url?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly format?: { readonly type?: string; readonly subject_token_field_name?: string };
  };
}

const cloudScope = 'https://www.googleapis.com/auth/cloud-platform';

export async function externalAccountToken(account: ExternalAccount): Promise<AccessToken> {
  const from = 'the token exchange of Google';
  const impersonation = account.service_account_impersonation_url;
  const answer = await askIdentity({
    method: 'POST',
    url: account.token_url ?? 'https://sts.googleapis.com/v1/token',
    from,
    body: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: account.audience ?? '',
      subject_token_type: account.subject_token_type ?? '',
      subject_token: await subjectToken(account),
      scope: cloudScope,
    },
  });
  const exchanged = accessToken(answer, from);
  if (impersonation === undefined) return exchanged;
  const { accessToken: token, expireTime } = await askIdentity({
    method: 'POST',
    url: impersonation,
    headers: { authorization: `Bearer ${exchanged.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ scope: [cloudScope] }),
    from: 'the impersonation service of Google',
  });
  const expiration = new Date(String(expireTime));
  return { token: String(token), expiration };
}

async function subjectToken({ credential_source: source }: ExternalAccount): Promise<string> {
  const field = source?.format?.type === 'json' ? source.format.subject_token_field_name : undefined;
  if (source?.file !== undefined) {
    const text = await readFile(source.file, 'utf8');
    if (field === undefined) return text.trim();
    return String((JSON.parse(text) as Record<string, unknown>)[field]);
  }
  if (source?.url !== undefined && field !== undefined) {
    const { url, headers = {} } = source;
    const answer = await askIdentity({ method: 'GET', url, headers, from: 'the identity provider' });
    return String(answer[field]);
  }
  throw new BlockError(
    'configuration',
    'the credential_source of the Google credentials must be a file, or a url that answers in JSON',
  );
}
