import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OidcClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly postLogoutRedirectUri?: string;
  readonly tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post';
}

export interface OidcServer {
  readonly issuer: string;
  /** Claims of each person by login name; any password is right. */
  readonly people: Map<string, Record<string, unknown>>;
  stop(): void;
}

/** A real OpenID Connect provider with login and consent pages, in the process of the test. */
export async function startOidcServer(client: OidcClient): Promise<OidcServer> {
  const { Provider } = await import('oidc-provider');
  const people: OidcServer['people'] = new Map();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [client.redirectUri],
        post_logout_redirect_uris:
          client.postLogoutRedirectUri === undefined ? [] : [client.postLogoutRedirectUri],
        token_endpoint_auth_method: client.tokenEndpointAuthMethod ?? 'client_secret_basic',
      },
    ],
    claims: { openid: ['sub', 'groups', 'department'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['the provider signs its cookies with this'] },
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    pkce: { required: () => true },
    ttl: { AccessToken: 60, AuthorizationCode: 60, IdToken: 60, Interaction: 600, Session: 600, Grant: 600 },
  });
  const serve = provider.callback();
  server.on('request', (request, response) => void serve(request, response));
  return {
    issuer,
    people,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Goes through the pages of the provider as a browser without scripts does; answers where it is sent back to. */
export async function logInAtOidcServer(authorizationUrl: string, login: string): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const jar = new Map<string, string>();
  let url = authorizationUrl;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step++) {
    const answer = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      ...(form !== undefined && { body: form }),
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      form = undefined;
      if (!url.startsWith(origin)) return url;
      continue;
    }
    const page = await answer.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined) throw new Error(`no form at ${url}: ${page}`);
    url = new URL(action, url).href;
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'any' }) });
  }
  throw new Error('the provider did not send the browser back');
}
