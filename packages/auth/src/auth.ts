import type { CacheBus, KvStore } from '@svc/kv';
import type { ClientOrigin, Decision, Identity, KeyView, RequestHead } from './identity.ts';
import type {
  AclPermission,
  AuthActor,
  Credentials,
  CredentialsWithSecret,
  ExternalPrincipal,
  Group,
  KeyPair,
  Page,
  PageRequest,
  Policy,
  RbacMode,
  Statement,
  User,
} from './model.ts';
import type { CliLogins } from './login/contract.ts';
import type { AuthorizationService } from './rbac/directory.ts';
import type { Requirement } from './requirement.ts';
import type { Installation, Setup } from './setup/contract.ts';
import type { MailOptions, PasswordMailing } from './mail/contract.ts';
import type { Provisioning } from './provisioning/contract.ts';
import type {
  AuthenticationService,
  ClaimMapping,
  IdentityProvider,
  PasswordAuthenticator,
} from './sources/contract.ts';

/** Structured logger, fields first. */
export interface AuthLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface CacheSettings {
  readonly enabled: boolean;
  /** Entries per cache. */
  readonly size: number;
  readonly ttlMs: number;
  readonly jitterMs: number;
}

export interface AuthOptions {
  /** May still be opening: the keys are derived meanwhile. */
  readonly kv: KvStore | Promise<KvStore>;
  readonly cacheBus: CacheBus;
  /** `auth.encrypt.secret_key`. */
  readonly encryptSecretKey: string;
  /** What `deriveRootKey` makes of it, where somebody else has done that already. */
  readonly rootKey?: Promise<Uint8Array> | undefined;
  readonly mode: RbacMode;
  readonly cache: CacheSettings;
  readonly loginDurationMs: number;
  readonly loginMaxDurationMs: number;
  /** `auth.cookie_domain`. */
  readonly cookieDomain?: string | undefined;
  /** `security.trusted_proxies`, CIDRs. */
  readonly trustedProxies?: readonly string[] | undefined;
  /** `installation.fixed_id`. */
  readonly fixedInstallationId?: string | undefined;
  /** LDAP, remote authenticator: tried in this order after the built-in access keys. */
  readonly passwordAuthenticators?: readonly PasswordAuthenticator[] | undefined;
  /** `auth.cookie_auth_verification`. */
  readonly externalSession?: ClaimMapping | undefined;
  /** `auth.oidc`. */
  readonly identityProvider?:
    | { readonly provider: IdentityProvider; readonly claims: ClaimMapping }
    | undefined;
  /** `auth.authentication_api`. */
  readonly authenticationService?: AuthenticationService | undefined;
  /** `auth.api`: keeps users, groups, policies and credentials in mode `external`. */
  readonly authorizationService?: AuthorizationService | undefined;
  /** `email`. */
  readonly mail?: MailOptions | undefined;
  /** `auth.scim.token`: an identity provider that shows it keeps its people and groups up to date. */
  readonly provisioningToken?: string | undefined;
  /** Milliseconds since the epoch; the system clock when absent. */
  readonly clock?: (() => number) | undefined;
  readonly logger: AuthLogger;
}

export interface Auth {
  readonly mode: RbacMode;
  readonly users: Users;
  readonly groups: Groups;
  readonly policies: Policies;
  readonly credentials: CredentialKeys;
  readonly externalPrincipals: ExternalPrincipals;
  readonly sessions: UserSessions;
  readonly cliLogins: CliLogins;
  readonly setup: Setup;
  readonly installation: Installation;
  /** What webhooks sign with and send along. */
  readonly webhookSecrets: SecretBoxes;

