import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, basic, local, makeAuth, type AuthFixture } from '../../test/make-auth.ts';
import { generateKeyPair } from '../crypto/generate-key-pair.ts';
import type { Auth } from '../auth.ts';
import { arn, one, type Requirement } from '../requirement.ts';

const alreadyExists = { kind: 'already_exists', message: 'Already exists' };
const allowAll = { effect: 'allow', action: ['fs:*'], resource: '*' };

async function decide(auth: Auth, username: string, requirement: Requirement): Promise<boolean> {
  const user = await auth.users.get(username);
  return (await auth.authorize({ user, method: 'basic' }, requirement, local)).allowed;
}

async function ids<T>(page: Promise<{ readonly results: readonly T[] }>, name: keyof T): Promise<unknown[]> {
  return (await page).results.map((item) => item[name]);
}

describe('users, groups and policies', () => {
  it('have ids that cannot be mistaken for keys or patterns', async () => {
    const { auth } = await makeAuth();
    await expect(auth.users.create({ username: 'a%b' }, actor)).rejects.toMatchObject({
      kind: 'invalid',
      message: "User name cannot contain '%'",
    });
    await expect(auth.groups.create({ id: 'a%b' }, actor)).rejects.toThrow(/Group name cannot contain '%'/);
    for (const username of ['', 'a/b', 'a*', 'a?', '${user}', 'a\nb', 'x'.repeat(257), '\ud800']) {
      await expect(auth.users.create({ username }, actor)).rejects.toMatchObject({ kind: 'invalid' });
    }
    await auth.users.create({ username: 'é'.repeat(256) }, actor);
    await auth.users.create({ username: '*', source: 'oidc' }, actor);
    await expect(auth.users.create({ username: 'a/b', source: 'oidc' }, actor)).rejects.toThrow(
      /validation error/,
    );
  });

  it('are listed in byte order, page by page', async () => {
    const { auth } = await makeAuth();
    for (let index = 0; index < 200; index++) {
      await auth.users.create({ username: `user-${String(index).padStart(3, '0')}` }, actor);
    }
    const first = await auth.users.list({ amount: 100 });
    expect(first).toMatchObject({ hasMore: true, nextOffset: 'user-099' });
    expect(await auth.users.list({ amount: 100, after: first.nextOffset })).toMatchObject({
      hasMore: false,
      nextOffset: '',
    });
    for (const username of ['a', 'ab', 'abc', 'ad', 'é', '😀', '\uffee']) {
      await auth.users.create({ username }, actor);
    }
    expect(await ids(auth.users.list({ prefix: 'a', after: 'ab' }), 'username')).toStrictEqual(['abc', 'ad']);
    expect(await ids(auth.users.list({ after: 'user-199' }), 'username')).toStrictEqual([
      'é',
      '\uffee',
      '😀',
    ]);
    expect((await auth.users.list()).results).toHaveLength(100);
    expect((await auth.users.list({ amount: -1 })).results).toHaveLength(100);
    expect((await auth.users.list({ amount: 1000 })).results).toHaveLength(207);
    for (const amount of [1001, -2]) {
      await expect(auth.users.list({ amount })).rejects.toMatchObject({ kind: 'invalid' });
    }
  });

  it('can be attached and detached, once each', async () => {
    const { auth } = await makeAuth();
    await auth.users.create({ username: 'alice' }, actor);
    await auth.groups.create({ id: 'g1', description: 'first' }, actor);
    await auth.policies.create({ id: 'p1', statement: [allowAll] }, actor);
    await expect(auth.users.create({ username: 'alice' }, actor)).rejects.toMatchObject(alreadyExists);
    await expect(auth.groups.create({ id: 'g1' }, actor)).rejects.toMatchObject(alreadyExists);
    await auth.groups.addMember('g1', 'alice', actor);
    await expect(auth.groups.addMember('g1', 'alice', actor)).rejects.toMatchObject(alreadyExists);
    await expect(auth.groups.addMember('g2', 'alice', actor)).rejects.toThrow('group not found');
    await expect(auth.groups.addMember('g1', 'bob', actor)).rejects.toThrow('user not found');
    await auth.groups.attachPolicy('g1', 'p1', actor);
    await expect(auth.groups.attachPolicy('g1', 'p1', actor)).rejects.toMatchObject(alreadyExists);
    await expect(auth.groups.attachPolicy('g1', 'p2', actor)).rejects.toThrow('policy not found');
    await expect(auth.users.attachPolicy('alice', 'p2', actor)).rejects.toThrow('policy not found');
    expect(await ids(auth.users.policies('alice'), 'id')).toStrictEqual([]);
    expect(await ids(auth.users.policies('alice', { effective: true }), 'id')).toStrictEqual(['p1']);
    await auth.users.attachPolicy('alice', 'p1', actor);
    expect(await ids(auth.users.policies('alice', { effective: true }), 'id')).toStrictEqual(['p1']);
    expect(await ids(auth.users.groups('alice'), 'id')).toStrictEqual(['g1']);
    expect(await ids(auth.groups.members('g1'), 'username')).toStrictEqual(['alice']);
    expect(await auth.groups.get('g1')).toMatchObject({ description: 'first' });

    await auth.users.detachPolicy('alice', 'p1', actor);
    await auth.users.detachPolicy('alice', 'p1', actor);
    expect(await decide(auth, 'alice', one('fs:ReadConfig', '*'))).toBe(true);
    await auth.groups.removeMember('g1', 'alice', actor);
    await auth.groups.removeMember('g1', 'alice', actor);
    expect(await decide(auth, 'alice', one('fs:ReadConfig', '*'))).toBe(false);

    await auth.groups.addMember('g1', 'alice', actor);
    await auth.groups.delete('g1', actor);
    expect(await auth.users.get('alice')).toBeDefined();
    await auth.groups.create({ id: 'g1' }, actor);
    expect(await ids(auth.groups.members('g1'), 'username')).toStrictEqual([]);
    expect(await ids(auth.groups.policies('g1'), 'id')).toStrictEqual([]);
    expect(await ids(auth.users.groups('alice'), 'id')).toStrictEqual([]);

    await auth.users.attachPolicy('alice', 'p1', actor);
    await auth.groups.attachPolicy('g1', 'p1', actor);
    await auth.policies.delete('p1', actor);
    expect(await ids(auth.users.policies('alice', { effective: true }), 'id')).toStrictEqual([]);
    expect(await decide(auth, 'alice', one('fs:ReadConfig', '*'))).toBe(false);
    await auth.policies.create({ id: 'p1', statement: [allowAll] }, actor);
    expect(await decide(auth, 'alice', one('fs:ReadConfig', '*'))).toBe(false);
    for (const unknown of [
      auth.users.delete('nobody', actor),
      auth.users.policies('nobody'),
      auth.users.groups('nobody'),
      auth.credentials.list('nobody'),
      auth.groups.delete('nobody', actor),
      auth.groups.members('nobody'),
      auth.policies.get('nobody'),
      auth.policies.delete('nobody', actor),
    ]) {
      await expect(unknown).rejects.toMatchObject({ kind: 'not_found' });
    }
  });

  it('leave nothing behind for a successor of the same name', async () => {
    const { auth } = await makeAuth();
    await auth.setup.run({ username: 'admin' });
    await auth.users.create({ username: 'alice', email: 'alice@example.com', externalId: 'ext' }, actor);
    const key = await auth.credentials.create('alice', actor);
    await auth.groups.addMember('Developers', 'alice', actor);
    await auth.users.attachPolicy('alice', 'FSFullAccess', actor);
    await auth.externalPrincipals.attach('alice', 'principal/1', actor);
    await expect(auth.authenticate(basic(key.accessKeyId, key.secretAccessKey))).resolves.toBeDefined();
    await auth.users.delete('alice', actor);
    await auth.users.create({ username: 'alice' }, actor);
    await expect(auth.authenticate(basic(key.accessKeyId, key.secretAccessKey))).rejects.toMatchObject({
      kind: 'unauthenticated',
    });
    expect((await auth.users.groups('alice')).results).toStrictEqual([]);
    expect((await auth.users.policies('alice', { effective: true })).results).toStrictEqual([]);
    expect((await auth.credentials.list('alice')).results).toStrictEqual([]);
    expect((await auth.externalPrincipals.list('alice')).results).toStrictEqual([]);
    expect(await ids(auth.groups.members('Developers'), 'username')).toStrictEqual([]);
    expect(await auth.users.find({ email: 'alice@example.com' })).toBeUndefined();
    expect(await auth.users.find({ externalId: 'ext' })).toBeUndefined();
    await auth.users.create({ username: 'bob', email: 'ALICE@example.com', externalId: 'ext' }, actor);
    expect(await auth.users.find({ email: 'alice@example.com' })).toMatchObject({ username: 'bob' });
    await expect(
      auth.users.create({ username: 'carol', email: 'alice@EXAMPLE.com' }, actor),
    ).rejects.toMatchObject(alreadyExists);
    await expect(auth.users.get('carol')).rejects.toMatchObject({ kind: 'not_found' });
    expect(await auth.users.find({ externalId: 'ext' })).toMatchObject({ username: 'bob' });
  });
});

