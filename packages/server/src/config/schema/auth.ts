import { choice, duration, flag, integer, list, pairs, text } from '../key.ts';
import { checkLdapUrl, checkUrl } from './checks.ts';

const claims = {
  default_initial_groups: list('Groups of new users.'),
  initial_groups_claim_name: list(
    'Claims naming the first groups; the first that exists wins over the default.',
  ),
  friendly_name_claim_name: list('Claims with the display name; the first that exists is used.'),
  persist_friendly_name: flag(false, 'Store the display name.'),
  validate_id_token_claims: pairs('The token must carry these claims with these values.'),
};

export const authKeys = {
  auth: {
    encrypt: {
      secret_key: text(
        'Random secret that encrypts stored secrets and signs tokens; the same on all servers of an installation.',
        { secret: true, required: true },
      ),
    },
    login_duration: duration('168h', 'Validity of a login.', { from: 'positive' }),
    login_max_duration: duration('168h', 'Longest validity a user may ask for.', { from: 'positive' }),
    logout_redirect_url: text(
      'Where `/logout` leads; with the default, users of an OpenID Connect provider also end their session there.',
      {
        default: '/auth/login',
      },
    ),
    cookie_domain: text('Domain of the `access_token` cookie; empty is the issuing host.'),
    ui_config: {
      rbac: choice(
        ['none', 'simplified', 'external', 'internal'],
        'none',
        'Where users and policies are kept and edited.',
      ),
      use_login_placeholders: flag(false, 'The login page names Access Key ID and Secret Access Key.'),
      login_url: text('Other login page.'),
      login_failed_message: text('Text shown after a failed login.', {
        default: "The credentials don't match.",
      }),
      fallback_login_url: text('Second way to log in, shown as a link.'),
      fallback_login_label: text('Label of that link.'),
      login_cookie_names: list('Cookies that a login sets.', { default: ['access_token'] }),
      logout_url: text('Address of the log-out link.', { default: '/logout' }),
    },
    cache: {
      enabled: flag(true, 'Keep credentials and policies in memory.'),
      size: integer(1024, 'Entries kept, about 1 KB per user.', { min: 1 }),
      ttl: duration('20s', 'How long another server may answer with an old value.'),
      jitter: duration('3s', 'Up to this much is added to each lifetime.'),
    },
    api: {
      endpoint: text(
        'Service that keeps users and policies with `auth.ui_config.rbac: external`, such as https://auth.example.com/api/v1.',
        { check: checkUrl },
      ),
      token: text('Token for requests to it; empty signs one with `auth.encrypt.secret_key`.', {
        secret: true,
      }),
      health_check_timeout: duration('20s', 'It must answer within this time at start.'),
      skip_health_check: flag(false, 'Do not wait for it at start.'),
      supports_invites: flag(false, 'It invites users by mail itself.'),
    },
    authentication_api: {
      endpoint: text('External authentication service.', { check: checkUrl }),
      external_principals_enabled: flag(false, 'Enable logins of external principals.'),
    },
    remote_authenticator: {
      enabled: flag(false, 'Also ask a remote server about user name and password.'),
      endpoint: text('URL of that server; required when enabled.', { check: checkUrl }),
      default_user_group: text('Group of users it brings.', { default: 'Viewers' }),
      request_timeout: duration('10s', 'Longest wait for its answer.', { from: 'positive' }),
    },
    ldap: {
      server_endpoint: text('Directory, such as ldaps://ldap.example.com:636.', { check: checkLdapUrl }),
      start_tls: flag(false, 'Encrypt an ldap:// connection before anything is sent.'),
      ca_file: text("Certificates of the directory's authority, PEM; empty trusts those of the system.", {
        path: true,
      }),
      bind_dn: text('Name the service logs in with.'),
      bind_password: text('Password of that name.', { secret: true }),
      username_attribute: text('Attribute holding the user name.'),
      user_base_dn: text('Users are searched below this name.'),
      user_filter: text('Extra filter of that search.'),
      default_user_group: text('Group of users the directory brings.', { default: 'Viewers' }),
    },
    oidc: {
      enabled: flag(false, 'Log in through an OpenID Connect provider.'),
      client_id: text('Client id at the provider.'),
      client_secret: text('Client secret at the provider.', { secret: true }),
      url: text('Issuer URL of the provider.', { check: checkUrl }),
      callback_base_url: text('Base URL of this service as the provider sees it.', {
        check: checkUrl,
      }),
      ...claims,
      authorize_endpoint_query_parameters: pairs("Added to the provider's authorize call."),
    },
    scim: {
      token: text(
        'Token with which an identity provider keeps its people and groups up to date at `/scim/v2`, at least 32 characters without white space; empty switches it off.',
        { secret: true },
      ),
      id_claim_name: text('Claim of ID tokens that equals the `externalId` of provisioned people.', {
        default: 'sub',
      }),
    },
    cookie_auth_verification: {
      ...claims,
      external_user_id_claim_name: text(
        'Claim used as user id; set it to accept sessions of another service, signed with `auth.encrypt.secret_key`.',
      ),
      auth_source: text('Source that such users are recorded with.'),
    },
  },
};