  /**
   * The caller of a request by bearer token, Basic header or cookie: the first source present decides. Undefined
   * when the request carries none. Throws `unauthenticated`, `forbidden` (cross-origin cookie request),
   * `too_many_failures` or `unavailable`.
   */
  authenticate(request: RequestHead): Promise<Identity | undefined>;
  /**
   * The caller of a request whose Basic header was verified before and whose key and user are unchanged in memory,
   * answered without waiting. Undefined says nothing: ask `authenticate`. `connection` stands for the socket, whose
   * requests mostly repeat the header.
   */
  authenticateAtOnce(headers: RequestHead['headers'], connection: object): Identity | undefined;
  /**
   * For signature verification: the user and secret of an access key, or undefined when there is no such key. Throws
   * `too_many_failures` when the client has failed too often to try this key again.
   */
  credentialsFor(accessKeyId: string, client?: ClientOrigin): Promise<SigningCredentials | undefined>;
  /** As `credentialsFor`, of a key that came with a session token. */
  temporaryCredentialsFor(
    accessKeyId: string,
    sessionToken: string,
    client?: ClientOrigin,
  ): Promise<SigningCredentials | undefined>;
  /** An access key for a while, bound to a bucket. It may do what the caller may, and ends with the caller's key. */
  issueTemporaryKey(identity: Identity, view: KeyView, durationMs: number): TemporaryKey;
  /** Counts a failed signature; throws `too_many_failures` once its address has failed too often. */
  signatureFailed(client: ClientOrigin, accessKeyId: string): void;

  /** User name and password (or access key and secret) for a session. */
  login(request: LoginRequest): Promise<Session>;
  loginExternalPrincipal(request: ExternalPrincipalLogin): Promise<Session>;
  loginSts(request: StsLogin): Promise<Session>;
  /** Logins of browsers at the identity provider; undefined when there is none. */
  readonly providerLogin: ProviderLogins | undefined;
  /** Invitations and new passwords by mail; undefined when there is no mail server. */
  readonly passwordMails: PasswordMailing | undefined;
  /** What an identity provider keeps up to date; undefined when there is no token for one. */
  readonly provisioning: Provisioning | undefined;
  /** Makes a user and mails an invitation; undefined when nobody sends mails. */
  readonly inviteUser: ((address: string, actor: AuthActor) => Promise<User>) | undefined;
  /** Names the request in whose service others are asked from here on; undefined when nobody is asked. */
  readonly enterRequest: ((requestId: string) => void) | undefined;
  /** `Set-Cookie` value that starts a browser session. */
  sessionCookie(session: Session, client: ClientOrigin): string;
  /** Ends the session whose token the request carries, and answers whose it was; a request without one changes nothing. */
  logout(request: RequestHead): Promise<Identity | undefined>;
  /** `Set-Cookie` values that end every kind of browser session. */
  logoutCookies(client: ClientOrigin): string[];

  /** Checks one requirement. Throws `unavailable` when policies cannot be read. */
  authorize(identity: Identity, requirement: Requirement, client: ClientOrigin): Promise<Decision>;
  /** As `authorize`, but throws `denied` with the message. */
  ensureAllowed(identity: Identity, requirement: Requirement, client: ClientOrigin): Promise<void>;
  /** Whether policies in memory allow it, answered without waiting. False says nothing: ask `authorize`. */
  allowsAtOnce(identity: Identity, requirement: Requirement, client: ClientOrigin): boolean;
  /** A check to call many times within one request (list filters, bulk calls): policies are fetched once. */
  permissionsOf(identity: Identity, client: ClientOrigin): Promise<Permissions>;

  /** What a check of a user would answer, and which statement decides. Throws `invalid` or `not_found`. */
  simulate(request: SimulationRequest): Promise<Simulation>;

  /** Whether any policy allows anything to requests without credentials (`anonymousIdentity`). */
  allowsAnonymous(): Promise<boolean>;

  /** Asks the services that must be there when a server starts. Throws `configuration` when one is not. */
  checkServices(): Promise<void>;

  /** Peer address, or what a trusted proxy says about it. */
  clientOf(peerAddress: string, encrypted: boolean, headers: RequestHead['headers']): ClientOrigin;
  close(): void;
}

