import { createHmac } from 'node:crypto';
import {
  certifyLoopback,
  freePort,
  linkIn,
  logInAtOidcServer,
  noteSecret,
  orSkipReason,
  scriptedService,
  startMailServer,
  startOidcServer,
  startSlapd,
  tempDir,
  waitUntil,
  type MailServer,
  type OidcServer,
} from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quickstartAuth, runSvc, startSvc, type Answer, type RunningSvc } from './start-server.ts';

const client = { clientId: 'svc', clientSecret: 'the secret of svc at its provider' };
const people = 'ou=people,dc=example,dc=com';
const annsPassword = 'the password of ann in the directory';
const directory = await orSkipReason('OpenLDAP', async () => {
  const certificate = await certifyLoopback(tempDir());
  const entries = `dn: dc=example,dc=com
objectClass: domain
dc: example

dn: ${people}
objectClass: organizationalUnit
ou: people

dn: uid=ann,${people}
objectClass: inetOrgPerson
cn: ann
sn: ann
uid: ann
userPassword: ${annsPassword}
`;
  return { ...(await startSlapd({ entries, certificate })), ca: certificate.ca };
});
const remotePassword = 'the password that the remote server knows';
const principal = 'arn:aws:sts::123456789012:assumed-role/loader';
const sharedSecret = 'a secret that two services share';
const scimToken = 'the-token-of-the-identity-provider-at-svc';
const mailLogin = { username: 'svc', password: 'the password of svc at its mail server' };
let mailServer: MailServer;
let provider: OidcServer;
let svc: RunningSvc;

beforeAll(async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  noteSecret('the client secret', client.clientSecret);
  noteSecret('the token of the provider', scimToken);
  provider = await startOidcServer({
    ...client,
    redirectUri: `${base}/api/v1/oidc/callback`,
    postLogoutRedirectUri: `${base}/auth/login`,
  });
  provider.people.set('ann', { name: 'Ann Example', groups: ['Developers'] });
  // One service for everything that is asked over HTTP.
  const service = await scriptedService(({ path, body }) => {
    const asked = JSON.parse(body) as Record<string, string>;
    if (path === '/check') return asked['password'] === remotePassword ? {} : { status: 401 };
    if (path === '/auth/external/principal/login')
      return asked['identity_token'] === 'of the role' ? { body: { id: principal } } : { status: 403 };
    return { body: { claims: { sub: asked['code'] } } };
  });
  mailServer = await startMailServer({ login: mailLogin });
  svc = await startSvc(['--quickstart'], {
    SVC_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    SVC_LOGGING_LEVEL: 'TRACE',
    SVC_AUTH_OIDC_ENABLED: 'true',
    SVC_AUTH_OIDC_CLIENT_ID: client.clientId,
    SVC_AUTH_OIDC_CLIENT_SECRET: client.clientSecret,
    SVC_AUTH_OIDC_URL: provider.issuer,
    SVC_AUTH_OIDC_CALLBACK_BASE_URL: base,
    SVC_AUTH_OIDC_INITIAL_GROUPS_CLAIM_NAME: 'groups',
    SVC_AUTH_OIDC_FRIENDLY_NAME_CLAIM_NAME: 'name',
    SVC_AUTH_REMOTE_AUTHENTICATOR_ENABLED: 'true',
    SVC_AUTH_REMOTE_AUTHENTICATOR_ENDPOINT: `${service}/check`,
    SVC_AUTH_AUTHENTICATION_API_ENDPOINT: service,
    SVC_AUTH_AUTHENTICATION_API_EXTERNAL_PRINCIPALS_ENABLED: 'true',
    SVC_AUTH_COOKIE_AUTH_VERIFICATION_EXTERNAL_USER_ID_CLAIM_NAME: 'uid',
    SVC_AUTH_COOKIE_AUTH_VERIFICATION_AUTH_SOURCE: 'saml',
    SVC_AUTH_ENCRYPT_SECRET_KEY: sharedSecret,
    SVC_AUTH_SCIM_TOKEN: scimToken,
    SVC_EMAIL_SMTP_HOST: '127.0.0.1',
    SVC_EMAIL_SMTP_PORT: String(mailServer.port),
    SVC_EMAIL_USERNAME: mailLogin.username,
    SVC_EMAIL_PASSWORD: mailLogin.password,
    SVC_EMAIL_SENDER: 'svc <svc@example.com>',
    SVC_EMAIL_SVC_BASE_URL: base,
    ...(directory !== undefined && {
      SVC_AUTH_LDAP_SERVER_ENDPOINT: directory.address['url'] ?? '',
      SVC_AUTH_LDAP_START_TLS: 'true',
      SVC_AUTH_LDAP_CA_FILE: directory.ca,
      SVC_AUTH_LDAP_BIND_DN: directory.address['bindDn'] ?? '',
      SVC_AUTH_LDAP_BIND_PASSWORD: directory.address['bindPassword'] ?? '',
      SVC_AUTH_LDAP_USERNAME_ATTRIBUTE: 'uid',
      SVC_AUTH_LDAP_USER_BASE_DN: people,
    }),
  });
});
afterAll(async () => {
  await svc.stop();
  provider.stop();
  mailServer.stop();
  await directory?.dispose();
});

