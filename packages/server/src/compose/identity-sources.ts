import { readFileSync } from 'node:fs';
import type { AuthorizationService, ClaimMapping } from '@svc/auth';
import type { Config } from '../config/index.ts';
import type { Logger } from '../logging/index.ts';
import type { IdentitySources } from './foundation.ts';

/** The service that keeps users and policies in place of the store, if there is one. */
export async function openAuthorizationService(
  { auth: { api, encrypt, ui_config: ui } }: Config,
  logger: Logger,
): Promise<AuthorizationService | undefined> {
  if (ui.rbac !== 'external') return undefined;
  const { RemoteAuthorizationService } = await import('@svc/auth/sources/authorization-service');
  warnOfPlainText('auth.api.endpoint', api.endpoint, logger);
  return new RemoteAuthorizationService({
    endpoint: api.endpoint,
    token: api.token,
    sharedSecret: encrypt.secret_key,
    healthCheckMs: api.skip_health_check ? undefined : api.health_check_timeout,
    supportsInvites: api.supports_invites,
  });
}

/** Opens the configured sources of identities. Each loads its library only when it is used. */
export async function openIdentitySources(config: Config, logger: Logger): Promise<IdentitySources> {
  const {
    oidc,
    ldap,
    remote_authenticator: remote,
    cookie_auth_verification: cookie,
    authentication_api: api,
    scim,
  } = config.auth;
  const provisioned = (claim: string) => (scim.token === '' ? undefined : claim);
  return {
    provisioningToken: provisioned(scim.token),
    passwordAuthenticators: [
      ...(ldap.server_endpoint === '' ? [] : [await openLdap(ldap, logger)]),
      ...(remote.enabled ? [await openRemote(remote, logger)] : []),
    ],
    ...(cookie.external_user_id_claim_name !== '' && {
      externalSession: {
        ...claimMapping(
          cookie,
          cookie.auth_source === '' ? 'external_session' : cookie.auth_source,
          cookie.external_user_id_claim_name,
        ),
        provisionedIdClaim: provisioned(cookie.external_user_id_claim_name),
      },
    }),
    ...(api.endpoint !== '' && {
      authenticationService: await openService(api, cookie.validate_id_token_claims, logger),
    }),
    ...(config.email.smtp_host !== '' && { mail: await openMail(config.email) }),
    ...(oidc.enabled && {
      identityProvider: await openOidc(oidc, provisioned(scim.id_claim_name), logger),
    }),
  };
}

async function openLdap(ldap: Config['auth']['ldap'], logger: Logger) {
  const { LdapAuthenticator } = await import('@svc/auth/sources/ldap');
  if (!ldap.start_tls) warnOfPlainText('auth.ldap.server_endpoint', ldap.server_endpoint, logger);
  return new LdapAuthenticator({
    serverEndpoint: ldap.server_endpoint,
    bindDn: ldap.bind_dn,
    bindPassword: ldap.bind_password,
    usernameAttribute: ldap.username_attribute,
    userBaseDn: ldap.user_base_dn,
    userFilter: ldap.user_filter,
    defaultGroup: ldap.default_user_group,
    startTls: ldap.start_tls,
    ca: ldap.ca_file === '' ? undefined : readFileSync(ldap.ca_file, 'utf8'),
  });
}

async function openOidc(
  oidc: Config['auth']['oidc'],
  provisionedIdClaim: string | undefined,
  logger: Logger,
) {
  const { OidcProvider } = await import('@svc/auth/sources/oidc');
  warnOfPlainText('auth.oidc.url', oidc.url, logger);
  const provider = new OidcProvider({
    url: oidc.url,
    clientId: oidc.client_id,
    clientSecret: oidc.client_secret,
    callbackBaseUrl: oidc.callback_base_url,
    authorizeParameters: oidc.authorize_endpoint_query_parameters,
  });
  return { provider, claims: { ...claimMapping(oidc, 'oidc', 'sub'), provisionedIdClaim } };
}

async function openRemote(remote: Config['auth']['remote_authenticator'], logger: Logger) {
  const { RemoteAuthenticator } = await import('@svc/auth/sources/remote-authenticator');
  warnOfPlainText('auth.remote_authenticator.endpoint', remote.endpoint, logger);
  return new RemoteAuthenticator({
    endpoint: remote.endpoint,
    defaultGroup: remote.default_user_group,
    timeoutMs: remote.request_timeout,
  });
}

async function openService(
  api: Config['auth']['authentication_api'],
  requiredClaims: Readonly<Record<string, string>>,
  logger: Logger,
) {
  const { RemoteAuthenticationService } = await import('@svc/auth/sources/authentication-service');
  warnOfPlainText('auth.authentication_api.endpoint', api.endpoint, logger);
  return new RemoteAuthenticationService({
    endpoint: api.endpoint,
    externalPrincipals: api.external_principals_enabled,
    requiredClaims,
  });
}

async function openMail(email: Config['email']) {
  const { SmtpMailer } = await import('@svc/auth/sources/smtp');
  const mailer = new SmtpMailer({
    host: email.smtp_host,
    port: email.smtp_port,
    useSsl: email.use_ssl,
    username: email.username,
    password: email.password,
    localName: email.local_name,
    sender: email.sender,
  });
  return {
    mailer,
    baseUrl: email.svc_base_url,
    everyMs: email.limit_every_duration,
    burst: email.burst,
  };
}

type ClaimSettings = Pick<
  Config['auth']['oidc'],
  | 'validate_id_token_claims'
  | 'default_initial_groups'
  | 'initial_groups_claim_name'
  | 'friendly_name_claim_name'
  | 'persist_friendly_name'
>;

function claimMapping(settings: ClaimSettings, source: string, idClaim: string): ClaimMapping {
  return {
    source,
    idClaim,
    required: settings.validate_id_token_claims,
    defaultGroups: settings.default_initial_groups,
    groupClaims: settings.initial_groups_claim_name,
    friendlyNameClaims: settings.friendly_name_claim_name,
    persistFriendlyName: settings.persist_friendly_name,
  };
}

/** Secrets that leave this machine should do so encrypted. */
function warnOfPlainText(key: string, address: string, logger: Logger): void {
  const { protocol, hostname } = new URL(address);
  if (!['http:', 'ldap:'].includes(protocol) || /^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) return;
  logger.warn({ key }, `${key}: secrets travel to ${hostname} unencrypted; use ${protocol.slice(0, -1)}s`);
}
