import { createHmac, createSign, generateKeyPairSync } from 'node:crypto';
import { createMemStore, KvError } from '@svc/kv';
import { beforeAll, describe, expect, it } from 'vitest';
import { actor, basic, bearer, head, local, makeAuth } from '../../test/make-auth.ts';
import { alice, loginAs, refused, secretKey, withAlice } from '../../test/with-alice.ts';
import { signJwt } from '../crypto/jwt.ts';
import { KeyRing } from '../crypto/key-ring.ts';
import { deriveRootKey } from '../crypto/root-key.ts';

describe('Basic authentication', () => {
  it('takes a key and its secret, split at the first colon', async () => {
    const { auth } = await withAlice();
    expect(await auth.authenticate(basic('ALICE', 'alice:secret'))).toMatchObject({
      user: { username: 'alice' },
      method: 'basic',
      accessKeyId: 'ALICE',
    });
    const shouted = head({ authorization: `BASIC  ${Buffer.from('ALICE:alice:secret').toString('base64')}` });
    expect(await auth.authenticate(shouted)).toMatchObject({ user: { username: 'alice' } });
  });

  it('recognizes the same header again until its key or user changes', async () => {
    const { auth, clock } = await withAlice();
    const request = basic('ALICE', 'alice:secret');
    const connection = {};
    expect(auth.authenticateAtOnce(request.headers, connection)).toBeUndefined();
    const identity = await auth.authenticate(request);
    expect(auth.authenticateAtOnce(request.headers, connection)).toBe(identity);
    expect(auth.authenticateAtOnce(basic('ALICE', 'alice:secreT').headers, connection)).toBeUndefined();
    await expect(auth.authenticate(basic('ALICE', 'wrong'))).rejects.toMatchObject(refused);
    expect(auth.authenticateAtOnce(basic('ALICE', 'wrong').headers, connection)).toBeUndefined();
    expect(auth.authenticateAtOnce(request.headers, {})).toBe(identity);
    clock.now += 23_000;
    expect(auth.authenticateAtOnce(request.headers, connection)).toBeUndefined();
    const again = await auth.authenticate(request);
    expect(auth.authenticateAtOnce(request.headers, connection)).toBe(again);
    await auth.users.delete('alice', actor);
    expect(auth.authenticateAtOnce(request.headers, connection)).toBeUndefined();
    const uncached = await withAlice({ cache: { enabled: false, size: 10, ttlMs: 1000, jitterMs: 0 } });
    await uncached.auth.authenticate(request);
    expect(uncached.auth.authenticateAtOnce(request.headers, connection)).toBeUndefined();
  });

  it('refuses an unknown key and a wrong secret alike', async () => {
    const { auth } = await withAlice();
    const unknown = await auth.authenticate(basic('NOBODY', 'x')).catch((error: unknown) => error);
    const wrong = await auth.authenticate(basic('ALICE', 'x')).catch((error: unknown) => error);
    expect(unknown).toMatchObject(refused);
    expect({ ...(wrong as object) }).toStrictEqual({ ...(unknown as object) });
    await expect(auth.authenticate(basic('', ''))).rejects.toMatchObject(refused);
  });

  it('counts anything else in the header as absent', async () => {
    const { auth } = await withAlice();
    for (const authorization of [
      '',
      'Basic',
      'Basic !!!',
      'Basic YWJj',
      'Digest x',
      'AWS4-HMAC-SHA256 a b',
      'a b c',
    ]) {
      expect(await auth.authenticate(head({ authorization }))).toBeUndefined();
    }
    expect(await auth.authenticate(head({}))).toBeUndefined();
  });

  it('reports a failing store as our failure, and one that is away as that', async () => {
    const kv = createMemStore();
    const { auth } = await withAlice({ kv });
    kv.get = () => Promise.reject(new KvError('unavailable', 'the database is down'));
    for (const asked of [
      auth.authenticate(basic('OTHER', 'x')),
      auth.credentialsFor('OTHER'),
      auth.login({ username: 'OTHER', password: 'x', client: local }),
    ]) {
      await expect(asked).rejects.toThrow(KvError);
    }
    kv.get = () => Promise.reject(new Error('a bug'));
    await expect(auth.authenticate(basic('OTHER', 'x'))).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'internal server error',
    });
    await expect(auth.credentialsFor('OTHER')).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(auth.login({ username: 'OTHER', password: 'x', client: local })).rejects.toMatchObject({
      kind: 'unavailable',
    });
  });

  it('gives signatures the secret of a key, and nothing for a key whose user is gone', async () => {
    const { auth } = await withAlice();
    expect(await auth.credentialsFor('ALICE')).toMatchObject({ ...alice, user: { username: 'alice' } });
    expect(await auth.credentialsFor('NOBODY')).toBeUndefined();
    expect(await auth.credentialsFor('')).toBeUndefined();
    await auth.users.delete('alice', actor);
    expect(await auth.credentialsFor('ALICE')).toBeUndefined();
  });
});