/** The cookies an answer sets, as a browser sends them back. */
function cookiesOf({ headers }: Answer): string {
  const pairs = (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0] ?? '');
  return pairs.filter((pair) => !pair.endsWith('=')).join('; ');
}

const postJson = (path: string, body: object): Promise<Answer> =>
  svc.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

describe.skipIf(directory === undefined)('login through a directory', () => {
  const login = (name: string, password: string) =>
    postJson('/api/v1/auth/login', { access_key_id: name, secret_access_key: password });

  test('takes name and password at the login and as Basic, with the rights of the group of new users', async () => {
    expect((await login('ann', annsPassword)).status).toBe(200);
    const authorization = `Basic ${Buffer.from(`ann:${annsPassword}`).toString('base64')}`;
    const user = await svc.request('/api/v1/user', { headers: { authorization } });
    expect(JSON.parse(user.body)).toMatchObject({ user: { id: `uid=ann,${people}`, friendly_name: 'ann' } });
    const tags = await svc.request('/api/v1/repositories', { headers: { authorization } });
    expect(tags.status).toBe(200);
    const setup = JSON.parse((await svc.request('/api/v1/setup_lakefs')).body) as object;
    expect(setup).toMatchObject({
      login_config: { username_ui_placeholder: 'Username', password_ui_placeholder: 'Password' },
    });
  });

  test('refuses alike what is wrong, and stops guessing', async () => {
    const unknown = await login('nobody', 'x');
    expect(await login('ann', '')).toMatchObject({ status: 401, body: unknown.body });
    expect(await login('*)(uid=*', annsPassword)).toMatchObject({ status: 401, body: unknown.body });
    for (let attempt = 0; attempt < 10; attempt++) expect((await login('eve', 'x')).status).toBe(401);
    // A worker that has just started counts from its own beginning.
    let late = await login('eve', 'x');
    for (let attempt = 0; attempt < 10 && late.status === 401; attempt++) late = await login('eve', 'x');
    expect(late.status).toBe(429);
    expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
    expect((await login('somebody else', 'x')).status).toBe(401);
  });
});

