import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, basic, head, local, makeAuth } from '../../test/make-auth.ts';
import type { ClaimMapping, Claims, IdentityProvider } from '../sources/contract.ts';

const provisioningToken = 'the-token-of-the-identity-provider';
const ann = { userName: 'ann@example.com', externalId: 'sub-of-ann', active: true };

async function withProvider(options: Parameters<typeof makeAuth>[0] = {}) {
  const fixture = await makeAuth({ provisioningToken, ...options });
  const { provisioning } = fixture.auth;
  if (provisioning === undefined) throw new Error('there is a token');
  return { ...fixture, provisioning };
}

describe('people of an identity provider', () => {
  it('log in there as whom it has made, until it deactivates them', async () => {
    let claims: Claims = { sub: 'sub-of-ann' };
    const provider: IdentityProvider = {
      check: () => Promise.resolve(),
      authorizationUrl: ({ state }) => Promise.resolve(`https://idp.example/?state=${state}`),
      claimsOf: () => Promise.resolve(claims),
      logoutUrl: () => Promise.resolve(undefined),
    };
    const mapping: ClaimMapping = {
      source: 'oidc',
      idClaim: 'sub',
      provisionedIdClaim: 'sub',
      required: {},
      defaultGroups: [],
      groupClaims: [],
      friendlyNameClaims: [],
      persistFriendlyName: false,
    };
    const { auth, provisioning } = await withProvider({ identityProvider: { provider, claims: mapping } });
    const { id } = await provisioning.createUser(ann, actor);
    const logIn = async (): Promise<string | undefined> => {
      const begun = await auth.providerLogin?.begin(undefined, local);
      const cookie = (begun?.cookies[0] ?? '').split(';', 1)[0] ?? '';
      const query = new URLSearchParams(`code=c&${new URL(begun?.location ?? '').search.slice(1)}`);
      const done = await auth.providerLogin?.finish({ ...head({ cookie }), query });
      const session = (done?.cookies[0] ?? '').split(';', 1)[0] ?? '';
      return (await auth.authenticate(head({ cookie: session })))?.user.username;
    };
    expect(await logIn()).toBe(id);
    await provisioning.replaceUser(id, { ...ann, active: false }, actor);
    expect(await logIn()).toBeUndefined();
    await provisioning.replaceUser(id, ann, actor);
    expect(await logIn()).toBe(id);
    // Others are made by their login, as ever.
    claims = { sub: 'sub-of-somebody' };
    expect(await logIn()).toBe('sub-of-somebody');
    expect(await auth.users.get('sub-of-somebody')).toMatchObject({ source: 'oidc' });
  });

  it('lose their keys on every worker when they are deactivated', async () => {
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const one = await withProvider({ cacheBus, kv: createMemStore(state) });
    const two = await withProvider({ cacheBus, kv: createMemStore(state) });
    const { id } = await one.provisioning.createUser(ann, actor);
    const { accessKeyId, secretAccessKey } = await one.auth.credentials.create(id, actor);
    const request = basic(accessKeyId, secretAccessKey);
    for (const { auth } of [one, two])
      await expect(auth.authenticate(request)).resolves.toMatchObject({ user: { username: id } });
    await two.provisioning.replaceUser(id, { ...ann, active: false }, actor);
    for (const { auth } of [one, two])
      await expect(auth.authenticate(request)).rejects.toMatchObject({ kind: 'unauthenticated' });
    // Nobody gives somebody who may nothing a key that works.
    const late = await one.auth.credentials.create(id, actor);
    await expect(one.auth.authenticate(basic(late.accessKeyId, late.secretAccessKey))).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
  });

  it('are gone from both sides whoever deletes them, and their names are free', async () => {
    const { auth, provisioning, kv } = await withProvider();
    const { id } = await provisioning.createUser(ann, actor);
    await provisioning.createGroup({ id: 'people' }, actor);
    await provisioning.changeMembers('people', { add: [id] }, actor);
    await auth.users.delete(id, actor);
    await auth.groups.delete('people', actor);
    await expect(provisioning.getUser(id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(provisioning.getGroup('people')).rejects.toMatchObject({ kind: 'not_found' });
    for await (const page of kv.scan(Buffer.from('auth')))
      expect(page.map(({ key }) => key.toString()).filter((key) => key.startsWith('provisioned/'))).toEqual(
        [],
      );
    // A local user of the same name is none of the provider's.
    await auth.users.create({ username: id }, actor);
    await expect(provisioning.createUser(ann, actor)).rejects.toMatchObject({ kind: 'already_exists' });
    await expect(provisioning.deleteUser(id, actor)).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('are not others of the same name, whatever an interrupted change has left', async () => {
    const { auth, provisioning, kv } = await withProvider();
    await auth.users.create({ username: 'local' }, actor);
    const left = JSON.stringify({ userName: 'local', active: true, createdAt: 0, changedAt: 0 });
    await kv.set(Buffer.from('auth'), Buffer.from('provisioned/users/local'), Buffer.from(left));
    const missing = { kind: 'not_found' };
    await expect(provisioning.getUser('local')).rejects.toMatchObject(missing);
    await expect(provisioning.deleteUser('local', actor)).rejects.toMatchObject(missing);
    await expect(
      provisioning.replaceUser('local', { userName: 'local', active: false }, actor),
    ).rejects.toMatchObject(missing);
    await expect(auth.users.get('local')).resolves.toBeDefined();
  });

  it('take no name or address that another has', async () => {
    const { auth, provisioning } = await withProvider();
    const { id } = await provisioning.createUser({ ...ann, email: 'ann@example.com' }, actor);
    const taken = { kind: 'already_exists' };
    await expect(
      provisioning.createUser({ userName: 'ANN@example.com', active: true }, actor),
    ).rejects.toMatchObject(taken);
    const ben = await provisioning.createUser({ userName: 'ben', active: true }, actor);
    for (const more of [
      { userName: 'Ann@Example.com' },
      { email: 'ann@example.com' },
      { externalId: 'sub-of-ann' },
    ])
      await expect(
        provisioning.replaceUser(ben.id, { userName: 'ben', active: true, ...more }, actor),
      ).rejects.toMatchObject(taken);
    expect(await provisioning.getUser(ben.id)).toMatchObject({ userName: 'ben' });
    expect((await auth.users.find({ email: 'ann@example.com' }))?.username).toBe(id);
    expect((await provisioning.findUser({ externalId: 'sub-of-ann' }))?.id).toBe(id);
  });

  it('are not kept beside a service that keeps the users', async () => {
    await expect(
      makeAuth({ provisioningToken, mode: 'external', authorizationService: {} as never }),
    ).rejects.toMatchObject({ kind: 'configuration' });
  });
});
