import { randomUUID } from 'node:crypto';
import { logInAtOidcServer, scriptedService, startOidcServer } from '@svc/testing';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { head, local, makeAuth } from '../../test/make-auth.ts';
import type { ClaimMapping, IdentityProvider } from './contract.ts';
import { OidcProvider } from './oidc.ts';

const base = 'http://svc.example';
const client = { clientId: 'svc', clientSecret: 'the secret of the client at the provider' };
const redirectUri = `${base}/api/v1/oidc/callback`;
const mapping: ClaimMapping = {
  source: 'oidc',
  idClaim: 'sub',
  required: {},
  defaultGroups: ['Viewers'],
  groupClaims: ['groups'],
  friendlyNameClaims: ['nickname', 'name'],
  persistFriendlyName: false,
};

/** Access control that uses a provider, and a browser with one cookie jar. */
async function withProvider(issuer: string, changes: Partial<ClaimMapping> = {}) {
  const provider = new OidcProvider({
    url: issuer,
    callbackBaseUrl: `${base}/`,
    authorizeParameters: { prompt_hint: 'x', client_id: 'mallory', state: 'chosen' },
    ...client,
  });
  await provider.check();
  const fixture = await makeAuth({ identityProvider: { provider, claims: { ...mapping, ...changes } } });
  await fixture.auth.setup.run({ username: 'admin' });
  const { providerLogin: login } = fixture.auth;
  if (login === undefined) throw new Error('there is a provider');
  const begin = async (next?: string) => {
    const { location, cookies } = await login.begin(next, local);
    return { location, cookie: (cookies[0] ?? '').split(';', 1)[0] ?? '', cookies };
  };
  const finish = (answer: string, cookie: string) =>
    login.finish({ ...head({ cookie }), query: new URL(answer).searchParams });
  const userOf = async (cookies: readonly string[]) => {
    const cookie = (cookies[0] ?? '').split(';', 1)[0] ?? '';
    return (await fixture.auth.authenticate(head({ cookie })))?.user;
  };
  return { ...fixture, login, begin, finish, userOf };
}

const refused = { location: '/auth/login', cookies: [expect.stringMatching(/^oidc_auth_session=;/)] };