describe('login through an OpenID Connect provider', () => {
  test('is offered, leads there and back, and makes a user with the rights of its group', async () => {
    const setup = await svc.request('/api/v1/setup_lakefs');
    expect(JSON.parse(setup.body)).toMatchObject({
      login_config: { login_url: '/oidc/login', login_url_method: 'select' },
    });
    const begun = await svc.request('/oidc/login?next=%2Frepositories%2Flake');
    expect(begun).toMatchObject({ status: 302, headers: { 'cache-control': 'no-store' } });
    const answer = new URL(await logInAtOidcServer(begun.headers.location ?? '', 'ann'));
    const callback = answer.pathname + answer.search;
    expect(await svc.request(callback)).toMatchObject({ status: 302, headers: { location: '/auth/login' } });
    const back = await svc.request(callback, { headers: { cookie: cookiesOf(begun) } });
    expect(back).toMatchObject({ status: 302, headers: { location: '/repositories/lake' } });

    const session = { cookie: cookiesOf(back) };
    const user = await svc.request('/api/v1/user', { headers: session });
    expect(JSON.parse(user.body)).toMatchObject({ user: { id: 'ann', friendly_name: 'Ann Example' } });
    expect((await svc.request('/api/v1/repositories', { headers: session })).status).toBe(200);
    expect((await svc.request('/api/v1/auth/users', { headers: session })).status).toBe(401);

    const left = await svc.request('/logout', { headers: session });
    expect(left).toMatchObject({ status: 303 });
    expect(left.headers.location).toMatch(new RegExp(`^${provider.issuer}/session/end\\?.*client_id=svc`));
    const page = await fetch(left.headers.location ?? '');
    expect(page.status).toBe(200);
    expect((await svc.request('/api/v1/user', { headers: session })).status).toBe(401);
  });

  test('knows whom the provider has made beforehand, and lets nobody in whom it has deactivated', async () => {
    const scim = (method: string, path: string, body: object): Promise<Answer> =>
      svc.request(`/scim/v2${path}`, {
        method,
        headers: { authorization: `Bearer ${scimToken}`, 'content-type': 'application/scim+json' },
        body: JSON.stringify(body),
      });
    const pat = { userName: 'pat@example.com', externalId: 'pat', displayName: 'Pat Example', active: true };
    expect((await scim('POST', '/Users', pat)).status).toBe(201);
    const logIn = async (): Promise<Answer> => {
      const begun = await svc.request('/oidc/login');
      const answer = new URL(await logInAtOidcServer(begun.headers.location ?? '', 'pat'));
      return svc.request(answer.pathname + answer.search, { headers: { cookie: cookiesOf(begun) } });
    };
    const headers = { cookie: cookiesOf(await logIn()) };
    const user = await svc.request('/api/v1/user', { headers });
    expect(JSON.parse(user.body)).toMatchObject({ user: { id: 'pat@example.com' } });
    const off = { Operations: [{ op: 'replace', value: { active: false } }] };
    expect((await scim('PATCH', '/Users/pat@example.com', off)).status).toBe(200);
    expect((await svc.request('/api/v1/user', { headers })).status).toBe(401);
    expect((await logIn()).headers.location).toBe('/auth/login');
  });

  test('leaves those who come with access keys alone', async () => {
    const answer = await svc.request('/api/v1/user', { headers: { authorization: quickstartAuth } });
    expect(answer.status).toBe(200);
    expect(await svc.request('/logout')).toMatchObject({ headers: { location: '/auth/login' } });
  });

  test('a provider that is away stops no worker from starting', async () => {
    const away = await startOidcServer({ ...client, redirectUri: 'http://127.0.0.1/api/v1/oidc/callback' });
    const server = await startSvc(['--quickstart'], {
      SVC_SERVER_WORKERS: '1',
      SVC_AUTH_OIDC_ENABLED: 'true',
      SVC_AUTH_OIDC_CLIENT_ID: client.clientId,
      SVC_AUTH_OIDC_CLIENT_SECRET: client.clientSecret,
      SVC_AUTH_OIDC_URL: away.issuer,
      SVC_AUTH_OIDC_CALLBACK_BASE_URL: 'http://127.0.0.1',
    });
    away.stop();
    const before = server.childPids();
    for (const pid of before) process.kill(pid, 'SIGKILL');
    const ask = () => server.request('/api/v1/user', { headers: { authorization: quickstartAuth } });
    await waitUntil(() => server.childPids().some((pid) => !before.includes(pid)));
    await waitUntil(async () => (await ask()).status === 200, { what: 'the new worker' });
    expect((await server.request('/oidc/login')).status).toBe(503);
    await server.stop();
  });

  test('a provider that is not one stops the start with its address', async () => {
    const run = await runSvc(['run', '--quickstart'], {
      SVC_LISTEN_ADDRESS: '127.0.0.1:0',
      SVC_AUTH_OIDC_ENABLED: 'true',
      SVC_AUTH_OIDC_CLIENT_ID: client.clientId,
      SVC_AUTH_OIDC_CLIENT_SECRET: client.clientSecret,
      SVC_AUTH_OIDC_URL: `${provider.issuer}/nowhere`,
      SVC_AUTH_OIDC_CALLBACK_BASE_URL: 'http://127.0.0.1',
    });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`auth.oidc.url: ${provider.issuer}/nowhere does not describe`);
  });
});