/** Keeps texts in the store that nobody can read there. `boundTo` makes a box useless in another record. */
export interface SecretBoxes {
  seal(secret: string, boundTo: string): Buffer;
  /** Undefined when the box was made for something else, or was changed. */
  open(box: Uint8Array, boundTo: string): string | undefined;
}

export interface Permissions {
  check(requirement: Requirement): Decision;
  /** True when a deny statement covers it; absence of an allowance is not a denial. */
  isDenied(action: string, resource: string): boolean;
  /** False when the action is allowed on no resource that begins with `start`: offering it would be in vain. */
  maySome(action: string, start: string): boolean;
}

export interface SimulationRequest {
  readonly username: string;
  readonly action: string;
  readonly resource: string;
  /** Where the request comes from, for conditions. */
  readonly sourceIp: string;
  /** As if the user had this policy as well; it stands in for the stored one of its name. */
  readonly draft?: PolicyInput | undefined;
}

export interface Simulation {
  readonly decision: Decision;
  /** Absent when no statement speaks of it. */
  readonly decidedBy:
    | {
        readonly policyId: string;
        /** Of the statement in its policy, counted from 0. */
        readonly index: number;
        readonly statement: Statement;
      }
    | undefined;
  /** What was looked at: attached to the user itself, or to groups of the user. */
  readonly policies: readonly {
    readonly id: string;
    readonly isDirect: boolean;
    readonly groups: readonly string[];
  }[];
}

export interface SigningCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly user: User;
  readonly hasView: boolean;
  /** Set for temporary keys. */
  readonly view?: KeyView;
}