describe('a login at a real provider', () => {
  it.each(['client_secret_basic', 'client_secret_post'] as const)(
    'makes a user with groups and a name, client by %s',
    async (tokenEndpointAuthMethod) => {
      const server = await startOidcServer({ ...client, redirectUri, tokenEndpointAuthMethod });
      onTestFinished(() => server.stop());
      server.people.set('ann', { name: 'Ann Example', groups: 'Developers, Viewers,' });
      const { auth, begin, finish, userOf } = await withProvider(server.issuer);
      const { location, cookie, cookies } = await begin('/repositories/lake?x=1#y');
      expect(cookies[0]).toMatch(/; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
      expect(cookies.slice(1).join()).toMatch(/^access_token=; .*,internal_auth_session=; /);
      const query = new URL(location).searchParams;
      expect(Object.fromEntries(query)).toMatchObject({
        response_type: 'code',
        scope: 'openid profile',
        client_id: 'svc',
        redirect_uri: redirectUri,
        code_challenge_method: 'S256',
        prompt_hint: 'x',
      });
      expect(query.get('state')).toMatch(/^[\w-]{43}$/);
      expect(cookie).not.toContain(query.get('state') ?? '');

      const answer = await logInAtOidcServer(location, 'ann');
      const back = await finish(answer, cookie);
      expect(back).toMatchObject({ location: '/repositories/lake?x=1#y' });
      expect(await userOf(back.cookies)).toMatchObject({
        username: 'ann',
        source: 'oidc',
        friendlyName: 'Ann Example',
      });
      expect((await auth.users.get('ann')).friendlyName ?? '').toBe('');
      const groups = (await auth.users.groups('ann')).results.map(({ id }) => id);
      expect(groups).toStrictEqual(['Developers', 'Viewers']);

      // The code is used up, also for the browser that got it.
      expect(await finish(answer, cookie)).toStrictEqual(refused);
    },
  );

  it('changes nothing at the second one, and stores the name only when told to', async () => {
    const server = await startOidcServer({ ...client, redirectUri });
    onTestFinished(() => server.stop());
    const { auth, begin, finish, log } = await withProvider(server.issuer, {
      persistFriendlyName: true,
      required: { department: 'R&D' },
    });
    const logIn = async (claims: Record<string, unknown>, next?: string) => {
      server.people.set('bob', claims);
      const { location, cookie } = await begin(next);
      return finish(await logInAtOidcServer(location, 'bob'), cookie);
    };
    expect(await logIn({ name: 'Bob' })).toStrictEqual(refused);
    expect(await logIn({ name: 'Bob', department: 'Sales' })).toStrictEqual(refused);
    expect(await logIn({ department: 'R&D', groups: ['Developers', 5] })).toStrictEqual(refused);
    await expect(auth.users.get('bob')).rejects.toMatchObject({ kind: 'not_found' });
    const first = { department: 'R&D', name: 'Bob', groups: ['Developers', 'Nowhere'] };
    expect(await logIn(first, '//evil.example/')).toMatchObject({ location: '/' });
    expect(await logIn({ department: 'R&D', name: 'Robert', groups: ['Admins'] })).toMatchObject({
      location: '/',
    });
    const groups = (await auth.users.groups('bob')).results.map(({ id }) => id);
    expect(groups).toStrictEqual(['Developers']);
    expect(await auth.users.get('bob')).toMatchObject({ friendlyName: 'Robert' });
    expect(log.lines.join('\n')).toContain('"group":"Nowhere"');
    expect(log.lines.join('\n')).not.toContain(client.clientSecret);
  });

  it('never takes over a user of another source', async () => {
    const server = await startOidcServer({ ...client, redirectUri });
    onTestFinished(() => server.stop());
    const { begin, finish, auth } = await withProvider(server.issuer);
    const { location, cookie } = await begin();
    expect(await finish(await logInAtOidcServer(location, 'admin'), cookie)).toStrictEqual(refused);
    expect(await auth.users.get('admin')).toMatchObject({ source: 'internal' });
  });

  it('counts only in the browser that began it, in time', async () => {
    const server = await startOidcServer({ ...client, redirectUri });
    onTestFinished(() => server.stop());
    const { begin, finish, clock } = await withProvider(server.issuer);
    const [victim, attacker] = [await begin(), await begin()];
    const answer = await logInAtOidcServer(attacker.location, 'mallory');
    expect(await finish(answer, victim.cookie)).toStrictEqual(refused);
    expect(await finish(answer, 'other=1')).toStrictEqual(refused);
    expect(await finish(answer, `${attacker.cookie.slice(0, -4)}AAAA`)).toStrictEqual(refused);
    const mixed = new URL(answer);
    mixed.searchParams.set('state', new URL(victim.location).searchParams.get('state') ?? '');
    expect(await finish(mixed.href, victim.cookie)).toStrictEqual(refused);
    clock.now += 601_000;
    expect(await finish(answer, attacker.cookie)).toStrictEqual(refused);
  });

  it('ends where the provider ends sessions, for its users only', async () => {
    const server = await startOidcServer({ ...client, redirectUri });
    onTestFinished(() => server.stop());
    const { login } = await withProvider(server.issuer);
    const identity = (source: string) => ({
      user: { username: 'x', createdAt: 0, source },
      method: 'cookie' as const,
    });
    const url = new URL((await login.logoutUrl(identity('oidc'))) ?? '');
    expect(url.href).toMatch(new RegExp(`^${server.issuer}/`));
    expect(Object.fromEntries(url.searchParams)).toStrictEqual({
      client_id: 'svc',
      post_logout_redirect_uri: `${base}/auth/login`,
    });
    expect(await login.logoutUrl(identity('internal'))).toBeUndefined();
  });

  it('leads to pages of this server only', async () => {
    const fake = await fakeProvider();
    const { begin, finish } = await withProvider(fake.issuer);
    for (const [next, expected] of [
      ['//evil.example', '/'],
      ['/\\evil.example', '/'],
      ['/\t/evil.example', '/'],
      ['https://evil.example/', '/'],
      ['javascript:alert(1)', '/'],
      ['/..//evil.example', '/'],
      ['/a/b?c=ü', '/a/b?c=%C3%BC'],
    ]) {
      const { location, cookie } = await begin(next);
      expect((await finish(fake.answerTo(location), cookie)).location).toBe(expected);
    }
  });
});

/** A provider that issues whatever token a test wants. */
async function fakeProvider() {
  const first = await generateKeyPair('RS256');
  const sign = { key: first.privateKey as CryptoKey | Uint8Array, kid: 'first', alg: 'RS256' };
  const state = {
    keys: [{ ...(await exportJWK(first.publicKey)), kid: 'first', alg: 'RS256' }] as JWK[],
    sign,
    claims: {} as Record<string, unknown>,
    nonce: '',
    token: undefined as string | undefined,
    metadata: {} as Record<string, unknown>,
  };
  const now = () => Math.floor(Date.now() / 1000);
  const issuer = await scriptedService(async ({ path }) => {
    if (path === '/.well-known/openid-configuration') {
      return {
        headers: { 'content-type': 'application/json' },
        body: {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
          ...state.metadata,
        },
      };
    }
    if (path === '/keys') {
      return { headers: { 'content-type': 'application/json' }, body: { keys: state.keys } };
    }
    const { key, kid, alg } = state.sign;
    const claims = {
      nonce: state.nonce,
      sub: randomUUID(),
      iss: issuer,
      aud: 'svc',
      exp: now() + 60,
      iat: now(),
    };
    const token = new SignJWT({ ...claims, ...state.claims }).setProtectedHeader({ alg, kid });
    return {
      headers: { 'content-type': 'application/json' },
      body: {
        access_token: 'a',
        token_type: 'bearer',
        id_token: state.token ?? (await token.sign(key)),
      },
    };
  });
  const answerTo = (location: string): string => {
    const { searchParams } = new URL(location);
    Object.assign(state, { sign, claims: {}, token: undefined, nonce: searchParams.get('nonce') });
    return `${redirectUri}?code=c&state=${searchParams.get('state')}`;
  };
  return { issuer, state, answerTo, now };
}
type FakeProvider = Awaited<ReturnType<typeof fakeProvider>>;

describe('a token of a provider', () => {
  let shared: { fake: FakeProvider; access: Awaited<ReturnType<typeof withProvider>> };
  beforeAll(async () => {
    const fake = await fakeProvider();
    shared = { fake, access: await withProvider(fake.issuer) };
  });

  async function attempt(change: (fake: FakeProvider) => unknown) {
    const { fake, access } = shared;
    const { location, cookie } = await access.begin();
    const answer = fake.answerTo(location);
    const users = async () => (await access.auth.users.list()).results.length;
    const before = await users();
    await change(fake);
    const { location: end } = await access.finish(answer, cookie);
    expect(access.log.lines.join('\n')).not.toContain('eyJ');
    return { end, isKnown: (await users()) > before };
  }

  it('is accepted as it should be, and when clocks differ a little', async () => {
    const accepted = { end: '/', isKnown: true };
    expect(await attempt(() => undefined)).toStrictEqual(accepted);
    expect(
      await attempt(({ state, now }) => {
        state.claims = { iat: now() + 30, exp: now() - 30 };
      }),
    ).toStrictEqual(accepted);
  });

  const others = {
    'another issuer': ({ state }) => {
      state.claims = { iss: 'https://evil.example' };
    },
    'another audience': ({ state }) => {
      state.claims = { aud: 'somebody-else' };
    },
    'another nonce': ({ state }) => {
      state.claims = { nonce: 'x' };
    },
    'no nonce': ({ state }) => {
      state.claims = { nonce: undefined };
    },
    'an end in the past': ({ state, now }) => {
      state.claims = { exp: now() - 120 };
    },
    'a number as subject': ({ state }) => {
      state.claims = { sub: 5 };
    },
    'a subject that is a path': ({ state }) => {
      state.claims = { sub: 'a/b' };
    },
    'a signature by a key of somebody else': async ({ state }) => {
      state.sign = { ...state.sign, key: (await generateKeyPair('RS256')).privateKey };
    },
    'the shared secret as key': ({ state }) => {
      state.sign = { key: Buffer.from(client.clientSecret), kid: 'first', alg: 'HS256' };
    },
    'the public key as shared secret': ({ state }) => {
      state.sign = { key: Buffer.from(JSON.stringify(state.keys[0])), kid: 'first', alg: 'HS256' };
    },
    'no signature': ({ state, issuer, now }) => {
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const claims = { sub: 'ann', iss: issuer, aud: 'svc', nonce: state.nonce, exp: now() + 60, iat: now() };
      state.token = `${encode({ alg: 'none' })}.${encode(claims)}.`;
    },
  } satisfies Record<string, (fake: FakeProvider) => unknown>;
  it.each(Object.entries(others))('is refused with %s', async (_what, change) => {
    expect(await attempt(change)).toStrictEqual({ end: '/auth/login', isKnown: false });
  });

  it.each(['&state=x', '&state=', ''])('is not asked for when the answer says "%s"', async (state) => {
    const { fake, access } = shared;
    const { location, cookie } = await access.begin();
    fake.answerTo(location);
    expect((await access.finish(`${redirectUri}?code=c${state}`, cookie)).location).toBe('/auth/login');
  });

  it('is refused when it is signed in a way that only the provider lists', async () => {
    const fake = await fakeProvider();
    fake.state.metadata = { id_token_signing_alg_values_supported: ['RS256', 'ML-DSA-44'] };
    const { begin, finish } = await withProvider(fake.issuer);
    const { publicKey, privateKey } = await generateKeyPair('ML-DSA-44');
    fake.state.keys.push({ ...(await exportJWK(publicKey)), kid: 'other', alg: 'ML-DSA-44' });
    const { location, cookie } = await begin();
    const answer = fake.answerTo(location);
    fake.state.sign = { key: privateKey, kid: 'other', alg: 'ML-DSA-44' };
    expect((await finish(answer, cookie)).location).toBe('/auth/login');
  });

  it.each(['&state=x', '&state=', ''])(
    'is not even asked for when the state is "%s", whatever a library makes of it',
    async (state) => {
      let asked = 0;
      const provider: IdentityProvider = {
        check: () => Promise.resolve(),
        authorizationUrl: (checks) => Promise.resolve(`https://idp.example/?state=${checks.state}`),
        claimsOf: () => {
          asked += 1;
          return Promise.resolve({ sub: 'mallory' });
        },
        logoutUrl: () => Promise.resolve(undefined),
      };
      const { auth } = await makeAuth({ identityProvider: { provider, claims: mapping } });
      const logins = auth.providerLogin;
      if (logins === undefined) throw new Error('there is a provider');
      const { location, cookies } = await logins.begin(undefined, local);
      const cookie = cookies.map((line) => line.split(';', 1)[0]).join('; ');
      const request = head({ cookie });
      const right = new URL(location).search.slice(1);
      await logins.finish({ ...request, query: new URLSearchParams(`code=c&${right}`) });
      expect(asked).toBe(1);
      const refused = await logins.finish({ ...request, query: new URLSearchParams(`code=c${state}`) });
      expect([asked, refused.location]).toStrictEqual([1, '/auth/login']);
    },
  );

  it('may be signed by a key that came after the last login', async () => {
    const fake = await fakeProvider();
    const { begin, finish } = await withProvider(fake.issuer);
    const logIn = async () => {
      const { location, cookie } = await begin();
      return (await finish(fake.answerTo(location), cookie)).location;
    };
    expect(await logIn()).toBe('/');
    const next = await generateKeyPair('RS256');
    fake.state.keys = [{ ...(await exportJWK(next.publicKey)), kid: 'next', alg: 'RS256' }];
    const { location, cookie } = await begin();
    const answer = fake.answerTo(location);
    fake.state.sign = { key: next.privateKey, kid: 'next', alg: 'RS256' };
    expect((await finish(answer, cookie)).location).toBe('/');
  });
});

describe('the description of a provider', () => {
  const open = (url: string) =>
    new OidcProvider({ url, callbackBaseUrl: base, authorizeParameters: {}, ...client }).check();

  it('must be there, and be its own', async () => {
    const fake = await fakeProvider();
    await expect(open(`${fake.issuer}/nowhere`)).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('auth.oidc.url: http://') as string,
    });
    fake.state.metadata = { issuer: 'https://evil.example' };
    await expect(open(fake.issuer)).rejects.toMatchObject({ kind: 'configuration' });
    fake.state.metadata = { jwks_uri: undefined };
    await expect(open(fake.issuer)).rejects.toThrow('jwks_uri');
    fake.state.metadata = {};
    await expect(open(fake.issuer)).resolves.toBeUndefined();
  });
});
