import { createRemoteJWKSet, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  discovery,
  ResponseBodyError,
  type Configuration,
} from 'openid-client';
import { AuthError } from '../errors.ts';
import type { Claims, IdentityProvider, LoginChecks } from './contract.ts';

export interface OidcSettings {
  /** The issuer; its discovery document is below it. */
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** This service as browsers see it. */
  readonly callbackBaseUrl: string;
  /** Added to the query of the authorization endpoint. */
  readonly authorizeParameters: Readonly<Record<string, string>>;
}

const requestSeconds = 10;
/** How far the clocks of the provider and of this server may be apart. */
const skewSeconds = 60;

/** One OpenID Connect provider, by the authorization code flow with PKCE. */
export class OidcProvider implements IdentityProvider {
  readonly #settings: OidcSettings;
  readonly #redirectUri: string;
  readonly #base: string;
  #discovered: Promise<Discovered> | undefined;

  constructor(settings: OidcSettings) {
    this.#settings = settings;
    this.#base = settings.callbackBaseUrl.replace(/\/+$/, '');
    this.#redirectUri = `${this.#base}/api/v1/oidc/callback`;
  }

  async check(): Promise<void> {
    try {
      await this.#discover();
    } catch (error) {
      const reason = error instanceof Error ? reasonOf(error) : String(error);
      throw new AuthError(
        'configuration',
        `auth.oidc.url: ${this.#settings.url} does not describe an OpenID Connect provider: ${reason}`,
        { cause: error },
      );
    }
  }

  async authorizationUrl({ state, nonce, codeVerifier }: LoginChecks): Promise<string> {
    const { configuration } = await this.#discover();
    const url = buildAuthorizationUrl(configuration, {
      ...this.#settings.authorizeParameters,
      response_type: 'code',
      scope: 'openid profile',
      redirect_uri: this.#redirectUri,
      client_id: this.#settings.clientId,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  async claimsOf(query: URLSearchParams, { state, nonce, codeVerifier }: LoginChecks): Promise<Claims> {
    const discovered = await this.#discover();
    const answer = new URL(`${this.#redirectUri}?${query.toString()}`);
    const exchange = () =>
      authorizationCodeGrant(discovered.configuration, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: codeVerifier,
        idTokenExpected: true,
      });
    try {
      const tokens = await exchange().catch((error: unknown) => {
        // Providers tie a client to one of the two ways to show its secret, and do not say to which.
        if (!(error instanceof ResponseBodyError) || error.error !== 'invalid_client') throw error;
        discovered.showSecretOtherwise();
        return exchange();
      });
      // The exchange looks at every claim, but trusts the connection for the signature.
      const { payload } = await jwtVerify(tokens.id_token ?? '', discovered.keys, discovered.rules);
      return payload;
    } catch (error) {
      // The causes hold whole answers, with tokens.
      throw new AuthError('unauthenticated', error instanceof Error ? reasonOf(error) : 'unknown');
    }
  }

  async logoutUrl(): Promise<string | undefined> {
    const { configuration } = await this.#discover();
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
    return buildEndSessionUrl(configuration, { post_logout_redirect_uri: `${this.#base}/auth/login` }).href;
  }

  /** Asked again until it was had once: a provider that is away for a moment stops nobody for longer. */
  #discover(): Promise<Discovered> {
    this.#discovered ??= discover(this.#settings).catch((error: unknown) => {
      this.#discovered = undefined;
      throw error;
    });
    return this.#discovered;
  }
}

interface Discovered {
  readonly configuration: Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
  readonly rules: {
    readonly issuer: string;
    readonly audience: string;
    readonly algorithms: string[];
    readonly clockTolerance: number;
  };
  showSecretOtherwise(): void;
}

async function discover({ url, clientId, clientSecret }: OidcSettings): Promise<Discovered> {
  const ways = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)] as const;
  let way: 0 | 1 = 0;
  const configuration = await discovery(
    new URL(url),
    clientId,
    { [clockTolerance]: skewSeconds },
    (...request) => ways[way](...request),
    { timeout: requestSeconds, ...(url.startsWith('http:') && { execute: [allowInsecureRequests] }) },
  );
  const metadata = configuration.serverMetadata();
  const { issuer, jwks_uri: jwksUri } = metadata;
  if (jwksUri === undefined) throw new Error('it names no "jwks_uri"');
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  if (!methods.includes('client_secret_post')) way = 1;
  const signing = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
  return {
    configuration,
    keys: createRemoteJWKSet(new URL(jwksUri), {
      // Only a token that the provider has just given out asks for them.
      cooldownDuration: 0,
      timeoutDuration: requestSeconds * 1000,
    }),
    rules: {
      issuer,
      audience: clientId,
      // Public keys only: a token signed with a shared secret proves less, and mixing both kinds is an attack.
      algorithms: signing.filter((algorithm) => /^(RS|PS|ES)\d+$|^Ed/.test(algorithm)),
      clockTolerance: skewSeconds,
    },
    showSecretOtherwise: () => {
      way = way === 0 ? 1 : 0;
    },
  };
}

function reasonOf(error: Error): string {
  if (error instanceof ResponseBodyError) {
    return `the provider answered "${error.error}"${error.error_description === undefined ? '' : `: ${error.error_description}`}`;
  }
  return error.message;
}
