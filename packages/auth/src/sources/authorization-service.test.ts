import { createMemStore } from '@svc/kv';
import { startAuthorizationFake, type AuthorizationFake } from '@svc/testing';
import { expect, it, onTestFinished } from 'vitest';
import { actor, basic, bearer, local, makeAuth } from '../../test/make-auth.ts';
import { verifyJwt } from '../crypto/jwt.ts';
import { arn, one } from '../requirement.ts';
import { RemoteAuthorizationService } from './authorization-service.ts';

const secret = 'a secret of more than sixteen bytes';
const readAll = { effect: 'allow', action: ['fs:Read*'], resource: '*' };
const read = (repository: string) => one('fs:ReadRepository', arn.repository(repository));

function serviceAt(
  fake: AuthorizationFake,
  changes: Partial<{ token: string; supportsInvites: boolean }> = {},
) {
  return new RemoteAuthorizationService({
    endpoint: `${fake.endpoint}/`,
    token: '',
    sharedSecret: secret,
    healthCheckMs: 100,
    supportsInvites: false,
    ...changes,
  });
}

async function open(
  options: Parameters<typeof makeAuth>[0] = {},
  service: Parameters<typeof serviceAt>[1] = {},
) {
  const fake = await startAuthorizationFake();
  const made = await makeAuth({
    mode: 'external',
    encryptSecretKey: secret,
    authorizationService: serviceAt(fake, service),
    ...options,
  });
  onTestFinished(() => {
    made.auth.close();
    // Whatever was asked, such a service has it.
    expect(fake.violations).toStrictEqual([]);
  });
  return { ...made, fake };
}

it('keeps users, groups, policies, keys and principals in the service, and nothing here', async () => {
  const { auth, fake, kv } = await open();
  const { users, groups, policies, credentials, externalPrincipals } = auth;
  expect(await users.create({ username: 'ann' }, actor)).toMatchObject({
    username: 'ann',
    source: 'internal',
  });
  await expect(users.create({ username: 'ann' }, actor)).rejects.toMatchObject({ kind: 'already_exists' });
  for (const username of ['a/b', '..', '.']) {
    await expect(users.create({ username }, actor)).rejects.toMatchObject({ kind: 'invalid' });
    if (username !== 'a/b')
      await expect(users.delete(username, actor)).rejects.toMatchObject({ kind: 'invalid' });
  }
  expect(await groups.create({ id: 'G', description: 'd' }, actor)).toMatchObject({
    id: 'G',
    description: 'd',
  });
  expect(await policies.create({ id: 'P', statement: [readAll] }, actor)).toMatchObject({ id: 'P' });
  await expect(policies.create({ id: 'Q', statement: [] }, actor)).rejects.toMatchObject({ kind: 'invalid' });
  await groups.addMember('G', 'ann', actor);
  await groups.attachPolicy('G', 'P', actor);
  await users.attachPolicy('ann', 'P', actor);
  expect((await users.groups('ann')).results).toMatchObject([{ id: 'G' }]);
  expect((await groups.members('G')).results).toMatchObject([{ username: 'ann' }]);
  expect((await users.policies('ann', { effective: true })).results).toMatchObject([{ id: 'P' }]);
  expect(
    await auth.simulate({ username: 'ann', action: 'fs:ReadObject', resource: '*', sourceIp: '' }),
  ).toMatchObject({
    decision: { allowed: true },
    policies: [{ id: 'P', isDirect: true, groups: ['G'] }],
  });
  await users.detachPolicy('ann', 'P', actor);
  await groups.detachPolicy('G', 'P', actor);
  expect((await groups.policies('G')).results).toStrictEqual([]);
  expect(
    await policies.update('P', { id: 'P', statement: [{ ...readAll, effect: 'deny' }] }, actor),
  ).toMatchObject({
    statement: [{ effect: 'deny' }],
  });
  await groups.setAcl('G', 'Read', actor);
  expect(await groups.acl('G')).toBe('Read');
  await groups.setAcl('G', 'Write', actor);
  expect(await groups.acl('G')).toBe('Write');

  const key = await credentials.create('ann', actor);
  expect(await credentials.get('ann', key.accessKeyId)).toMatchObject({ username: 'ann', hasView: false });
  await externalPrincipals.attach('ann', 'arn:aws:sts::1:assumed-role/r', actor);
  expect(await externalPrincipals.get('arn:aws:sts::1:assumed-role/r')).toMatchObject({ username: 'ann' });
  expect((await externalPrincipals.list('ann')).results).toHaveLength(1);
  await externalPrincipals.detach('ann', 'arn:aws:sts::1:assumed-role/r', actor);
  await credentials.delete('ann', key.accessKeyId, actor);
  await groups.removeMember('G', 'ann', actor);
  await groups.delete('G', actor);
  await policies.delete('P', actor);
  for (const absent of [
    users.get('bob'),
    groups.get('G'),
    policies.get('P'),
    credentials.get('ann', 'AKIAX'),
  ])
    await expect(absent).rejects.toMatchObject({ kind: 'not_found' });
  expect([...fake.kept.users.keys()]).toStrictEqual(['ann']);
  for (const folder of ['users/', 'groups/', 'policies/', 'credentials/']) {
    for await (const page of kv.scan(Buffer.from('auth'), { prefix: Buffer.from(folder) }))
      expect(page).toEqual([]);
  }
});

