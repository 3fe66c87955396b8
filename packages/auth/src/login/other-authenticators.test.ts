import { describe, expect, it } from 'vitest';
import { actor, basic, bearer, local, makeAuth } from '../../test/make-auth.ts';
import { refused } from '../../test/with-alice.ts';

describe('other authenticators', () => {
  const directory = (source = 'ldap', defaultGroup = 'Viewers') => ({
    source,
    defaultGroup,
    asked: 0,
    authenticate({ username, password }: { username: string; password: string }) {
      this.asked++;
      if (password === 'unreachable') return Promise.reject(new Error('connect ECONNREFUSED'));
      return Promise.resolve(password === 'right' ? { userId: username } : undefined);
    },
  });

  it('make new users once, in their group, and refuse names of another source', async () => {
    const ldap = directory();
    const { auth } = await makeAuth({ passwordAuthenticators: [ldap] });
    await auth.setup.run({ username: 'admin' });
    const login = (username: string, password = 'right') => auth.login({ username, password, client: local });
    await expect(login('dave')).resolves.toMatchObject({ username: 'dave' });
    expect(await auth.users.get('dave')).toMatchObject({ source: 'ldap', friendlyName: 'dave' });
    expect((await auth.users.groups('dave')).results.map((group) => group.id)).toStrictEqual(['Viewers']);
    await auth.groups.removeMember('Viewers', 'dave', actor);
    await expect(login('dave')).resolves.toBeDefined();
    expect((await auth.users.groups('dave')).results).toStrictEqual([]);
    await expect(login('admin')).rejects.toMatchObject(refused);
    await expect(login('a/b')).rejects.toMatchObject(refused);
    await expect(login('dave', 'unreachable')).rejects.toMatchObject(refused);
    const before = ldap.asked;
    await expect(login('dave', '')).rejects.toMatchObject(refused);
    expect(ldap.asked).toBe(before);
  });

  it('leave nobody behind when the group of new users is missing', async () => {
    const { auth } = await makeAuth({ passwordAuthenticators: [directory('ldap', 'Nowhere')] });
    await expect(auth.login({ username: 'dave', password: 'right', client: local })).rejects.toMatchObject(
      refused,
    );
    await expect(auth.users.get('dave')).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('are tried in order and not asked again for every Basic request', async () => {
    const first = directory('ldap');
    const second = directory('remote_authenticator');
    second.authenticate = ({ username }) => Promise.resolve({ userId: `remote-${username}` });
    const { auth } = await makeAuth({ passwordAuthenticators: [first, second] });
    await auth.setup.run({ username: 'admin' });
    expect(await auth.authenticate(basic('dave', 'right'))).toMatchObject({ user: { username: 'dave' } });
    expect(await auth.authenticate(basic('dave', 'right'))).toMatchObject({ user: { username: 'dave' } });
    expect(first.asked).toBe(1);
    expect(await auth.authenticate(basic('erin', 'other'))).toMatchObject({
      user: { username: 'remote-erin' },
    });
  });

  it('include e-mail and password, only at the login call', async () => {
    const { auth, log } = await makeAuth();
    await auth.users.create({ username: 'carol', email: 'Carol@Example.com' }, actor);
    const login = (password: string) =>
      auth.login({ username: 'carol@example.COM', password, client: local });
    await expect(login('a good password')).rejects.toMatchObject(refused);
    await auth.users.setPassword('carol', 'a good password', actor);
    await expect(login('a good password')).resolves.toMatchObject({ username: 'carol' });
    await expect(login('another password')).rejects.toMatchObject(refused);
    await expect(auth.authenticate(basic('carol@example.com', 'a good password'))).rejects.toMatchObject(
      refused,
    );
    await expect(auth.users.setPassword('carol', 'short', actor)).rejects.toMatchObject({ kind: 'invalid' });
    expect(log.lines.join('\n')).not.toMatch(/good password|another password/);
  });
});

const origin = { ip: '127.0.0.1', agent: 'a client' };

describe('logins by the external authentication service', () => {
  it('are refused without one', async () => {
    const { auth } = await makeAuth();
    await expect(auth.loginSts({ code: 'c', state: 's', redirectUri: 'r', origin })).rejects.toMatchObject({
      kind: 'not_implemented',
    });
    await expect(auth.loginExternalPrincipal({ identityRequest: {}, origin })).rejects.toMatchObject({
      kind: 'not_implemented',
    });
  });

  it('give tokens of limited life', async () => {
    const { auth, clock } = await makeAuth({
      authenticationService: {
        stsLogin: ({ code }) => Promise.resolve({ externalId: code }),
        verifyPrincipal: () => Promise.resolve({ principalId: 'arn:aws:sts::1:assumed-role/r' }),
      },
    });
    await auth.users.create({ username: 'alice', source: 'oidc', externalId: 'ext|alice' }, actor);
    const seconds = async (session: Promise<{ expiresAt: number }>) =>
      (await session).expiresAt - Math.floor(clock.now / 1000);
    const sts = (ttlSeconds?: number, code = 'ext|alice') =>
      auth.loginSts({ code, state: 's', redirectUri: 'r', ttlSeconds, origin });
    expect(await seconds(sts())).toBe(3600);
    expect(await seconds(sts(100_000))).toBe(43_200);
    await expect(sts(-1)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(sts(60, 'ext|nobody')).rejects.toMatchObject({ kind: 'not_found' });

    const principal = (durationSeconds?: number) =>
      auth.loginExternalPrincipal({ identityRequest: {}, durationSeconds, origin });
    await expect(principal()).rejects.toMatchObject({ kind: 'not_found' });
    await auth.externalPrincipals.attach('alice', 'arn:aws:sts::1:assumed-role/r', actor);
    expect(await seconds(principal())).toBe(168 * 3600);
    expect(await seconds(principal(30 * 86_400))).toBe(168 * 3600);
    expect(await seconds(principal(60))).toBe(60);
    // Each is a session like any other.
    const { results } = await auth.sessions.list('alice');
    expect(results).toHaveLength(5);
    expect(results[0]).toMatchObject(origin);
    const ended = await principal();
    await auth.sessions.end('alice', ended.id, actor);
    await expect(auth.authenticate(bearer(ended.token))).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});
