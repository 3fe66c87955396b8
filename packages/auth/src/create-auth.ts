import { KvError } from '@svc/kv';
import type { Auth, AuthOptions, LoginRequest, Permissions, Session, SigningCredentials } from './auth.ts';
import { KeyRing } from './crypto/key-ring.ts';
import { deriveRootKey } from './crypto/root-key.ts';
import { openSecret, sealSecret } from './crypto/secret-box.ts';
import { AuthError } from './errors.ts';
import { anonymousIdentity, type Identity } from './identity.ts';
import { CallerCache } from './login/caller-cache.ts';
import { CliLoginStore } from './login/cli-logins.ts';
import { ClaimedUsers } from './login/claimed-users.ts';
import { TrustedProxies } from './login/client-origin.ts';
import { endSessionCookies, startSessionCookie } from './login/cookies.ts';
import { ExternalSession } from './login/external-session.ts';
import { FailureLimits, tooManyFailures } from './login/failure-limits.ts';
import { LoginTokens } from './login/login-tokens.ts';
import { PasswordChain } from './login/password-chain.ts';
import { ProviderLogin } from './login/provider-login.ts';
import { RequestAuthenticator } from './login/request-authenticator.ts';
import { loginByService } from './login/service-login.ts';
import { TemporaryKeys, type TemporaryClaims } from './login/temporary-keys.ts';
import { SessionStore } from './login/session-store.ts';
import { UserProvisioning } from './login/user-provisioning.ts';
import { ClaimedTokens } from './mail/claimed-tokens.ts';
import { MailLimiter } from './mail/mail-limiter.ts';
import { PasswordMails } from './mail/password-mails.ts';
import type { User } from './model.ts';
import { ConditionContext } from './policy/condition.ts';
import { Provisioned } from './provisioning/provisioned.ts';
import { isActive } from './provisioning/records.ts';
import { logChange, type RbacContext } from './rbac/context.ts';
import { CredentialStore } from './rbac/credential-store.ts';
import { localDirectory } from './rbac/directory.ts';
import { GroupStore } from './rbac/group-store.ts';
import { simulate } from './rbac/simulate.ts';
import { UserStore } from './rbac/user-store.ts';
import { InstallationStore } from './setup/installation-store.ts';
import { SetupService } from './setup/setup-service.ts';
import { setUpElsewhere } from './setup/set-up-elsewhere.ts';
import { AuthStore } from './store/auth-store.ts';