it('lists what the service lists, page by page', async () => {
  const { auth, fake } = await open();
  for (const name of ['a1', 'a2', 'a3', 'b']) await auth.users.create({ username: name }, actor);
  const first = await auth.users.list({ prefix: 'a', amount: 2 });
  expect(first).toMatchObject({
    results: [{ username: 'a1' }, { username: 'a2' }],
    hasMore: true,
    nextOffset: 'a2',
  });
  expect(await auth.users.list({ prefix: 'a', amount: 2, after: 'a2' })).toMatchObject({
    results: [{ username: 'a3' }],
    hasMore: false,
    nextOffset: '',
  });
  for (const id of ['p1', 'p2', 'p3']) {
    await auth.policies.create({ id, statement: [{ ...readAll, resource: arn.repository(id) }] }, actor);
    await auth.users.attachPolicy('b', id, actor);
  }
  fake.pageSize = 1;
  const user = await auth.users.get('b');
  const may = (repository: string) =>
    auth.authorize({ user, method: 'basic' }, read(repository), local).then(({ allowed }) => allowed);
  // The last page allows as the first does.
  expect([await may('p1'), await may('p3'), await may('p4')]).toStrictEqual([true, true, false]);
});

it('recognizes keys of the service, asks once for what is asked often, and forgets what was changed', async () => {
  const { auth, fake } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  const { accessKeyId, secretAccessKey } = await auth.credentials.create('ann', actor);
  const call = () => auth.authenticate(basic(accessKeyId, secretAccessKey));
  expect(await call()).toMatchObject({ user: { username: 'ann' }, accessKeyId });
  const asked = fake.calls.length;
  await Promise.all([call(), call(), call()]);
  expect(fake.calls.length).toBe(asked);
  await expect(auth.authenticate(basic(accessKeyId, 'wrong'))).rejects.toMatchObject({
    kind: 'unauthenticated',
  });
  await expect(auth.authenticate(basic('..', 'x'))).rejects.toMatchObject({ kind: 'unauthenticated' });

  const session = await auth.login({ username: accessKeyId, password: secretAccessKey, client: local });
  expect(await auth.authenticate(bearer(session.token))).toMatchObject({ user: { username: 'ann' } });
  await auth.users.delete('ann', actor);
  await expect(call()).rejects.toMatchObject({ kind: 'unauthenticated' });
  await auth.users.create({ username: 'ann' }, actor);
  await expect(auth.authenticate(bearer(session.token))).rejects.toMatchObject({ kind: 'unauthenticated' });
});

it('finds the user of a key that is named by number, and no user by two', async () => {
  const { auth, fake } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  const key = await auth.credentials.create('ann', actor);
  fake.kept.users.set('ann', { ...fake.kept.users.get('ann'), id: 7 });
  const { user_name: _, ...byNumber } = fake.kept.credentials.get(key.accessKeyId) ?? {};
  fake.kept.credentials.set(key.accessKeyId, { ...byNumber, user_id: 7 });
  expect(await auth.credentialsFor(key.accessKeyId)).toMatchObject({ user: { username: 'ann' } });
  fake.kept.users.set('bob', { username: 'bob', email: 'x@example.com' });
  fake.kept.users.set('eve', { username: 'eve', email: 'x@example.com' });
  await expect(auth.users.find({ email: 'x@example.com' })).rejects.toMatchObject({ kind: 'unavailable' });
});

it('binds keys to buckets here', async () => {
  const { auth } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  let madeFor = '';
  const key = await auth.credentials.create('ann', actor, undefined, (id) => Promise.resolve((madeFor = id)));
  expect(madeFor).toBe(key.accessKeyId);
  await expect(auth.authenticate(basic(key.accessKeyId, key.secretAccessKey))).rejects.toMatchObject({
    message: expect.stringContaining('bound to a bucket') as string,
  });
  await auth.credentials.setHasView('ann', key.accessKeyId, false, actor);
  expect(await auth.authenticate(basic(key.accessKeyId, key.secretAccessKey))).toBeDefined();
});

it('ends sessions of users that it does not keep', async () => {
  const { auth, clock } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  const { accessKeyId, secretAccessKey } = await auth.credentials.create('ann', actor);
  const login = () => auth.login({ username: accessKeyId, password: secretAccessKey, client: local });
  const session = await login();
  clock.now += 5000;
  await auth.sessions.endAll('ann', actor);
  await expect(auth.authenticate(bearer(session.token))).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect(await auth.authenticate(bearer((await login()).token))).toBeDefined();
});