describe('login tokens', () => {
  let loginKey: Buffer;
  beforeAll(async () => {
    loginKey = new KeyRing(await deriveRootKey(secretKey)).keyFor('svc/jwt-login');
  });

  it('last as long as configured', async () => {
    const fixture = await withAlice();
    const session = await loginAs(fixture);
    expect(session.expiresAt - fixture.clock.now / 1000).toBe(168 * 3600);
    expect(await fixture.auth.authenticate(bearer(session.token))).toMatchObject({
      user: { username: 'alice' },
      method: 'bearer',
      accessKeyId: 'ALICE',
    });
    const short = await withAlice({ loginDurationMs: 48 * 3_600_000 });
    expect((await loginAs(short)).expiresAt - short.clock.now / 1000).toBe(48 * 3600);
    short.clock.now += 48 * 3_600_000;
    await expect(short.auth.authenticate(bearer((await loginAs(fixture)).token))).resolves.toBeDefined();
    fixture.clock.now += 168 * 3_600_000 - 1;
    await expect(fixture.auth.authenticate(bearer(session.token))).resolves.toBeDefined();
    fixture.clock.now += 1;
    await expect(fixture.auth.authenticate(bearer(session.token))).rejects.toMatchObject(refused);
  });

  it('carry the claims of the contract', async () => {
    const fixture = await withAlice();
    const { token } = await loginAs(fixture);
    const [header, body] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    const now = fixture.clock.now / 1000;
    expect(JSON.parse(header!)).toStrictEqual({ alg: 'HS256', typ: 'JWT' });
    expect(JSON.parse(body!)).toStrictEqual({
      iss: 'auth',
      aud: 'login',
      sub: 'alice',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      iat: now,
      exp: now + 168 * 3600,
      akid: 'ALICE',
    });
  });

  it('are refused when forged, foreign or incomplete', async () => {
    const { auth, clock } = await withAlice();
    const now = Math.floor(clock.now / 1000);
    const claims = { iss: 'auth', sub: 'alice', iat: now, exp: now + 60 };
    const accepted = async (token: string) => {
      try {
        await auth.authenticate(bearer(token));
        return true;
      } catch (error) {
        expect(error).toMatchObject(refused);
        return false;
      }
    };
    expect(await accepted(signJwt(claims, loginKey))).toBe(true);
    expect(await accepted(signJwt({ ...claims, aud: 'login' }, loginKey))).toBe(true);
    expect(await accepted(signJwt({ ...claims, aud: 'reset_password' }, loginKey))).toBe(false);
    expect(await accepted(signJwt({ ...claims, aud: ['login'] }, loginKey))).toBe(false);
    expect(await accepted(signJwt({ ...claims, exp: undefined }, loginKey))).toBe(false);
    expect(await accepted(signJwt({ ...claims, exp: now - 1 }, loginKey))).toBe(false);
    expect(await accepted(signJwt({ ...claims, sub: 'nobody' }, loginKey))).toBe(false);
    expect(await accepted(signJwt({ ...claims, akid: 'BOB' }, loginKey))).toBe(false);
    expect(await accepted(signJwt(claims, Buffer.from(secretKey)))).toBe(false);
    const resetKey = new KeyRing(await deriveRootKey(secretKey)).keyFor('svc/jwt-reset');
    expect(await accepted(signJwt(claims, resetKey))).toBe(false);

    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = part(claims);
    for (const [alg, hash] of [
      ['HS256', 'sha256'],
      ['HS384', 'sha384'],
      ['HS512', 'sha512'],
    ] as const) {
      const signed = `${part({ alg })}.${body}`;
      expect(
        await accepted(`${signed}.${createHmac(hash, loginKey).update(signed).digest('base64url')}`),
      ).toBe(true);
    }
    expect(await accepted(`${part({ alg: 'none' })}.${body}.`)).toBe(false);
    expect(await accepted(`${part({ alg: 'toString' })}.${body}.`)).toBe(false);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const signed = `${part({ alg: 'RS256' })}.${body}`;
    const signature = createSign('sha256').update(signed).sign(privateKey, 'base64url');
    expect(await accepted(`${signed}.${signature}`)).toBe(false);
    expect(await accepted('garbage')).toBe(false);
    const good = signJwt(claims, loginKey);
    expect(await accepted(good.slice(0, -2))).toBe(false);
    expect(await accepted(good.replace(/\.[^.]*\./, `.${part({ ...claims, sub: 'admin' })}.`))).toBe(false);

    await auth.users.delete('alice', actor);
    expect(await accepted(good)).toBe(false);
  });

  it('end with their key; others of the user live on', async () => {
    const fixture = await withAlice();
    const { auth } = fixture;
    const second = await auth.credentials.create('alice', actor);
    const first = await loginAs(fixture);
    const other = await loginAs(fixture, second.secretAccessKey, second.accessKeyId);
    await auth.credentials.delete('alice', 'ALICE', actor);
    await expect(auth.authenticate(bearer(first.token))).rejects.toMatchObject(refused);
    await expect(auth.authenticate(bearer(other.token))).resolves.toBeDefined();
  });

  it('end with a password change; a login right after it works', async () => {
    const fixture = await withAlice();
    const { auth, clock } = fixture;
    const before = await loginAs(fixture);
    await auth.users.setPassword('alice', 'a new password', actor);
    await expect(auth.authenticate(bearer(before.token))).rejects.toMatchObject(refused);
    const after = await loginAs(fixture);
    await expect(auth.authenticate(bearer(after.token))).resolves.toBeDefined();
    clock.now += 1000;
    await expect(auth.authenticate(bearer(after.token))).resolves.toBeDefined();
  });
});

