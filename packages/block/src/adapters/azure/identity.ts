import { readFile } from 'node:fs/promises';
import { BlockError } from '../../errors.ts';
import { accessToken, askIdentity, type AccessToken } from '../../remote/token-requests.ts';

const resource = 'https://storage.azure.com';

/** Where directories of the clouds are asked, by the domain of their blobs. */
const authorities: Readonly<Record<string, string>> = {
  'blob.core.windows.net': 'https://login.microsoftonline.com',
  'blob.core.chinacloudapi.cn': 'https://login.chinacloudapi.cn',
  'blob.core.usgovcloudapi.net': 'https://login.microsoftonline.us',
};

/**
 * The default cloud identity, by the variables that Azure's own tools read: a client secret, a federated token
 * (workload identity), else the managed identity of the machine.
 */
export function azureIdentity(
  domain: string,
  env: NodeJS.ProcessEnv = process.env,
): () => Promise<AccessToken> {
  const tenant = env['AZURE_TENANT_ID'];
  const clientId = env['AZURE_CLIENT_ID'];
  const secret = env['AZURE_CLIENT_SECRET'];
  const tokenFile = env['AZURE_FEDERATED_TOKEN_FILE'];
  const authority = env['AZURE_AUTHORITY_HOST'] || authorities[domain] || 'https://login.microsoftonline.com';
  const ask = (proof: Record<string, string>): Promise<AccessToken> =>
    directoryToken(authority, tenant ?? '', { client_id: clientId ?? '', ...proof });
  if (tenant && clientId && secret) return () => ask({ client_secret: secret });
  if (tenant && clientId && tokenFile) {
    return async () =>
      ask({
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        // Read every time: the platform replaces it.
        client_assertion: (await readAssertion(tokenFile)).trim(),
      });
  }
  return () => managedIdentity(env, clientId);
}

async function readAssertion(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new BlockError(
      'configuration',
      `AZURE_FEDERATED_TOKEN_FILE cannot be read: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

async function directoryToken(
  authority: string,
  tenant: string,
  proof: Readonly<Record<string, string>>,
): Promise<AccessToken> {
  const from = 'the directory';
  const answer = await askIdentity({
    method: 'POST',
    url: `${authority.replace(/\/+$/, '')}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`,
    body: { grant_type: 'client_credentials', scope: `${resource}/.default`, ...proof },
    from,
  });
  return accessToken(answer, from);
}

/** Of a virtual machine or cluster node, or of an App Service, which has an endpoint of its own. */
async function managedIdentity(env: NodeJS.ProcessEnv, clientId: string | undefined): Promise<AccessToken> {
  const from = 'the managed identity endpoint';
  const endpoint = env['IDENTITY_ENDPOINT'];
  const header = env['IDENTITY_HEADER'];
  const machine = env['AZURE_POD_IDENTITY_AUTHORITY_HOST'] || 'http://169.254.169.254';
  const service = endpoint && header ? { endpoint, header } : undefined;
  const url = new URL(service?.endpoint ?? `${machine.replace(/\/+$/, '')}/metadata/identity/oauth2/token`);
  url.searchParams.set('api-version', service === undefined ? '2018-02-01' : '2019-08-01');
  url.searchParams.set('resource', resource);
  if (clientId) url.searchParams.set('client_id', clientId);
  const answer = await askIdentity({
    method: 'GET',
    url: url.href,
    headers: service === undefined ? { metadata: 'true' } : { 'x-identity-header': service.header },
    from,
  });
  return accessToken(answer, from);
}
