import { readFile } from 'node:fs/promises';
import { KvError } from '../../errors.ts';

/** Tokens are renewed this long before they end. */
const renewBeforeMs = 5 * 60 * 1000;
const timeoutMs = 10_000;
const imds = 'http://169.254.169.254/metadata/identity/oauth2/token';

interface Token {
  readonly text: string;
  readonly endsAt: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Tokens of the default cloud identity: a client secret or a federated token file from the usual AZURE_… variables,
 * else the managed identity of the machine.
 */
export class CloudIdentity {
  readonly #scope: string;
  readonly #env: Environment;
  #token: Token | undefined;
  #renewing: Promise<Token> | undefined;

  /** `resource` is the address of the account. */
  constructor(resource: string, env: Environment = process.env) {
    this.#scope = resource.replace(/\/+$/, '');
    this.#env = env;
  }

  async token(): Promise<string> {
    if (this.#token !== undefined && this.#token.endsAt - Date.now() > renewBeforeMs) return this.#token.text;
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined));
    return (await this.#renewing).text;
  }

  async #renew(): Promise<Token> {
    try {
      this.#token = await this.#ask();
      return this.#token;
    } catch (error) {
      throw new KvError(
        'unavailable',
        `cosmosdb: no token of the cloud identity: ${(error as Error).message}; set database.cosmosdb.key, the ` +
          'variables AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or give the machine a managed identity',
        { cause: error },
      );
    }
  }

  async #ask(): Promise<Token> {
    const {
      AZURE_TENANT_ID: tenant,
      AZURE_CLIENT_ID: client,
      AZURE_CLIENT_SECRET: secret,
      AZURE_FEDERATED_TOKEN_FILE: file,
    } = this.#env;
    if (tenant && client && (secret || file)) return this.#askDirectory(tenant, client, secret, file);
    const identity = client ? { client_id: client } : {};
    const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: header } = this.#env;
    if (endpoint && header) {
      const query = { 'api-version': '2019-08-01', resource: this.#scope, ...identity };
      return read(fetchToken(endpoint, query, { 'X-IDENTITY-HEADER': header }));
    }
    const query = { 'api-version': '2018-02-01', resource: this.#scope, ...identity };
    return read(fetchToken(imds, query, { Metadata: 'true' }));
  }

  async #askDirectory(
    tenant: string,
    client: string,
    secret: string | undefined,
    file: string | undefined,
  ): Promise<Token> {
    const authority = this.#env['AZURE_AUTHORITY_HOST'] ?? 'https://login.microsoftonline.com';
    const proof: Record<string, string> = secret
      ? { client_secret: secret }
      : {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: (await readFile(file ?? '', 'utf8')).trim(),
        };
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client,
      scope: `${this.#scope}/.default`,
      ...proof,
    });
    const url = `${authority.replace(/\/+$/, '')}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
    return read(fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(timeoutMs) }));
  }
}

function fetchToken(
  endpoint: string,
  query: Record<string, string>,
  headers: Record<string, string>,
): Promise<Response> {
  const url = `${endpoint}?${new URLSearchParams(query).toString()}`;
  return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) });
}

async function read(answer: Promise<Response>): Promise<Token> {
  const response = await answer;
  const body = (await response.json()) as {
    access_token?: string;
    expires_in?: number | string;
    error_description?: string;
  };
  if (!response.ok || body.access_token === undefined) {
    throw new Error(
      `status ${response.status}${body.error_description ? `: ${body.error_description}` : ''}`,
    );
  }
  return { text: body.access_token, endsAt: Date.now() + Number(body.expires_in ?? 0) * 1000 };
}