describe('policies', () => {
  it('are validated when written', async () => {
    const { auth } = await makeAuth();
    let count = 0;
    const write = (statement: Record<string, unknown>) =>
      auth.policies.create({ id: `p${count++}`, statement: [{ ...allowAll, ...statement }] }, actor).then(
        () => 'stored',
        (error: Error) => error.message,
      );
    const bad: Record<string, unknown>[] = [
      { effect: 'Allow' },
      { action: [] },
      { action: ['s3:GetObject'] },
      { action: ['*'] },
      { action: ['*:*'] },
      { action: ['fs:a:b'] },
      { resource: '' },
      { resource: 'arn:svc:fs:repository/x' },
      { resource: 'arn:aws:fs:::x' },
      { resource: 'arn:svc::::x' },
      { resource: 'arn:svc:fs:::' },
      { resource: '[]' },
      { resource: '[1]' },
      { resource: '["arn:svc:fs:::repository/r1",]' },
      { resource: '["*", "x"]' },
      { resource: `arn:svc:fs:::${'x'.repeat(2048)}` },
      { action: Array.from({ length: 101 }, () => 'fs:x') },
      { condition: { Like: { SourceIp: ['x'] } } },
      { condition: { IpAddress: { '': ['10.0.0.1'] } } },
      { condition: { IpAddress: { SourceIp: ['10.0.0.1/33'] } } },
      { condition: { NotIpAddress: { SourceIp: ['ten'] } } },
    ];
    for (const statement of bad) expect(await write(statement)).toMatch(/^validation error: /);
    const good: Record<string, unknown>[] = [
      { action: ['fs:Nonsense', 'catalog:ListTables', 'fs:ExportConfig', 'pr:*'] },
      { effect: 'deny', resource: 'arn:lakefs:fs:eu:1:repository/*' },
      { resource: '["*","arn:svc:fs:::a:b"]' },
      { condition: { IpAddress: { SourceIp: ['::1', ' 10.0.0.0/8 '] }, StringLike: { Anything: [] } } },
    ];
    for (const statement of good) expect(await write(statement)).toBe('stored');
    expect((await auth.policies.get('p24')).statement[0]).toStrictEqual({ ...allowAll, ...good[3] });
    await expect(auth.policies.create({ id: 'p', statement: [] }, actor)).rejects.toThrow(
      /at least one statement/,
    );
    const many = Array.from({ length: 101 }, () => allowAll);
    await expect(auth.policies.create({ id: 'p', statement: many }, actor)).rejects.toThrow(/100 statements/);
    const large = Array.from({ length: 40 }, () => ({
      ...allowAll,
      resource: `arn:svc:fs:::${'x'.repeat(2000)}`,
    }));
    await expect(auth.policies.create({ id: 'p', statement: large }, actor)).rejects.toThrow(/65536 bytes/);
  });

  it('are created once, replaced whole, and keep their birthday', async () => {
    const { auth, clock } = await makeAuth();
    const created = await auth.policies.create({ id: 'p', statement: [allowAll] }, actor);
    expect(created.createdAt).toBe(Math.floor(clock.now / 1000));
    clock.now += 60_000;
    await expect(auth.policies.create({ id: 'p', statement: [allowAll] }, actor)).rejects.toMatchObject(
      alreadyExists,
    );
    await expect(auth.policies.update('q', { id: 'q', statement: [allowAll] }, actor)).rejects.toMatchObject({
      kind: 'not_found',
    });
    await expect(auth.policies.update('p', { id: 'q', statement: [allowAll] }, actor)).rejects.toMatchObject({
      kind: 'invalid',
      message: "can't update policy id",
    });
    const statement = [{ effect: 'deny', action: ['fs:*'], resource: '*' }];
    expect(await auth.policies.update('p', { id: 'p', statement }, actor)).toStrictEqual({
      ...created,
      statement,
    });
    expect(await auth.policies.get('p')).toStrictEqual({ ...created, statement });
  });
});