/**
 * Opens access control over a key-value store. Throws `configuration` when the settings cannot work or the
 * secret key is not the one the installation began with.
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  const { cacheBus, cache, logger, mode } = options;
  const clock = options.clock ?? Date.now;
  checkOptions(options);
  const proxies = new TrustedProxies(options.trustedProxies ?? []);
  const [rootKey, kv] = await Promise.all([
    options.rootKey ?? deriveRootKey(options.encryptSecretKey),
    options.kv,
  ]);
  const keyRing = new KeyRing(rootKey);
  const store = new AuthStore(kv);
  const installation = new InstallationStore(store, keyRing, options.fixedInstallationId);
  const { authorizationService: service } = options;
  await installation.checkSecretKey({ isSetUp: service !== undefined });
  await installation.id();

  const callers = new CallerCache(cacheBus, cache, clock, {
    user: async (username) => active(await orUndefined(users.get(username))),
    userByEmail: async (email) => {
      const user = await active(await users.find({ email }));
      return user === undefined ? undefined : { user, passwordHash: await users.passwordHash(user.username) };
    },
    key: (accessKeyId) => credentials.reveal(accessKeyId),
    policies: (username) => directory.effectivePolicies(username),
    allPolicies: () => directory.allPolicies(),
    externalPrincipal: (id) => externalPrincipals.find(id),
    endedSessions: (username) => sessions.ended(username),
  });
  /** Somebody whom a provider has deactivated is nobody to every way in. */
  const active = async (user: User | undefined): Promise<User | undefined> =>
    user !== undefined && (await isActive(store, user)) ? user : undefined;
  const context: RbacContext = { store, keys: keyRing, changes: callers.changes, clock, logger };
  const directory =
    service === undefined
      ? localDirectory(context)
      : service.open({ store, changes: callers.changes, clock, log: logChange.bind(undefined, context) });
  const { users, groups, policies, credentials, externalPrincipals } = directory;
  const endAll = users.endSessions.bind(users);
  const sessions = new SessionStore({ context, endAll });
  const limits = new FailureLimits(cacheBus, clock);
  const setup =
    service === undefined
      ? new SetupService({ context, mode, users, groups, credentials, installation, limits })
      : setUpElsewhere;
  const tokens = new LoginTokens(keyRing, clock, options.loginMaxDurationMs);
  const temporaryKeys = new TemporaryKeys(keyRing, clock);
  const passwords = new PasswordChain({
    keys: keyRing,
    callers,
    provisioning: new UserProvisioning(users, groups, logger),
    authenticators: options.passwordAuthenticators ?? [],
    limits,
    cache,
    logger,
  });
  const claimedUsers = new ClaimedUsers(users, groups, logger, (user) => isActive(store, user));
  const externalSession =
    options.externalSession === undefined
      ? undefined
      : new ExternalSession({
          secret: options.encryptSecretKey,
          claims: options.externalSession,
          users: claimedUsers,
          callers,
          clock,
          logger,
        });
  const requests = new RequestAuthenticator({ callers, tokens, passwords, externalSession });
  const serviceLogin = loginByService({
    ...options,
    tokens,
    callers,
    findUser: async (by) => active(await users.find(by)),
    begin: (session, origin) => sessions.begin(session, origin, undefined),
  });
  const cookies = { domain: options.cookieDomain, clock };
  const providerLogin =
    options.identityProvider === undefined
      ? undefined
      : new ProviderLogin({
          ...options.identityProvider,
          keys: keyRing,
          users: claimedUsers,
          startSession: async (user, friendlyName, { client, headers }) => {
            const session = tokens.issue(user, options.loginDurationMs, undefined, friendlyName);
            await sessions.begin(
              session,
              { ip: client.ip, agent: String(headers['user-agent'] ?? '') },
              undefined,
            );
            return session;
          },
          cookies,
          logger,
        });

  async function login({ username, password, client, agent, requestId }: LoginRequest): Promise<Session> {
    const { user, accessKeyId } = await passwords.authenticate({
      username,
      password,
      client,
      requestId,
      allowEmail: true,
    });
    logger.info(
      {
        event: 'login',
        user: user.username,
        client_ip: client.ip,
        ...(requestId && { request_id: requestId }),
      },
      'login',
    );
    const session = tokens.issue(user, options.loginDurationMs, accessKeyId);
    await sessions.begin(session, { ip: client.ip, agent: agent ?? '' }, accessKeyId);
    return session;
  }

  const cliLogins = new CliLoginStore({
    store,
    callers,
    limits,
    clock,
    startSession: async (user, seconds, { accessKeyId, friendlyName }, origin) => {
      const session = tokens.issue(user, seconds * 1000, accessKeyId, friendlyName);
      await sessions.begin(session, origin, accessKeyId);
      return session;
    },
  });

  const limiter = options.mail === undefined ? undefined : new MailLimiter(options.mail, cacheBus, clock);
  const passwordMails =
    options.mail === undefined || limiter === undefined
      ? undefined
      : new PasswordMails({
          ...options.mail,
          keys: keyRing,
          claimToken: service?.claimToken.bind(service) ?? new ClaimedTokens(store, clock).claim,
          users,
          limiter,
          failures: limits,
          clock,
          logger,
        });

  const provisioning =
    options.provisioningToken === undefined
      ? undefined
      : new Provisioned({
          context,
          users: new UserStore(context),
          groups: new GroupStore(context),
          credentials: new CredentialStore(context),
          sessions,
          limits,
          token: options.provisioningToken,
        });

  const policiesAtOnce = ({ method, user }: Identity) =>
    method === 'anonymous' ? callers.anonymousAtOnce() : callers.policiesOfAtOnce(user.username);
  const policiesOf = async (identity: Identity) =>
    policiesAtOnce(identity) ??
    (await masked(
      identity.method === 'anonymous' ? callers.anonymous() : callers.policiesOf(identity.user.username),
    ));

  /** The same for the same policies and address, so that what is decided by them can be remembered with them. */
  const lastPermissions = new WeakMap<object, { readonly ip: string; readonly permissions: Permissions }>();

  return {
    mode,
    users,
    groups,
    policies,
    credentials,
    externalPrincipals,
    sessions,
    cliLogins,
    setup,
    installation,
    webhookSecrets: {
      seal: (secret, boundTo) => sealSecret(keyRing, secret, boundTo, 'svc/webhook'),
      open: (box, boundTo) => openSecret(keyRing, box, boundTo, 'svc/webhook'),
    },
    authenticate: (request) => masked(requests.authenticate(request)),
    authenticateAtOnce: (headers, connection) => requests.authenticateAtOnce(headers, connection),
    credentialsFor: async (accessKeyId, client) => {
      const wait = client === undefined ? undefined : limits.exceededGuess(client.ip, accessKeyId);
      if (wait !== undefined) throw tooManyFailures(wait);
      return masked(signingCredentials(callers, accessKeyId));
    },
    temporaryCredentialsFor: async (accessKeyId, sessionToken, client) => {
      const wait = client === undefined ? undefined : limits.exceededGuess(client.ip, accessKeyId);
      if (wait !== undefined) throw tooManyFailures(wait);
      const claims = temporaryKeys.verify(accessKeyId, sessionToken);
      return claims === undefined ? undefined : masked(temporaryCredentials(callers, accessKeyId, claims));
    },
    issueTemporaryKey: (identity, view, durationMs) => temporaryKeys.issue(identity, view, durationMs),
    signatureFailed: (client, accessKeyId) => {
      const wait = limits.exceeded('address', client.ip);
      limits.guessFailed(client.ip, accessKeyId);
      if (wait !== undefined) throw tooManyFailures(wait);
    },
    login: (request) => masked(login(request)),
    loginExternalPrincipal: (request) => masked(serviceLogin.externalPrincipal(request)),
    loginSts: (request) => masked(serviceLogin.sts(request)),
    providerLogin,
    passwordMails,
    provisioning,
    inviteUser: service?.invite ?? passwordMails?.invite.bind(passwordMails),
    enterRequest: service?.enterRequest.bind(service),
    sessionCookie: (session, client) => startSessionCookie(session, client, cookies),
    logout: async (request) => {
      const caller = await masked(requests.session(request));
      if (caller === undefined) return undefined;
      const { username } = caller.user;
      const actor = { username, requestId: request.requestId };
      const { session } = caller;
      // A token without a name cannot be told from the others of its user.
      await masked(
        session === undefined
          ? sessions.endAll(username, actor)
          : sessions.endToken(username, session.id, session.expiresAt, actor),
      );
      return caller;
    },
    logoutCookies: (client) => endSessionCookies(client, cookies),
    authorize: async (identity, requirement, client) =>
      (await policiesOf(identity)).check(requirement, new ConditionContext(client.ip)),
    ensureAllowed: async (identity, requirement, client) => {
      const decision = (await policiesOf(identity)).check(requirement, new ConditionContext(client.ip));
      if (decision.allowed) return;
      const { message, required } = decision;
      throw new AuthError('denied', message, { required });
    },
    allowsAtOnce: (identity, requirement, client) =>
      policiesAtOnce(identity)?.check(requirement, new ConditionContext(client.ip)).allowed === true,
    permissionsOf: async (identity, client) => {
      const compiled = await policiesOf(identity);
      const last = lastPermissions.get(compiled);
      if (last?.ip === client.ip) return last.permissions;
      const conditions = new ConditionContext(client.ip);
      const permissions: Permissions = {
        check: (requirement) => compiled.check(requirement, conditions),
        isDenied: (action, resource) => compiled.isDenied(action, resource, conditions),
        maySome: (action, start) => compiled.maySome(action, start, conditions),
      };
      lastPermissions.set(compiled, { ip: client.ip, permissions });
      return permissions;
    },
    simulate: async (request) => {
      await masked(users.get(request.username));
      return masked(simulate(request, (username) => directory.heldPolicies(username)));
    },
    allowsAnonymous: async () => (await policiesOf(anonymousIdentity)).allowsAnything,
    checkServices: async () => {
      await Promise.all([options.identityProvider?.provider.check(), service?.check()]);
    },
    clientOf: (peerAddress, encrypted, headers) => proxies.originOf(peerAddress, encrypted, headers),
    close: () => {
      callers.close();
      limits.close();
      limiter?.close();
      for (const authenticator of options.passwordAuthenticators ?? []) authenticator.close?.();
    },
  };
}

