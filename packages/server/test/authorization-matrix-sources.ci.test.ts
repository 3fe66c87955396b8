import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  freePort,
  linkIn,
  logInAtOidcServer,
  orSkipReason,
  startAuthorizationFake,
  startMailServer,
  startOidcServer,
  startSlapd,
  certifyLoopback,
  tempDir,
} from '@svc/testing';
import { afterAll, expect, test } from 'vitest';
import {
  admin,
  apiProbe,
  contractRows,
  gatewayProbe,
  manage,
  newUser,
  prepare,
  withFacts,
  withParams,
  type Caller,
  type Probe,
} from './authorization-matrix-support.ts';
import { gatewayMatrix } from './authorization-matrix-gateway.ts';
import { matrix, type MatrixRow } from './authorization-matrix-table.ts';
import { startSvc, type RunningSvc } from './start-server.ts';

// What people may do comes from their groups, wherever they come from themselves.

const people = 'ou=people,dc=example,dc=com';
const directory = await orSkipReason('OpenLDAP', async () => {
  const entries = `dn: dc=example,dc=com
objectClass: domain
dc: example

dn: ${people}
objectClass: organizationalUnit
ou: people

dn: uid=lea,${people}
objectClass: inetOrgPerson
cn: lea
sn: lea
uid: lea
userPassword: the password of lea
`;
  return startSlapd({ entries, certificate: await certifyLoopback(tempDir()) });
});
afterAll(() => directory?.dispose());

const expected = JSON.parse(
  readFileSync(join(import.meta.dirname, 'authorization-matrix-groups.json'), 'utf8'),
) as Record<string, string>;

async function probesOf(server: RunningSvc, elsewhere: string): Promise<Probe[]> {
  const facts = await prepare(server, elsewhere);
  const api = [...contractRows()].flatMap(([name, operation]) => {
    const row = withFacts(matrix[name] as MatrixRow, facts);
    return row.requires === 'open' ? [] : [apiProbe(name, operation, withParams(row, facts), server)];
  });
  return [...api, ...Object.entries(gatewayMatrix).map(([name, row]) => gatewayProbe(name, row, server))];
}

/** The rows where members of a group are answered otherwise than the group may expect. */
async function strayRows(
  probes: readonly Probe[],
  group: string,
  logIn: () => Promise<Caller>,
): Promise<string[]> {
  const stray: string[] = [];
  let caller = await logIn();
  for (const probe of probes) {
    let answer = await probe.send(caller);
    if (answer.message === 'error authenticating request') {
      // Some rows end sessions, the caller's own among them.
      caller = await logIn();
      answer = await probe.send(caller);
    }
    const may = expected[probe.name]?.split(' ').includes(group) === true;
    if (answer.denied === may) stray.push(`${probe.name}: ${answer.status} ${answer.message ?? ''}`);
  }
  return stray;
}

const importing = (folder: string) => ({
  SVC_BLOCKSTORE_LOCAL_IMPORT_ENABLED: 'true',
  SVC_BLOCKSTORE_LOCAL_ALLOWED_EXTERNAL_PREFIXES: folder,
  SVC_DATABASE_LOCAL_SYNC_WRITES: 'false',
  SVC_SERVER_WORKERS: '1',
});