describe('credentials', () => {
  it('are generated apart and well-formed', () => {
    const pairs = Array.from({ length: 10_000 }, generateKeyPair);
    for (const { accessKeyId, secretAccessKey } of pairs) {
      expect(accessKeyId).toMatch(/^AKIAJ[A-Z2-7]{14}Q$/);
      expect(secretAccessKey).toMatch(/^[A-Za-z0-9+/]{40}$/);
    }
    expect(new Set(pairs.map((pair) => pair.accessKeyId)).size).toBe(10_000);
    expect(new Set(pairs.map((pair) => pair.secretAccessKey)).size).toBe(10_000);
  });

  it('belong to one user only', async () => {
    const { auth } = await makeAuth();
    await auth.users.create({ username: 'alice' }, actor);
    await auth.users.create({ username: 'bob' }, actor);
    const key = await auth.credentials.create('bob', actor, { accessKeyId: 'BOBKEY', secretAccessKey: 's' });
    await expect(
      auth.credentials.create('alice', actor, { accessKeyId: 'BOBKEY', secretAccessKey: 't' }),
    ).rejects.toMatchObject(alreadyExists);
    const notFound = { kind: 'not_found', message: 'credentials not found' };
    await expect(auth.credentials.delete('alice', 'BOBKEY', actor)).rejects.toMatchObject(notFound);
    await expect(auth.credentials.get('alice', 'BOBKEY')).rejects.toMatchObject(notFound);
    await expect(auth.authenticate(basic('BOBKEY', 's'))).resolves.toMatchObject({
      user: { username: 'bob' },
    });
    expect(await auth.credentials.get('bob', 'BOBKEY')).toStrictEqual({
      accessKeyId: 'BOBKEY',
      issuedAt: key.issuedAt,
      username: 'bob',
      hasView: false,
    });
    expect(await ids(auth.credentials.list('bob'), 'accessKeyId')).toStrictEqual(['BOBKEY']);
    expect(await ids(auth.credentials.list('alice'), 'accessKeyId')).toStrictEqual([]);
    for (const accessKeyId of ['ab', 'a:bc', 'a/bc', 'a,bc', 'a=bc', 'a bc', 'x'.repeat(129)]) {
      await expect(
        auth.credentials.create('bob', actor, { accessKeyId, secretAccessKey: 's' }),
      ).rejects.toMatchObject({ kind: 'invalid' });
    }
  });

  it('are stored so that neither secret nor record can be moved (threat T3)', async () => {
    const kv = createMemStore();
    const { auth } = await makeAuth({ kv, cache: { enabled: false, size: 1, ttlMs: 1, jitterMs: 0 } });
    await auth.users.create({ username: 'alice' }, actor);
    const secretAccessKey = 'a secret that must not be found';
    await auth.credentials.create('alice', actor, { accessKeyId: 'ALICE', secretAccessKey });
    await auth.credentials.create('alice', actor, { accessKeyId: 'OTHER', secretAccessKey: 'x' });
    const partition = Buffer.from('auth');
    const dump: string[] = [];
    for await (const page of kv.scan(partition)) {
      for (const { key, value } of page) dump.push(key.toString('latin1'), value.toString('latin1'));
    }
    expect(dump.join('\n')).not.toContain(secretAccessKey);
    const stolen = await kv.get(partition, Buffer.from('credentials/ALICE'));
    await kv.set(partition, Buffer.from('credentials/OTHER'), stolen!.value);
    await expect(auth.authenticate(basic('OTHER', secretAccessKey))).rejects.toMatchObject({
      kind: 'unavailable',
    });
    await expect(auth.authenticate(basic('ALICE', secretAccessKey))).resolves.toBeDefined();
  });

  it('stop at once on every worker, elsewhere within the lifetime of the cache', async () => {
    const state = new MemState();
    const bus = new LocalCacheBus();
    const workers = [
      await makeAuth({ kv: createMemStore(state), cacheBus: bus }),
      await makeAuth({ kv: createMemStore(state), cacheBus: bus }),
    ];
    const elsewhere = await makeAuth({ kv: createMemStore(state) });
    const [worker] = workers as [AuthFixture];
    await worker.auth.setup.run({ username: 'admin' });
    await worker.auth.users.create({ username: 'alice' }, actor);
    await worker.auth.users.attachPolicy('alice', 'FSFullAccess', actor);
    const key = await worker.auth.credentials.create('alice', actor);
    const request = basic(key.accessKeyId, key.secretAccessKey);
    const reading = one('fs:ReadObject', arn.object('r', 'k'));
    for (const { auth } of [...workers, elsewhere]) {
      const identity = await auth.authenticate(request);
      expect(await auth.authorize(identity!, reading, local)).toStrictEqual({ allowed: true });
      expect(auth.authenticateAtOnce(request.headers, request)).toBe(identity);
      expect(auth.allowsAtOnce(identity!, reading, local)).toBe(true);
    }
    const { user } = (await worker.auth.authenticate(request))!;

    await worker.auth.users.detachPolicy('alice', 'FSFullAccess', actor);
    for (const { auth } of workers) {
      expect(auth.allowsAtOnce({ user, method: 'basic' }, reading, local)).toBe(false);
      expect(await decide(auth, 'alice', reading)).toBe(false);
    }
    expect(await decide(elsewhere.auth, 'alice', reading)).toBe(true);
    await worker.auth.credentials.delete('alice', key.accessKeyId, actor);
    for (const { auth } of workers) {
      expect(auth.authenticateAtOnce(request.headers, request)).toBeUndefined();
      await expect(auth.authenticate(request)).rejects.toMatchObject({ kind: 'unauthenticated' });
      expect(await auth.credentialsFor(key.accessKeyId)).toBeUndefined();
    }
    await expect(elsewhere.auth.authenticate(request)).resolves.toBeDefined();
    expect(elsewhere.auth.authenticateAtOnce(request.headers, request)).toBeDefined();
    elsewhere.clock.now += 23_000;
    expect(elsewhere.auth.authenticateAtOnce(request.headers, request)).toBeUndefined();
    await expect(elsewhere.auth.authenticate(request)).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(await decide(elsewhere.auth, 'alice', reading)).toBe(false);
  });
});