export interface TemporaryKey extends KeyPair {
  readonly sessionToken: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

export interface LoginRequest {
  readonly username: string;
  readonly password: string;
  readonly client: ClientOrigin;
  /** What the caller says it is, for the list of sessions. */
  readonly agent?: string | undefined;
  readonly requestId?: string | undefined;
}

export interface SessionOrigin {
  readonly ip: string;
  readonly agent: string;
}

/** A login that is still good. Times in Unix seconds. */
export interface SessionInfo extends SessionOrigin {
  readonly id: string;
  readonly beganAt: number;
  readonly expiresAt: number;
  readonly accessKeyId?: string | undefined;
}

/** The sessions of people; those that another service has begun are not listed, but end with all the others. */
export interface UserSessions {
  list(username: string, page?: PageRequest): Promise<Page<SessionInfo>>;
  /** On every worker before it resolves. Throws `not_found`. */
  end(username: string, id: string, actor: AuthActor): Promise<void>;
  endAll(username: string, actor: AuthActor): Promise<void>;
  /** Forgets sessions whose tokens have expired, and logins that nobody has finished. */
  trim(mayGoOn: () => Promise<boolean>): Promise<void>;
}

export interface Session {
  /** Names it; no secret. */
  readonly id: string;
  readonly token: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly username: string;
}

/** Where a browser goes next, with what it shall remember (`Set-Cookie` values). */
export interface Redirection {
  readonly location: string;
  readonly cookies: readonly string[];
}

export interface ProviderLogins {
  /** Sends a browser to the provider. `next` is the page it wanted; only a path of this server is gone to. */
  begin(next: string | undefined, client: ClientOrigin): Promise<Redirection>;
  /** A browser comes back. Whoever cannot be logged in is sent to the login page. */
  finish(request: RequestHead & { readonly query: URLSearchParams }): Promise<Redirection>;
  /** Where users of the provider end their session there; undefined when it has no such page. */
  logoutUrl(identity: Identity): Promise<string | undefined>;
}

export interface ExternalPrincipalLogin {
  readonly identityRequest: Readonly<Record<string, unknown>>;
  readonly durationSeconds?: number | undefined;
  readonly origin: SessionOrigin;
  readonly requestId?: string | undefined;
}

export interface StsLogin {
  readonly code: string;
  readonly state: string;
  readonly redirectUri: string;
  readonly ttlSeconds?: number | undefined;
  readonly origin: SessionOrigin;
  readonly requestId?: string | undefined;
}

export interface Users {
  create(user: NewUser, actor: AuthActor): Promise<User>;
  get(username: string): Promise<User>;
  find(by: { readonly email: string } | { readonly externalId: string }): Promise<User | undefined>;
  list(page?: PageRequest): Promise<Page<User>>;
  /** Also its credentials, memberships, attachments and external principals. */
  delete(username: string, actor: AuthActor): Promise<void>;
  groups(username: string, page?: PageRequest): Promise<Page<Group>>;
  policies(username: string, page?: PageRequest & { readonly effective?: boolean }): Promise<Page<Policy>>;
  attachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void>;
  detachPolicy(username: string, policyId: string, actor: AuthActor): Promise<void>;
  /** Ends every earlier login of the user. */
  setPassword(username: string, password: string, actor: AuthActor): Promise<void>;
  /** Ends every earlier login of the user, on every worker before it resolves. */
  endSessions(username: string, actor: AuthActor): Promise<void>;
  setFriendlyName(username: string, friendlyName: string, actor: AuthActor): Promise<void>;
}

export interface NewUser {
  readonly username: string;
  readonly friendlyName?: string | undefined;
  readonly email?: string | undefined;
  /** `internal` when absent; another source relaxes the id rules. */
  readonly source?: string | undefined;
  readonly externalId?: string | undefined;
}

export interface Groups {
  create(
    group: { readonly id: string; readonly description?: string | undefined },
    actor: AuthActor,
  ): Promise<Group>;
  get(id: string): Promise<Group>;
  list(page?: PageRequest): Promise<Page<Group>>;
  delete(id: string, actor: AuthActor): Promise<void>;
  members(id: string, page?: PageRequest): Promise<Page<User>>;
  addMember(id: string, username: string, actor: AuthActor): Promise<void>;
  removeMember(id: string, username: string, actor: AuthActor): Promise<void>;
  policies(id: string, page?: PageRequest): Promise<Page<Policy>>;
  attachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void>;
  detachPolicy(id: string, policyId: string, actor: AuthActor): Promise<void>;
  /** `''` when nothing is attached; throws `no_acl` when the group has other policies. */
  acl(id: string): Promise<AclPermission | ''>;
  setAcl(id: string, permission: string, actor: AuthActor): Promise<void>;
}

export interface Policies {
  create(policy: PolicyInput, actor: AuthActor): Promise<Policy>;
  get(id: string): Promise<Policy>;
  list(page?: PageRequest): Promise<Page<Policy>>;
  /** Replaces the statements of an existing policy. */
  update(id: string, policy: PolicyInput, actor: AuthActor): Promise<Policy>;
  delete(id: string, actor: AuthActor): Promise<void>;
}

export interface PolicyInput {
  readonly id: string;
  readonly statement: readonly Statement[];
}

export interface CredentialKeys {
  /** With `key` the operator's own pair, else a generated one. */
  create(
    username: string,
    actor: AuthActor,
    key?: KeyPair,
    /** Binds the key to a bucket before it works. */
    makeView?: (accessKeyId: string) => Promise<unknown>,
  ): Promise<CredentialsWithSecret>;
  setHasView(username: string, accessKeyId: string, hasView: boolean, actor: AuthActor): Promise<void>;
  get(username: string, accessKeyId: string): Promise<Credentials>;
  list(username: string, page?: PageRequest): Promise<Page<Credentials>>;
  delete(username: string, accessKeyId: string, actor: AuthActor): Promise<void>;
}

export interface ExternalPrincipals {
  attach(username: string, principalId: string, actor: AuthActor): Promise<void>;
  detach(username: string, principalId: string, actor: AuthActor): Promise<void>;
  list(username: string, page?: PageRequest): Promise<Page<ExternalPrincipal>>;
  get(principalId: string): Promise<ExternalPrincipal>;
}