function checkOptions({
  encryptSecretKey,
  mode,
  logger,
  authorizationService,
  provisioningToken,
}: AuthOptions): void {
  if (encryptSecretKey === '') {
    throw new AuthError('configuration', 'auth.encrypt.secret_key is empty; set it to a long random text');
  }
  if (Buffer.byteLength(encryptSecretKey) < 16) {
    logger.warn({ key: 'auth.encrypt.secret_key' }, 'auth.encrypt.secret_key is shorter than 16 bytes');
  }
  if (authorizationService !== undefined && provisioningToken !== undefined) {
    throw new AuthError('configuration', 'auth.scim.token does not go with auth.ui_config.rbac "external"');
  }
  if (mode === 'external' && authorizationService === undefined) {
    throw new AuthError('configuration', 'auth.ui_config.rbac "external" needs auth.api.endpoint');
  }
}

async function signingCredentials(callers: CallerCache, accessKeyId: string) {
  const key = await callers.key(accessKeyId);
  const user = key === undefined ? undefined : await callers.user(key.username);
  if (key === undefined || user === undefined) return undefined;
  return { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey, user, hasView: key.hasView };
}

async function temporaryCredentials(
  callers: CallerCache,
  accessKeyId: string,
  { username, issuedAt, parentKeyId, secretAccessKey, view }: TemporaryClaims,
): Promise<SigningCredentials | undefined> {
  const user = await callers.user(username);
  if (user === undefined || issuedAt < (user.tokensValidAfter ?? 0)) return undefined;
  if (parentKeyId !== undefined) {
    const parent = await callers.key(parentKeyId);
    if (parent?.username !== username || parent.hasView) return undefined;
  }
  return { accessKeyId, secretAccessKey, user, hasView: true, view };
}

/**
 * A store that fails while we ask who is calling is our failure, not the caller's. One that is only away for now says so
 * itself: nothing has been done yet, and whoever asks again is served when it is back.
 */
async function masked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AuthError || (error instanceof KvError && error.retryable)) throw error;
    throw new AuthError('unavailable', 'internal server error', { cause: error });
  }
}

async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AuthError && error.kind === 'not_found') return undefined;
    throw error;
  }
}
