import type { Auth, ClientOrigin } from '@svc/auth';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  scimToken as token,
  startScim,
  type ScimAnswer as Answer,
  type ScimServer,
} from '../../test/scim-server.ts';

const local: ClientOrigin = { ip: '127.0.0.1', secure: false };
const admin = { username: 'admin' };
const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

let scim: ScimServer;
let auth: Auth;
let base: string;
let send: ScimServer['send'];

beforeAll(async () => {
  scim = await startScim();
  ({ auth, base, send } = scim);
});
afterAll(() => scim.stop());

const patch = (path: string, ...Operations: unknown[]): Promise<Answer> =>
  send('PATCH', path, { schemas: [patchSchema], Operations });
const query = (parameters: Record<string, string>): string =>
  `?${new URLSearchParams(parameters).toString()}`;
const idOf = ({ body }: Answer): string => body['id'] as string;

function person(userName: string, more: object = {}): object {
  return { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName, active: true, ...more };
}

describe('a conversation with Okta', () => {
  it('finds nobody, makes the person, changes it, deactivates it and brings it back', async () => {
    const lookup = query({ filter: 'userName eq "ann@example.com"', startIndex: '1', count: '100' });
    expect(await send('GET', `/Users${lookup}`)).toMatchObject({
      status: 200,
      body: { totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] },
    });
    const ann = person('ann@example.com', {
      name: { givenName: 'Ann', familyName: 'Example' },
      emails: [{ primary: true, value: 'ann@example.com', type: 'work' }],
      displayName: 'Ann Example',
      locale: 'en-US',
      externalId: '00u-ann',
      groups: [],
      password: 'what-okta-made-up',
    });
    const made = await send('POST', '/Users', ann);
    expect(made.status).toBe(201);
    expect(made.headers.get('content-type')).toBe('application/scim+json');
    expect(made.headers.get('location')).toBe(`${base}/Users/ann%40example.com`);
    expect(made.body).toMatchObject({ userName: 'ann@example.com', externalId: '00u-ann', active: true });
    expect(JSON.stringify(made.body)).not.toContain('what-okta-made-up');
    const id = idOf(made);
    expect(await auth.users.get(id)).toMatchObject({
      source: 'scim',
      email: 'ann@example.com',
      friendlyName: 'Ann Example',
    });
    expect((await send('GET', `/Users${lookup}`)).body).toMatchObject({ totalResults: 1 });
    expect(await send('POST', '/Users', ann)).toMatchObject({
      status: 409,
      body: { status: '409', scimType: 'uniqueness' },
    });

    const changed = { ...ann, displayName: 'Ann Other', name: { givenName: 'Ann', familyName: 'Other' } };
    expect(await send('PUT', `/Users/${encodeURIComponent(id)}`, changed)).toMatchObject({
      status: 200,
      body: { displayName: 'Ann Other', name: { familyName: 'Other' } },
    });
    expect((await auth.users.get(id)).friendlyName).toBe('Ann Other');

    const key = await auth.credentials.create(id, admin);
    const login = { username: key.accessKeyId, password: key.secretAccessKey, client: local };
    const session = await auth.login(login);
    const asked = { method: 'GET', headers: { authorization: `Bearer ${session.token}` }, client: local };
    expect(await auth.authenticate(asked)).toMatchObject({ user: { username: id } });
    const off = { op: 'replace', value: { active: false } };
    expect(await patch(`/Users/${encodeURIComponent(id)}`, off)).toMatchObject({
      status: 200,
      body: { active: false },
    });
    await expect(auth.authenticate(asked)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(auth.login(login)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(auth.credentialsFor(key.accessKeyId)).resolves.toBeUndefined();
    expect((await auth.sessions.list(id)).results).toEqual([]);
    expect((await send('GET', `/Users${lookup}`)).body).toMatchObject({ Resources: [{ active: false }] });

    expect((await send('PUT', `/Users/${encodeURIComponent(id)}`, changed)).body).toMatchObject({
      active: true,
    });
    await expect(auth.authenticate(asked)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await expect(auth.login(login)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect((await auth.credentials.create(id, admin)).accessKeyId).toBeDefined();
  });

  it('pushes a group, changes who is in it and removes it', async () => {
    const [one, two] = [
      idOf(await send('POST', '/Users', person('one@example.com'))),
      idOf(await send('POST', '/Users', person('two@example.com'))),
    ];
    const made = await send('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'data people',
      members: [{ value: one, display: 'one@example.com' }],
    });
    expect(made).toMatchObject({
      status: 201,
      body: { displayName: 'data people', members: [{ value: one }] },
    });
    const path = `/Groups/${encodeURIComponent(idOf(made))}`;
    expect((await send('GET', `/Groups${query({ startIndex: '1', count: '100' })}`)).body).toMatchObject({
      totalResults: 1,
    });
    const membersNow = async (): Promise<string[]> =>
      ((await send('GET', path)).body['members'] as { value: string }[]).map(({ value }) => value);

    // It names the group again when only the name was looked at.
    expect(
      (await patch(path, { op: 'replace', value: { id: idOf(made), displayName: 'data people' } })).status,
    ).toBe(204);
    await patch(path, { op: 'add', path: 'members', value: [{ value: two, display: 'two@example.com' }] });
    expect(await membersNow()).toEqual([one, two]);
    expect((await auth.groups.members('data people')).results.map(({ username }) => username)).toEqual([
      one,
      two,
    ]);
    await patch(path, { op: 'remove', path: `members[value eq "${one}"]` });
    expect(await membersNow()).toEqual([two]);
    await patch(path, {
      op: 'replace',
      path: 'members',
      value: [{ value: one, display: 'one@example.com' }],
    });
    expect(await membersNow()).toEqual([one]);
    expect((await patch(path, { op: 'replace', value: { displayName: 'renamed' } })).body).toMatchObject({
      scimType: 'mutability',
    });
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('GET', path)).status).toBe(404);
    await expect(auth.groups.get('data people')).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('a conversation with Entra ID', () => {
  it('tests the connection, makes a person, changes single attributes and disables it', async () => {
    const nobody = query({ filter: 'userName eq "8e1e2b0c-2d4c-4b7c-9a5e-0f8a6a1f6f77"' });
    expect((await send('GET', `/Users${nobody}`)).body).toMatchObject({ totalResults: 0, Resources: [] });
    const made = await send('POST', '/Users', {
      schemas: [
        'urn:ietf:params:scim:schemas:core:2.0:User',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
      ],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'ben@example.com',
      active: true,
      emails: [{ primary: true, type: 'work', value: 'ben@example.com' }],
      meta: { resourceType: 'User' },
      name: { formatted: 'Ben Example', familyName: 'Example', givenName: 'Ben' },
      roles: [],
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'R&D' },
    });
    expect(made).toMatchObject({ status: 201, body: { displayName: 'Ben Example' } });
    const path = `/Users/${encodeURIComponent(idOf(made))}`;
    const byExternalId = query({ filter: 'externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"' });
    expect((await send('GET', `/Users${byExternalId}`)).body).toMatchObject({
      Resources: [{ id: idOf(made) }],
    });
    const changed = await patch(
      path,
      { op: 'Replace', path: 'emails[type eq "work"].value', value: 'benjamin@example.com' },
      { op: 'Replace', path: 'name.familyName', value: 'Other' },
      { op: 'Add', path: 'displayName', value: 'Benjamin Other' },
      { op: 'Replace', path: 'userName', value: 'Benjamin@example.com' },
      {
        op: 'Add',
        path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department',
        value: 'Sales',
      },
    );
    expect(changed).toMatchObject({
      status: 200,
      body: {
        id: idOf(made),
        userName: 'Benjamin@example.com',
        displayName: 'Benjamin Other',
        name: { givenName: 'Ben', familyName: 'Other' },
        emails: [{ value: 'benjamin@example.com' }],
      },
    });
    await expect(auth.users.find({ email: 'benjamin@example.com' })).resolves.toBeDefined();
    await expect(auth.users.find({ email: 'ben@example.com' })).resolves.toBeUndefined();
    // The new name is found whatever its case, the old one is free.
    const renamed = query({ filter: 'userName eq "benjamin@EXAMPLE.com"' });
    expect((await send('GET', `/Users${renamed}`)).body).toMatchObject({ totalResults: 1 });
    const old = query({ filter: 'userName eq "ben@example.com"' });
    expect((await send('GET', `/Users${old}`)).body).toMatchObject({ totalResults: 0 });

    for (const [value, active] of [
      ['False', false],
      ['True', true],
      [false, false],
    ] as const)
      expect((await patch(path, { op: 'Replace', path: 'active', value })).body).toMatchObject({ active });
    expect((await send('DELETE', path)).status).toBe(204);
    expect((await send('DELETE', path)).status).toBe(404);
    await expect(auth.users.get(idOf(made))).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('looks a group up without its members, and names members in a list when it removes them', async () => {
    const [one, two] = [
      idOf(await send('POST', '/Users', person('three@example.com'))),
      idOf(await send('POST', '/Users', person('four@example.com'))),
    ];
    const found = query({ excludedAttributes: 'members', filter: 'displayName eq "Analysts"' });
    expect((await send('GET', `/Groups${found}`)).body).toMatchObject({ totalResults: 0 });
    const made = await send('POST', '/Groups', {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
      displayName: 'Analysts',
      meta: { resourceType: 'Group' },
    });
    const path = `/Groups/${idOf(made)}`;
    expect((await send('GET', `/Groups${found}`)).body).toMatchObject({ totalResults: 1 });
    const add = {
      op: 'Add',
      path: 'members',
      value: [
        { $ref: null, value: one },
        { $ref: null, value: two },
      ],
    };
    expect((await patch(path, add)).status).toBe(204);
    expect((await patch(path, add)).status).toBe(204);
    const bare = (await send('GET', path + query({ excludedAttributes: 'members' }))).body;
    expect(bare).toMatchObject({ displayName: 'Analysts' });
    expect(bare).not.toHaveProperty('members');
    await patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: one }] });
    expect((await send('GET', path)).body).toMatchObject({ members: [{ value: two }] });
    // An empty list removes nobody.
    await patch(path, { op: 'Remove', path: 'members', value: [] });
    expect((await send('GET', path)).body).toMatchObject({ members: [{ value: two }] });
    await patch(path, { op: 'Remove', path: 'members' });
    expect((await send('GET', path)).body).toMatchObject({ members: [] });
    expect((await patch(path, { op: 'Replace', path: 'externalId', value: 'other' })).status).toBe(204);
    expect((await send('GET', path)).body).toMatchObject({ externalId: 'other' });
  });
});

describe('the service', () => {
  it('describes itself, and lists page by page', async () => {
    expect((await send('GET', '/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: false },
      filter: { supported: true },
    });
    expect((await send('GET', '/ResourceTypes')).body).toMatchObject({ totalResults: 2 });
    expect((await send('GET', '/ResourceTypes/User')).body).toMatchObject({ endpoint: '/Users' });
    const schema = 'urn:ietf:params:scim:schemas:core:2.0:Group';
    expect((await send('GET', `/Schemas/${schema}`)).body).toMatchObject({ id: schema });
    const all = (await send('GET', '/Users')).body['Resources'] as { id: string }[];
    const paged: string[] = [];
    for (let from = 1; from <= all.length; from += 1) {
      const { body } = await send('GET', `/Users${query({ startIndex: String(from), count: '1' })}`);
      expect(body).toMatchObject({ totalResults: all.length, startIndex: from, itemsPerPage: 1 });
      paged.push((body['Resources'] as { id: string }[])[0]?.id ?? '');
    }
    expect(paged).toEqual(all.map(({ id }) => id));
    expect((await send('GET', `/Users${query({ count: '0' })}`)).body).toMatchObject({ Resources: [] });
  });

  it('knows only people and groups that the provider made', async () => {
    await auth.users.create({ username: 'local', email: 'local@example.com' }, admin);
    await auth.groups.create({ id: 'Admins' }, admin);
    await auth.groups.addMember('Admins', 'local', admin);
    const [someone] = (await send('GET', '/Users')).body['Resources'] as { id: string }[];
    for (const [method, path, body] of [
      ['GET', '/Users/local', undefined],
      ['DELETE', '/Users/local', undefined],
      ['PUT', '/Users/local', person('local', { active: false })],
      ['GET', '/Groups/Admins', undefined],
      ['DELETE', '/Groups/Admins', undefined],
      ['PUT', '/Groups/Admins', { displayName: 'Admins', members: [{ value: someone?.id }] }],
      ['PATCH', '/Groups/Admins', { Operations: [{ op: 'add', path: 'members', value: [someone] }] }],
    ] as const)
      expect([path, (await send(method, path, body)).status]).toEqual([path, 404]);
    for (const [path, body] of [
      ['/Users', person('local')],
      ['/Users', person('other', { emails: [{ value: 'LOCAL@example.com' }] })],
      ['/Groups', { displayName: 'Admins' }],
    ] as const)
      expect([path, (await send('POST', path, body)).status]).toEqual([path, 409]);
    expect((await auth.groups.members('Admins')).results).toHaveLength(1);
    expect(await auth.users.get('local')).toMatchObject({ source: 'internal' });
    await expect(auth.users.get('other')).rejects.toMatchObject({ kind: 'not_found' });
    const own = await send('POST', '/Groups', { displayName: 'own', members: [{ value: 'local' }] });
    expect(own.status).toBe(404);
    expect((await send('GET', '/Groups/own')).status).toBe(404);
  });

  it.each([
    ['no name', person('')],
    ['a path for a name', person('a/b')],
    ['a wildcard for a name', person('*')],
    ['a control character', person('x', { displayName: 'a\nb' })],
    ['an endless name', person('x', { displayName: 'n'.repeat(1000) })],
    ['a state that is no truth', person('x', { active: 'perhaps' })],
    ['addresses that are no list', person('x', { emails: 'x@example.com' })],
    ['an address that is none', person('x', { emails: [{ value: 'nowhere' }] })],
    ['a list', []],
    ['no JSON', '{"userName": '],
    ['depth', `${'['.repeat(5000)}${']'.repeat(5000)}`],
  ])('refuses %s, and keeps nothing of it', async (_kind, body) => {
    const before = (await send('GET', '/Users')).body['totalResults'];
    expect(await send('POST', '/Users', body)).toMatchObject({ status: 400, body: { status: '400' } });
    expect((await send('GET', '/Users')).body['totalResults']).toBe(before);
  });

  it('refuses filters and patches that it does not understand', async () => {
    for (const filter of [
      'userName co "a"',
      'userName eq a',
      'password eq "x"',
      'userName eq "a" or active eq "x"',
    ])
      expect((await send('GET', `/Users${query({ filter })}`)).body).toMatchObject({
        scimType: 'invalidFilter',
      });
    const id = idOf(await send('POST', '/Users', person('patched@example.com')));
    for (const operations of [
      [],
      [{ op: 'move', path: 'active' }],
      [{ op: 'remove' }],
      ['x'],
      'x',
      [{ op: 'add', value: 1 }],
    ])
      expect((await send('PATCH', `/Users/${id}`, { Operations: operations })).status).toBe(400);
    expect((await send('GET', `/Users${query({ startIndex: 'x' })}`)).status).toBe(400);
    expect((await send('PATCH', '/Users', {})).status).toBe(404);
    expect((await send('GET', '/Users/%E0%A4%A')).status).toBe(404);
  });

  it('takes the token only, and not for ever', async () => {
    const header = (text: string): Record<string, string> => ({ authorization: text });
    for (const wrong of [
      {},
      header('Bearer'),
      header(`Basic ${token}`),
      header(`Bearer ${token}x`),
      header('Bearer x'),
    ])
      expect((await send('GET', '/Users', undefined, wrong)).status).toBe(401);
    for (let count = 0; count < 100; count += 1)
      await send('GET', '/Users', undefined, header('Bearer guess'));
    const late = await send('GET', '/Users', undefined, header('Bearer guess'));
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('tells the audit log who changed what', () => {
    const made = scim.finished.find(
      ({ operationId, status }) => operationId === 'scimCreateUser' && status === 201,
    );
    expect(made).toMatchObject({ username: 'scim', authMethod: 'scim_token' });
    const gone = scim.finished.find(
      ({ operationId, status }) => operationId === 'scimDeleteUser' && status === 204,
    );
    expect(gone?.requirement).toMatchObject({
      action: 'auth:DeleteUser',
      resource: 'arn:svc:auth:::user/ben@example.com',
    });
    expect(scim.finished.find(({ status }) => status === 401)?.username).toBeUndefined();
  });
});