describe('login through services of the operator', () => {
  const asAdmin = { authorization: quickstartAuth, 'content-type': 'application/json' };

  test('a remote authenticator knows names and passwords', async () => {
    const login = (secret_access_key: string) =>
      postJson('/api/v1/auth/login', { access_key_id: 'rita', secret_access_key });
    expect((await login('wrong')).status).toBe(401);
    const { token } = JSON.parse((await login(remotePassword)).body) as { token: string };
    const user = await svc.request('/api/v1/user', { headers: { authorization: `Bearer ${token}` } });
    expect(JSON.parse(user.body)).toMatchObject({ user: { id: 'rita' } });
  });

  test('an identity of a cloud becomes the user it is attached to', async () => {
    const login = (identity_token: string) =>
      postJson('/api/v1/auth/external/principal/login', { identityRequest: { identity_token } });
    expect((await login('of the role')).status).toBe(404);
    const attach = `/api/v1/auth/users/quickstart/external/principals?principalId=${encodeURIComponent(principal)}`;
    expect((await svc.request(attach, { method: 'POST', headers: asAdmin })).status).toBe(201);
    expect((await login('of the role')).status).toBe(200);
    const expired = await login('of yesterday');
    expect(expired).toMatchObject({ status: 403, body: '{"message":"session expired"}' });
  });

  test('an authorization code becomes the user with its external id', async () => {
    const login = (code: string, ttl_seconds?: number) =>
      postJson('/api/v1/sts/login', { code, state: 's', redirect_uri: 'r', ttl_seconds });
    expect((await login('nobody')).status).toBe(404);
    expect((await login('nobody', -1)).status).toBe(400);
  });

  test('a cookie of another service, signed with the shared secret', async () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const now = Math.floor(Date.now() / 1000);
    const session = { aud: 'external_session', iat: now, exp: now + 60, claims: { uid: 'sam' } };
    const signed = `${encode({ alg: 'HS256' })}.${encode(session)}`;
    const sign = (secret: string) => createHmac('sha256', secret).update(signed).digest('base64url');
    const ask = (secret: string) => {
      const cookie = `saml_auth_session=${signed}.${sign(secret)}`;
      return svc.request('/api/v1/user', { headers: { cookie } });
    };
    expect((await ask('another secret')).status).toBe(401);
    expect(JSON.parse((await ask(sharedSecret)).body)).toMatchObject({ user: { id: 'sam' } });
  });
});

describe('mail', () => {
  test('invites people who choose their password, and replaces forgotten ones, once per link', async () => {
    const capabilities = await svc.request('/api/v1/auth/capabilities');
    expect(JSON.parse(capabilities.body)).toEqual({ invite_user: true, forgot_password: true });
    const invite = (id: string) =>
      svc.request('/api/v1/auth/users', {
        method: 'POST',
        headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
        body: JSON.stringify({ id, invite_user: true }),
      });
    expect(await invite('no address')).toMatchObject({ status: 400 });
    const invited = await invite('Ivy@Example.com');
    expect(invited.status).toBe(201);
    expect(JSON.parse(invited.body)).toMatchObject({ id: 'ivy@example.com', email: 'ivy@example.com' });
    const tokenOf = (index: number) => {
      const mail = mailServer.mails[index];
      return mail === undefined ? '' : (linkIn(mail).searchParams.get('token') ?? '');
    };
    const choose = (token: string, newPassword: string) =>
      postJson('/api/v1/auth/password', { token, newPassword });
    const login = (password: string) =>
      postJson('/api/v1/auth/login', { access_key_id: 'ivy@example.com', secret_access_key: password });
    expect((await choose(tokenOf(0), 'short')).status).toBe(400);
    expect((await choose(tokenOf(0), 'the first password of ivy')).status).toBe(201);
    expect((await choose(tokenOf(0), 'the first password of ivy')).status).toBe(401);
    expect((await login('the first password of ivy')).status).toBe(200);

    const forgot = (email: string) => postJson('/api/v1/auth/password/forgot', { email });
    expect(await forgot('nobody@example.com')).toMatchObject({ status: 204, body: '' });
    expect(await forgot('ivy@example.com')).toMatchObject({ status: 204, body: '' });
    await expect.poll(() => mailServer.mails.length).toBe(2);
    const bearer = { authorization: `Bearer ${tokenOf(1)}` };
    expect((await svc.request('/api/v1/user', { headers: bearer })).status).toBe(401);
    expect((await choose(tokenOf(1), 'the next password of ivy')).status).toBe(201);
    expect((await login('the first password of ivy')).status).toBe(401);
    expect((await login('the next password of ivy')).status).toBe(200);
  });
});
