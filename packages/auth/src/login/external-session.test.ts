import { describe, expect, it } from 'vitest';
import { actor, head, makeAuth } from '../../test/make-auth.ts';
import { refused, secretKey } from '../../test/with-alice.ts';
import { signJwt } from '../crypto/jwt.ts';

const mapping = {
  source: 'saml',
  idClaim: 'uid',
  required: { tenant: 'acme' },
  defaultGroups: ['Viewers'],
  groupClaims: ['roles', 'groups'],
  friendlyNameClaims: ['name'],
  persistFriendlyName: false,
};

describe('a session of another service', () => {
  async function open() {
    const fixture = await makeAuth({ externalSession: mapping });
    await fixture.auth.setup.run({ username: 'admin' });
    const now = Math.floor(fixture.clock.now / 1000);
    const session = { aud: 'external_session', iat: now, exp: now + 60 };
    const claims = { uid: 'sam', tenant: 'acme', name: 'Sam', groups: ['Developers'] };
    const ask = (changes: object = {}, changedClaims: object = {}, key = secretKey) => {
      const token = signJwt(
        { ...session, claims: { ...claims, ...changedClaims }, ...changes },
        Buffer.from(key),
      );
      return fixture.auth.authenticate(head({ cookie: `saml_auth_session=${token}` }));
    };
    return { ...fixture, ask, now };
  }

  it('brings a user with its groups and its name', async () => {
    const { auth, ask } = await open();
    expect(await ask()).toMatchObject({
      user: { username: 'sam', source: 'saml', friendlyName: 'Sam' },
      method: 'external_cookie',
    });
    await auth.groups.removeMember('Developers', 'sam', actor);
    expect(await ask()).toMatchObject({ user: { username: 'sam', friendlyName: 'Sam' } });
    expect((await auth.users.groups('sam')).results).toStrictEqual([]);
  });

  it('ends with its time, with a logout and with its user', async () => {
    const { auth, ask, clock, now } = await open();
    expect(await ask()).toBeDefined();
    await auth.users.endSessions('sam', actor);
    await expect(ask()).rejects.toMatchObject(refused);
    clock.now += 2000;
    expect(await ask({ iat: now + 2 })).toBeDefined();
    clock.now += 60_000;
    await expect(ask()).rejects.toMatchObject(refused);
  });

  it('is refused when anything about it is wrong, and makes nobody', async () => {
    const { auth, ask, now } = await open();
    const attempts = [
      ask({ aud: 'login' }),
      ask({ aud: undefined }),
      ask({ exp: undefined }),
      ask({ exp: now }),
      ask({ claims: undefined }),
      ask({}, {}, 'another secret of some length'),
      ask({}, { tenant: 'other' }),
      ask({}, { uid: 7 }),
      ask({}, { uid: 'a/b' }),
      ask({}, { uid: 'admin' }),
      ask({}, { roles: ['Admins', {}] }),
      auth.authenticate(head({ cookie: 'saml_auth_session=garbage' })),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject(refused);
    expect((await auth.users.list()).results.map(({ username }) => username)).toStrictEqual(['admin']);
  });

  it('is nothing where none is configured, and no login of ours', async () => {
    const { auth } = await makeAuth();
    expect(await auth.authenticate(head({ cookie: 'saml_auth_session=x.y.z' }))).toBeUndefined();
  });

  it('may not be used by another site', async () => {
    const { auth, now } = await open();
    const claims = { uid: 'sam', tenant: 'acme' };
    const token = signJwt(
      { aud: 'external_session', iat: now, exp: now + 60, claims },
      Buffer.from(secretKey),
    );
    const headers = { cookie: `saml_auth_session=${token}`, origin: 'https://evil.example' };
    await expect(auth.authenticate(head(headers, 'POST'))).rejects.toMatchObject({ kind: 'forbidden' });
  });
});
