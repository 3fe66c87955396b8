import type { ExternalPrincipalLogin, StsLogin } from '../auth.ts';

/** What other systems say about a person. */
export type Claims = Readonly<Record<string, unknown>>;

export interface PasswordAttempt {
  readonly username: string;
  readonly password: string;
  readonly requestId?: string | undefined;
}

/** Seam of LDAP and the remote authenticator. */
export interface PasswordAuthenticator {
  /** Goes into the log and into the `source` of new users. */
  readonly source: string;
  /** Group of users seen for the first time. */
  readonly defaultGroup: string;
  /** Undefined is a definite no; a throw means it could not be asked. */
  authenticate(attempt: PasswordAttempt): Promise<{ readonly userId: string } | undefined>;
  /** Lets go of connections. */
  close?(): void;
}

/** Seam of the external authentication service. Its refusals are thrown as `AuthError`. */
export interface AuthenticationService {
  /** The user an authorization code stands for, as external id. */
  stsLogin(request: StsLogin): Promise<{ readonly externalId: string }>;
  /** Undefined when external principals are switched off. */
  readonly verifyPrincipal:
    | ((request: ExternalPrincipalLogin) => Promise<{ readonly principalId: string }>)
    | undefined;
}

/** What ties the answer of an identity provider to the browser that was sent there. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Seam of an OpenID Connect provider. */
export interface IdentityProvider {
  /** Reads the provider's description. Throws `configuration` when it cannot be had. */
  check(): Promise<void>;
  /** Where a browser logs in. */
  authorizationUrl(checks: LoginChecks): Promise<string>;
  /** The verified claims of whoever came back with this query. A throw refuses the login. */
  claimsOf(query: URLSearchParams, checks: LoginChecks): Promise<Claims>;
  /** Where a browser ends its session at the provider; undefined when the provider has no such page. */
  logoutUrl(): Promise<string | undefined>;
}

/** How claims become a user. Of several claims the first that is present counts. */
export interface ClaimMapping {
  /** Goes into the `source` of new users. */
  readonly source: string;
  /** The claim that names the user at its source. */
  readonly idClaim: string;
  /** The claim that equals the external id of people whom an identity provider made beforehand, if any does. */
  readonly provisionedIdClaim?: string | undefined;
  /** Claims that must be there with these values. */
  readonly required: Readonly<Record<string, string>>;
  readonly defaultGroups: readonly string[];
  readonly groupClaims: readonly string[];
  readonly friendlyNameClaims: readonly string[];
  readonly persistFriendlyName: boolean;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Seam of a mail server. */
export interface Mailer {
  /** Throws when the server did not take it. */
  send(mail: Mail): Promise<void>;
}