test('of a directory, of an OpenID Connect provider, and invited by mail', async () => {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const client = { clientId: 'svc', clientSecret: 'the secret of svc at its provider' };
  const provider = await startOidcServer({ ...client, redirectUri: `${base}/api/v1/oidc/callback` });
  provider.people.set('olga', { groups: ['Developers'] });
  const mail = await startMailServer();
  const elsewhere = tempDir();
  const server = await startSvc(['--quickstart'], {
    ...importing(elsewhere),
    SVC_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    SVC_AUTH_OIDC_ENABLED: 'true',
    SVC_AUTH_OIDC_CLIENT_ID: client.clientId,
    SVC_AUTH_OIDC_CLIENT_SECRET: client.clientSecret,
    SVC_AUTH_OIDC_URL: provider.issuer,
    SVC_AUTH_OIDC_CALLBACK_BASE_URL: base,
    SVC_AUTH_OIDC_INITIAL_GROUPS_CLAIM_NAME: 'groups',
    SVC_EMAIL_SMTP_HOST: '127.0.0.1',
    SVC_EMAIL_SMTP_PORT: String(mail.port),
    SVC_EMAIL_SENDER: 'svc@example.com',
    SVC_EMAIL_SVC_BASE_URL: base,
    ...(directory !== undefined && {
      SVC_AUTH_LDAP_SERVER_ENDPOINT: directory.address['url'] ?? '',
      SVC_AUTH_LDAP_BIND_DN: directory.address['bindDn'] ?? '',
      SVC_AUTH_LDAP_BIND_PASSWORD: directory.address['bindPassword'] ?? '',
      SVC_AUTH_LDAP_USERNAME_ATTRIBUTE: 'uid',
      SVC_AUTH_LDAP_USER_BASE_DN: people,
    }),
  });
  const api = (await probesOf(server, elsewhere)).filter(({ name }) => !name.startsWith('s3 '));
  const post = (path: string, body: object) =>
    server.request(`/api/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const lea = `Basic ${Buffer.from('lea:the password of lea').toString('base64')}`;
  if (directory !== undefined)
    expect(await strayRows(api, 'Viewers', () => Promise.resolve({ authorization: lea }))).toStrictEqual([]);

  const olga = async (): Promise<Caller> => {
    const cookies = ({ headers }: Awaited<ReturnType<typeof post>>): string =>
      (headers['set-cookie'] ?? []).map((line) => line.split(';', 1)[0] ?? '').join('; ');
    const begun = await server.request('/oidc/login');
    const answer = new URL(await logInAtOidcServer(begun.headers.location ?? '', 'olga'));
    const back = await server.request(answer.pathname + answer.search, {
      headers: { cookie: cookies(begun) },
    });
    return { authorization: `Bearer ${/access_token=([^;]+)/.exec(cookies(back))?.[1]}` };
  };
  expect(await strayRows(api, 'Developers', olga)).toStrictEqual([]);

  await manage(server, 'POST', '/auth/users', { id: 'ivy@example.com', invite_user: true });
  await manage(server, 'PUT', '/auth/groups/SuperUsers/members/ivy@example.com');
  const [invitation] = mail.mails;
  const token = invitation === undefined ? '' : linkIn(invitation).searchParams.get('token');
  expect((await post('/auth/password', { token, newPassword: 'the password of ivy' })).status).toBe(201);
  const ivy = async (): Promise<Caller> => {
    const login = { access_key_id: 'ivy@example.com', secret_access_key: 'the password of ivy' };
    const { token: session } = JSON.parse((await post('/auth/login', login)).body) as { token: string };
    return { authorization: `Bearer ${session}` };
  };
  expect(await strayRows(api, 'SuperUsers', ivy)).toStrictEqual([]);
  await server.stop();
  provider.stop();
  mail.stop();
}, 120_000);

test('of an authorization service', async () => {
  const fake = await startAuthorizationFake();
  const elsewhere = tempDir();
  const server = await startSvc(['--quickstart'], importing(elsewhere));
  // The service keeps what a new installation has.
  const list = async (path: string) =>
    JSON.parse(await manage(server, 'GET', `${path}?amount=1000`)) as { results: { id: string }[] };
  for (const { id, ...policy } of (await list('/auth/policies')).results)
    fake.kept.policies.set(id, { name: id, ...policy });
  for (const { id } of (await list('/auth/groups')).results) {
    fake.kept.groups.set(id, { name: id });
    const { results } = await list(`/auth/groups/${id}/policies`);
    fake.kept.groupPolicies.set(id, new Set(results.map((policy) => policy.id)));
  }
  await server.stop();
  fake.kept.users.set('admin', { username: 'admin' });
  fake.kept.memberships.set('admin', new Set(['Admins']));
  fake.kept.credentials.set(admin.accessKeyId, {
    access_key_id: admin.accessKeyId,
    secret_access_key: admin.secretAccessKey,
    user_name: 'admin',
  });

  const external = await startSvc(['--quickstart'], {
    ...importing(elsewhere),
    SVC_AUTH_UI_CONFIG_RBAC: 'external',
    SVC_AUTH_API_ENDPOINT: fake.endpoint,
  });
  const probes = await probesOf(external, elsewhere);
  for (const group of fake.kept.groups.keys()) {
    if (!['Admins', 'SuperUsers', 'Developers', 'Viewers'].includes(group)) continue;
    const name = `of-${group.toLowerCase()}`;
    const key = await newUser(external, name);
    await manage(external, 'PUT', `/auth/groups/${group}/members/${name}`);
    expect([group, await strayRows(probes, group, () => Promise.resolve(key))]).toStrictEqual([group, []]);
  }
  expect(fake.violations).toStrictEqual([]);
  await external.stop();
}, 120_000);