describe('external principals', () => {
  it('stand for one user each', async () => {
    const { auth } = await makeAuth();
    await auth.users.create({ username: 'alice' }, actor);
    await auth.users.create({ username: 'bob' }, actor);
    for (const id of ['c/3', 'a/1', 'b/2']) await auth.externalPrincipals.attach('alice', id, actor);
    await expect(auth.externalPrincipals.attach('alice', 'a/1', actor)).rejects.toMatchObject(alreadyExists);
    await expect(auth.externalPrincipals.attach('bob', 'a/1', actor)).rejects.toMatchObject(alreadyExists);
    expect(await auth.externalPrincipals.get('a/1')).toStrictEqual({ id: 'a/1', username: 'alice' });
    expect(await ids(auth.externalPrincipals.list('alice', { after: 'a/1', amount: 1 }), 'id')).toStrictEqual(
      ['b/2'],
    );
    await expect(auth.externalPrincipals.detach('bob', 'a/1', actor)).rejects.toMatchObject({
      kind: 'not_found',
    });
    await auth.externalPrincipals.detach('alice', 'a/1', actor);
    await auth.externalPrincipals.attach('bob', 'a/1', actor);
    await auth.users.delete('bob', actor);
    await expect(auth.externalPrincipals.get('a/1')).rejects.toMatchObject({ kind: 'not_found' });
    await auth.externalPrincipals.attach('alice', 'a/1', actor);
  });
});

describe('events', () => {
  it('name actor and target, and no secret', async () => {
    const { auth, log } = await makeAuth();
    const admin = await auth.setup.run({ username: 'admin' });
    await auth.users.create({ username: 'alice' }, { username: 'admin', requestId: 'r-1' });
    const key = await auth.credentials.create('alice', { username: 'admin' });
    await auth.login({ username: key.accessKeyId, password: key.secretAccessKey, client: local });
    const mistyped = { username: key.accessKeyId, password: 'mistyped it', client: local };
    await expect(auth.login(mistyped)).rejects.toMatchObject({ kind: 'unauthenticated' });
    await auth.credentials.delete('alice', key.accessKeyId, { username: 'admin' });
    const text = log.lines.join('\n');
    const lines = log.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toContainEqual(
      expect.objectContaining({ event: 'user created', actor: 'admin', user: 'alice', request_id: 'r-1' }),
    );
    for (const event of [
      'setup complete',
      'credentials created',
      'credentials deleted',
      'login',
      'login failed',
    ]) {
      expect(lines).toContainEqual(expect.objectContaining({ event, level: 'info' }));
    }
    for (const secret of [admin.secretAccessKey, key.secretAccessKey, 'mistyped it'])
      expect(text).not.toContain(secret);
  });
});
