import { scriptedService, type ServiceAnswer, type ServiceCall } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { RemoteAuthenticationService } from './authentication-service.ts';
import { RemoteAuthenticator } from './remote-authenticator.ts';

const origin = { ip: '127.0.0.1', agent: 'a client' };

/** A service that answers with `next` and remembers what it was asked. */
async function service(next: ServiceAnswer = {}) {
  const state = { next, calls: [] as ServiceCall[] };
  const url = await scriptedService((call) => {
    state.calls.push(call);
    return state.next;
  });
  return { url, state };
}

describe('a remote authenticator', () => {
  async function open(next?: ServiceAnswer, timeoutMs = 10_000) {
    const { url, state } = await service(next);
    const remote = new RemoteAuthenticator({ endpoint: `${url}/check`, defaultGroup: 'Viewers', timeoutMs });
    const ask = () => remote.authenticate({ username: 'ann', password: 'the password', requestId: 'r-1' });
    return { ask, state };
  }

  it('names the user, or takes the name that was typed', async () => {
    const { ask, state } = await open();
    expect(await ask()).toStrictEqual({ userId: 'ann' });
    state.next = { status: 201, body: { external_user_identifier: 'X' } };
    expect(await ask()).toStrictEqual({ userId: 'X' });
    state.next = { body: { external_user_identifier: '' } };
    expect(await ask()).toStrictEqual({ userId: 'ann' });
    expect(state.calls[0]).toMatchObject({
      method: 'POST',
      path: '/check',
      headers: { 'content-type': 'application/json', 'x-request-id': 'r-1' },
      body: '{"username":"ann","password":"the password"}',
    });
  });

  it('refuses with anything but success and an object, and the password follows no redirection', async () => {
    const { ask, state } = await open();
    const target = await service();
    for (const status of [401, 403, 404]) {
      state.next = { status };
      expect(await ask()).toBeUndefined();
    }
    state.next = { status: 204 };
    expect(await ask()).toBeUndefined();
    state.next = { body: ['ann'] };
    expect(await ask()).toBeUndefined();
    for (const status of [302, 307]) {
      state.next = { status, headers: { location: target.url } };
      expect(await ask()).toBeUndefined();
    }
    expect(target.state.calls).toStrictEqual([]);
  });

  it('that fails, is gone, is silent or talks too much could not be asked', async () => {
    const { ask, state } = await open({ status: 503 });
    await expect(ask()).rejects.toThrow('503');
    state.next = 'cut';
    await expect(ask()).rejects.toThrow();
    state.next = { body: { much: 'x'.repeat(70_000) } };
    await expect(ask()).rejects.toThrow('longer than 65536 bytes');
    await expect((await open('hang', 50)).ask()).rejects.toThrow(/time/);
  });
});

describe('the authentication service', () => {
  async function open(next?: ServiceAnswer, externalPrincipals = true) {
    const { url, state } = await service(next);
    const opened = new RemoteAuthenticationService({
      endpoint: `${url}/api/v1/`,
      externalPrincipals,
      requiredClaims: { department: 'R&D' },
    });
    return { opened, state };
  }

  it('turns an authorization code into whom it stands for', async () => {
    const { opened, state } = await open({ body: { claims: { sub: 'ext|ann', department: 'R&D' } } });
    const login = () =>
      opened.stsLogin({ code: 'c', state: 's', redirectUri: 'r', origin, requestId: 'r-2' });
    expect(await login()).toStrictEqual({ externalId: 'ext|ann' });
    expect(state.calls[0]).toMatchObject({ path: '/api/v1/sts/login', headers: { 'x-request-id': 'r-2' } });
    expect(state.calls[0]?.headers['authorization']).toBeUndefined();
    expect(JSON.parse(state.calls[0]?.body ?? '')).toStrictEqual({
      code: 'c',
      state: 's',
      redirect_uri: 'r',
    });
    const unauthorized = { kind: 'unauthenticated', message: 'Unauthorized' };
    for (const [next, expected] of [
      [
        { status: 400, body: { message: 'bad code' } },
        { kind: 'invalid', message: 'bad code' },
      ],
      [{ status: 401 }, unauthorized],
      [{ body: { claims: { department: 'R&D' } } }, unauthorized],
      [{ body: { claims: { sub: 'ext|ann', department: 'Sales' } } }, unauthorized],
      [{ body: {} }, unauthorized],
      [{ status: 500 }, { kind: 'unavailable' }],
      ['cut', { kind: 'unavailable', message: 'internal server error' }],
    ] as const) {
      state.next = next;
      await expect(login()).rejects.toMatchObject(expected);
    }
  });

  it('is handed an identity of AWS as the client made it, and names the principal', async () => {
    const { opened, state } = await open({ body: { id: 'arn:aws:sts::1:assumed-role/r/s' } });
    const token = {
      method: 'POST',
      host: 'sts.amazonaws.com',
      action: 'GetCallerIdentity',
      signature: 'f00',
    };
    const identityRequest = { identity_token: Buffer.from(JSON.stringify(token)).toString('base64') };
    const login = () => opened.verifyPrincipal?.({ identityRequest, origin });
    expect(await login()).toStrictEqual({ principalId: 'arn:aws:sts::1:assumed-role/r/s' });
    expect(state.calls[0]).toMatchObject({
      path: '/api/v1/auth/external/principal/login',
      body: JSON.stringify(identityRequest),
    });
    for (const [next, expected] of [
      [{ status: 400 }, { kind: 'invalid' }],
      [{ status: 401 }, { kind: 'unauthenticated', message: 'invalid token format' }],
      [{ status: 403 }, { kind: 'forbidden', message: 'session expired' }],
      [{ status: 404 }, { kind: 'unavailable' }],
      [{ body: { id: '' } }, { kind: 'unavailable' }],
    ] as const) {
      state.next = next;
      await expect(login()).rejects.toMatchObject(expected);
    }
    expect((await open({}, false)).opened.verifyPrincipal).toBeUndefined();
  });
});