it.each([
  ['says 503', { status: 503 }],
  ['says 401', { status: 401 }],
  ['redirects', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
  ['says nothing', 'cut'],
  ['lists no list', { body: { results: 5 } }],
  [
    'knows an effect that is none',
    { body: { pagination: {}, results: [{ name: 'p', statement: [{ ...readAll, effect: 'Deny' }] }] } },
  ],
  ['has a policy without statements', { body: { pagination: {}, results: [{ name: 'p' }] } }],
] as const)('a service that %s is an error of ours, never a refusal or a grant', async (_name, answer) => {
  const { auth, fake } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  const user = await auth.users.get('ann');
  fake.instead = () => answer;
  await expect(auth.authorize({ user, method: 'basic' }, read('r'), local)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'internal server error',
  });
  fake.instead = undefined;
  // Failures are not kept.
  expect(await auth.authorize({ user, method: 'basic' }, read('r'), local)).toMatchObject({ allowed: false });
});

it('shows its token, or one signed with the secret both share, and names the request', async () => {
  const fake = await startAuthorizationFake('the token of the service');
  const client = serviceAt(fake, { token: 'the token of the service' });
  await client.check();
  expect(fake.calls.map(({ path }) => path)).toStrictEqual(['/api/v1/healthcheck', '/api/v1/config/version']);
  const other = await open();
  await Promise.all(
    ['r-1', 'r-2'].map(async (id) => {
      other.auth.enterRequest?.(id);
      await expect(other.auth.users.get(id)).rejects.toMatchObject({ kind: 'not_found' });
    }),
  );
  expect(
    other.fake.calls.map(({ path, headers }) => [path.split('/').at(-1), headers['x-request-id']]),
  ).toStrictEqual([
    ['r-1', 'r-1'],
    ['r-2', 'r-2'],
  ]);
  const [, token = ''] = (other.fake.calls[0]?.headers.authorization ?? '').split(' ');
  expect(verifyJwt(token, Buffer.from(secret))).toMatchObject({
    aud: ['auth-client'],
    sub: '_lakefs-internal',
  });
});

it.each([
  ['is not well', '/healthcheck', { status: 500 }],
  ['is gone', '/healthcheck', 'cut'],
  ['has no version', '/config/version', { body: {} }],
] as const)('does not start with a service that %s', async (_name, path, answer) => {
  const fake = await startAuthorizationFake();
  fake.instead = (call) => (call.path.endsWith(path) ? answer : undefined);
  await expect(serviceAt(fake).check()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringMatching(/^auth\.api\.endpoint: .*127\.0\.0\.1/) as string,
  });
});

it('needs no setup, and knows its secret key from the first start', async () => {
  const kv = createMemStore();
  const { auth, fake } = await open({ kv });
  expect(await auth.setup.state()).toStrictEqual({ initialized: true, commPrefsMissing: false });
  await expect(auth.setup.run({ username: 'admin' })).rejects.toMatchObject({ kind: 'already_initialized' });
  const again = makeAuth({
    kv,
    mode: 'external',
    encryptSecretKey: 'another secret of enough bytes',
    authorizationService: serviceAt(fake),
  });
  await expect(again).rejects.toThrow('auth.encrypt.secret_key does not match');
});

it('invites through the service where it can, and by our own mail with tokens that it counts', async () => {
  const { auth, fake } = await open({}, { supportsInvites: true });
  expect(await auth.inviteUser?.('Ivy@Example.com', actor)).toMatchObject({ username: 'ivy@example.com' });
  expect(fake.kept.users.get('ivy@example.com')).toMatchObject({ invite: true });

  const mails: string[] = [];
  const send = ({ text }: { text: string }) => Promise.resolve(void mails.push(text));
  const mail = { mailer: { send }, baseUrl: 'http://svc.example', everyMs: 0, burst: 10 };
  const own = await open({ mail });
  await own.auth.inviteUser?.('ann@example.com', actor);
  const token = /token=([\w.-]+)/.exec(mails[0] ?? '')?.[1] ?? '';
  const choose = () => own.auth.passwordMails?.setPassword(token, 'the password of ann', undefined);
  await choose();
  const login = { username: 'ann@example.com', password: 'the password of ann', client: local };
  expect(await own.auth.login(login)).toMatchObject({ username: 'ann@example.com' });
  await expect(choose()).rejects.toMatchObject({ kind: 'unauthenticated' });
  expect((await open()).auth.inviteUser).toBeUndefined();
});

it('tells no secret of a key that is brought along', async () => {
  const { auth, fake, log } = await open();
  await auth.users.create({ username: 'ann' }, actor);
  const pair = { accessKeyId: 'AKIAOWN', secretAccessKey: 'the secret of the operator' };
  await auth.credentials.create('ann', actor, pair);
  fake.instead = () => 'cut';
  const error: unknown = await auth.credentials.create('ann', actor, pair).catch((reason: unknown) => reason);
  const { message, cause } = error as Error;
  expect(`${message} ${(cause as Error).message} ${log.lines.join()}`).not.toMatch(
    /secret of the operator|secret_key/,
  );
});