describe('cookies', () => {
  it('carry a session, and an Authorization header comes before them', async () => {
    const fixture = await withAlice();
    const { auth } = fixture;
    const { token } = await loginAs(fixture);
    for (const name of ['access_token', 'internal_auth_session']) {
      expect(await auth.authenticate(head({ cookie: `a=b; ${name}=${token}` }))).toMatchObject({
        method: 'cookie',
      });
    }
    const { authorization } = basic('ALICE', 'alice:secret').headers as { authorization: string };
    const invalid = `access_token=${token}x`;
    expect(await auth.authenticate(head({ authorization, cookie: invalid }))).toMatchObject({
      method: 'basic',
    });
    await expect(auth.authenticate(head({ cookie: invalid }))).rejects.toMatchObject(refused);
    await expect(
      auth.authenticate(head({ authorization: 'Bearer x', cookie: `access_token=${token}` })),
    ).rejects.toMatchObject(refused);
    expect(await auth.authenticate(head({ cookie: 'access_token=garbage' }))).toBeUndefined();
    expect(
      await auth.authenticate(head({ cookie: `access_token=; internal_auth_session=${token}` })),
    ).toBeDefined();
  });

  it('change nothing for other sites', async () => {
    const fixture = await withAlice();
    const { auth } = fixture;
    const { token } = await loginAs(fixture);
    const cookie = `access_token=${token}`;
    const send = (headers: Record<string, string>, method = 'DELETE', secure = false) =>
      auth
        .authenticate({ ...head({ cookie, ...headers }, method), client: { ip: '127.0.0.1', secure } })
        .then(
          () => 'allowed',
          (error: { kind: string; message: string }) => `${error.kind}: ${error.message}`,
        );
    const crossOrigin = 'forbidden: cross-origin request refused';
    expect(await send({ origin: 'https://evil.example' })).toBe(crossOrigin);
    expect(await send({ origin: 'null' })).toBe(crossOrigin);
    expect(await send({ origin: 'https://svc.example' })).toBe(crossOrigin);
    expect(await send({ origin: 'http://svc.example' })).toBe('allowed');
    expect(await send({ origin: 'https://svc.example' }, 'PUT', true)).toBe('allowed');
    expect(await send({ origin: 'http://localhost:8000', host: 'localhost:8000' })).toBe('allowed');
    expect(await send({ 'sec-fetch-site': 'cross-site' })).toBe(crossOrigin);
    expect(await send({ 'sec-fetch-site': 'same-site' })).toBe(crossOrigin);
    expect(await send({ 'sec-fetch-site': 'same-origin' })).toBe('allowed');
    expect(await send({})).toBe('allowed');
    expect(await send({ origin: 'https://evil.example' }, 'GET')).toBe('allowed');
    expect(await send({ origin: 'https://evil.example', authorization: `Bearer ${token}` })).toBe('allowed');
  });

  it('are written with the attributes that keep them safe', async () => {
    const fixture = await withAlice();
    const session = await loginAs(fixture);
    expect(fixture.auth.sessionCookie(session, local)).toBe(
      `access_token=${session.token}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
    );
    const strict = await makeAuth({ cookieDomain: 'example.com' });
    const cookies = strict.auth.logoutCookies({ ip: '127.0.0.1', secure: true });
    expect(cookies.map((cookie) => cookie.split('=')[0])).toStrictEqual([
      'access_token',
      'internal_auth_session',
      'saml_auth_session',
    ]);
    for (const cookie of cookies) {
      expect(cookie).toMatch(/Max-Age=0;.*; Path=\/; Domain=example\.com; HttpOnly; SameSite=Lax; Secure$/);
    }
  });
});

describe('client addresses', () => {
  it('are taken from headers only behind a trusted proxy', async () => {
    const { auth: plain } = await makeAuth();
    const headers = { 'x-forwarded-for': '10.1.2.3', 'x-forwarded-proto': 'https', 'x-real-ip': '10.9.9.9' };
    expect(plain.clientOf('11.0.0.1', false, headers)).toStrictEqual({ ip: '11.0.0.1', secure: false });
    const { auth } = await makeAuth({ trustedProxies: ['192.168.0.0/16', '::1'] });
    expect(auth.clientOf('11.0.0.1', false, headers)).toStrictEqual({ ip: '11.0.0.1', secure: false });
    expect(auth.clientOf('::ffff:192.168.1.1', false, headers)).toStrictEqual({
      ip: '10.1.2.3',
      secure: true,
    });
    const chain = { 'x-forwarded-for': '1.2.3.4, 10.1.2.3:4711, 192.168.7.7' };
    expect(auth.clientOf('::1', true, chain)).toStrictEqual({ ip: '10.1.2.3', secure: true });
    expect(auth.clientOf('::1', false, { 'x-real-ip': '10.9.9.9' }).ip).toBe('10.9.9.9');
    expect(auth.clientOf('::1', false, { 'x-forwarded-for': '10.1.1.1, garbage' }).ip).toBe('::1');
    expect(auth.clientOf('::1', false, {}).ip).toBe('::1');
  });
});
