import { createMemStore, LocalCacheBus, MemState, type KvStore } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, basic, local, makeAuth } from '../../test/make-auth.ts';

describe('setup', () => {
  it('makes the first administrator once', async () => {
    const { auth } = await makeAuth();
    expect(await auth.setup.state()).toStrictEqual({ initialized: false, commPrefsMissing: false });
    await expect(auth.setup.run({ username: '' })).rejects.toMatchObject({
      kind: 'invalid',
      message: 'empty user display name',
    });
    const key = await auth.setup.run({ username: 'admin' });
    expect(key.accessKeyId).toMatch(/^AKIAJ[A-Z2-7]{14}Q$/);
    expect(key.secretAccessKey).toMatch(/^[A-Za-z0-9+/]{40}$/);
    expect(await auth.setup.state()).toStrictEqual({ initialized: true, commPrefsMissing: true });
    await expect(auth.setup.run({ username: 'admin' })).rejects.toMatchObject({
      kind: 'already_initialized',
    });
    await expect(auth.setup.run({ username: '' })).rejects.toMatchObject({ kind: 'invalid' });
    const identity = await auth.authenticate(basic(key.accessKeyId, key.secretAccessKey));
    expect(identity).toMatchObject({ user: { username: 'admin', source: 'internal' }, method: 'basic' });
    expect((await auth.groups.members('Admins')).results.map((user) => user.username)).toStrictEqual([
      'admin',
    ]);
  });

  it('takes the key of the operator and refuses impossible ones', async () => {
    const { auth } = await makeAuth();
    const bad = { accessKeyId: 'a:b', secretAccessKey: 's' };
    await expect(auth.setup.run({ username: 'admin', key: bad })).rejects.toMatchObject({ kind: 'invalid' });
    const empty = { accessKeyId: 'AKIA', secretAccessKey: '' };
    await expect(auth.setup.run({ username: 'admin', key: empty })).rejects.toMatchObject({
      kind: 'invalid',
    });
    const key = { accessKeyId: 'MYKEY', secretAccessKey: 'my secret' };
    expect(await auth.setup.run({ username: 'admin', key })).toMatchObject(key);
    expect(await auth.authenticate(basic('MYKEY', 'my secret'))).toMatchObject({ accessKeyId: 'MYKEY' });
  });

  it('lets exactly one of twenty callers win', async () => {
    const state = new MemState();
    const first = await makeAuth({ kv: createMemStore(state) });
    const second = await makeAuth({ kv: createMemStore(state) });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? first : second).auth.setup.run({ username: `admin-${index}` }, local),
      ),
    );
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    const kinds = outcomes
      .filter((outcome) => outcome.status === 'rejected')
      .map((outcome) => (outcome.reason as { kind: string }).kind);
    expect(won).toHaveLength(1);
    expect(new Set(kinds)).toStrictEqual(new Set(['already_initialized']));
    expect((await first.auth.users.list()).results).toHaveLength(1);
    expect((await first.auth.groups.members('Admins')).results).toHaveLength(1);
  });

  it('starts again after a crash at any write', async () => {
    const key = { accessKeyId: 'MYKEY', secretAccessKey: 'my secret' };
    const dying = new DyingStore();
    const cache = { enabled: false, size: 1, ttlMs: 1, jitterMs: 0 };
    const { auth, clock } = await makeAuth({ kv: dying, cache });
    for (let writes = 0; writes < 200; writes++) {
      dying.reset(writes);
      const outcome = await auth.setup.run({ username: 'admin', key }).then(
        () => 'done',
        () => 'crashed',
      );
      dying.revive();
      clock.now += 61_000;
      if (!(await auth.setup.state()).initialized) await auth.setup.run({ username: 'admin', key });
      expect(await auth.authenticate(basic('MYKEY', 'my secret'))).toMatchObject({
        user: { username: 'admin' },
      });
      expect((await auth.groups.members('Admins')).results).toHaveLength(1);
      expect((await auth.policies.list({ amount: 1000 })).results).toHaveLength(12);
      if (outcome === 'done') {
        expect(writes).toBeGreaterThan(40);
        return;
      }
    }
    expect.unreachable('the setup never finished');
  });

  it('keeps communication preferences, once', async () => {
    const prefs = { email: 'a@example.com', featureUpdates: true, securityUpdates: false };
    const { auth } = await makeAuth();
    await expect(auth.setup.setCommPrefs(prefs)).rejects.toMatchObject({ kind: 'not_initialized' });
    await auth.setup.run({ username: 'admin' });
    await expect(auth.setup.setCommPrefs({ ...prefs, email: 'nobody' })).rejects.toMatchObject({
      message: 'invalid email address',
    });
    await expect(auth.setup.setCommPrefs({ ...prefs, email: undefined })).rejects.toMatchObject({
      message: 'email is required',
    });
    await auth.setup.setCommPrefs(prefs);
    expect((await auth.setup.state()).commPrefsMissing).toBe(false);
    await expect(auth.setup.setCommPrefs(prefs)).rejects.toMatchObject({ kind: 'already_exists' });
    expect((await auth.installation.metadata()).get('encoded_user_email')).toBe('YUBleGFtcGxlLmNvbQ==');

    const other = await makeAuth();
    await other.auth.setup.run({ username: 'admin', commPrefs: prefs });
    expect((await other.auth.setup.state()).commPrefsMissing).toBe(false);
    await expect(other.auth.setup.setCommPrefs(prefs)).rejects.toMatchObject({ kind: 'already_exists' });
    const third = await makeAuth();
    await expect(
      third.auth.setup.run({ username: 'admin', commPrefs: { email: 'no at' } }),
    ).rejects.toMatchObject({ kind: 'invalid', message: 'invalid email address' });
  });

  it('creates exactly the policies and groups of the product', async () => {
    const { auth } = await makeAuth();
    await auth.setup.run({ username: 'admin' });
    const policies = (await auth.policies.list()).results;
    expect(policies.map((policy) => policy.id)).toStrictEqual([
      'AuthFullAccess',
      'AuthManageOwnCredentials',
      'BranchesFullAccess',
      'BranchesReadAll',
      'ExportSetConfiguration',
      'FSFullAccess',
      'FSReadAll',
      'FSReadWriteAll',
      'PRReadAll',
      'PRReadWriteAll',
      'RepoManagementFullAccess',
      'RepoManagementReadAll',
    ]);
    expect((await auth.policies.get('FSReadWriteAll')).statement[0]?.action).toHaveLength(13);
    expect((await auth.policies.get('RepoManagementFullAccess')).statement).toStrictEqual([
      { effect: 'allow', action: ['ci:*'], resource: '*' },
      { effect: 'allow', action: ['retention:*'], resource: '*' },
    ]);
    expect((await auth.policies.get('AuthManageOwnCredentials')).statement[0]?.resource).toBe(
      'arn:svc:auth:::user/${user}',
    );
    const attached: Record<string, string[]> = {};
    for (const group of (await auth.groups.list()).results) {
      attached[group.id] = (await auth.groups.policies(group.id)).results.map((policy) => policy.id);
    }
    expect(attached).toStrictEqual({
      Admins: [
        'AuthFullAccess',
        'BranchesFullAccess',
        'ExportSetConfiguration',
        'FSFullAccess',
        'PRReadWriteAll',
        'RepoManagementFullAccess',
      ],
      Developers: [
        'AuthManageOwnCredentials',
        'BranchesReadAll',
        'FSReadWriteAll',
        'PRReadWriteAll',
        'RepoManagementReadAll',
      ],
      SuperUsers: [
        'AuthManageOwnCredentials',
        'BranchesReadAll',
        'FSFullAccess',
        'PRReadWriteAll',
        'RepoManagementReadAll',
      ],
      Viewers: ['AuthManageOwnCredentials', 'FSReadAll'],
    });
  });

  it('notices another secret key once there are secrets', async () => {
    const kv = createMemStore();
    await makeAuth({ kv, encryptSecretKey: 'the first secret key' });
    const { auth } = await makeAuth({ kv, encryptSecretKey: 'changed before the setup' });
    await auth.setup.run({ username: 'admin' });
    await expect(makeAuth({ kv, encryptSecretKey: 'the first secret key' })).rejects.toMatchObject({
      kind: 'configuration',
      message: 'auth.encrypt.secret_key does not match this installation',
    });
    await makeAuth({ kv, encryptSecretKey: 'changed before the setup' });
  });

  it('adds a superuser, also when the group of administrators is gone', async () => {
    const { auth } = await makeAuth();
    await expect(auth.setup.createSuperuser('second')).rejects.toMatchObject({ kind: 'not_initialized' });
    await auth.setup.run({ username: 'admin' });
    await auth.groups.delete('Admins', actor);
    await auth.policies.delete('AuthFullAccess', actor);
    const key = await auth.setup.createSuperuser('second');
    const identity = await auth.authenticate(basic(key.accessKeyId, key.secretAccessKey));
    const decision = await auth.authorize(
      identity!,
      { type: 'one', action: 'auth:CreateUser', resource: 'arn:svc:auth:::user/x' },
      local,
    );
    expect(decision).toStrictEqual({ allowed: true });
    await expect(auth.setup.createSuperuser('second')).rejects.toMatchObject({ kind: 'already_exists' });
  });

  it('refuses to start without a key or with an unreadable proxy list, and warns of a short key', async () => {
    await expect(makeAuth({ encryptSecretKey: '' })).rejects.toMatchObject({ kind: 'configuration' });
    await expect(makeAuth({ trustedProxies: ['10.0.0.0/99'] })).rejects.toThrow(/security\.trusted_proxies/);
    await expect(makeAuth({ mode: 'external' })).rejects.toMatchObject({ kind: 'configuration' });
    const { log } = await makeAuth({ encryptSecretKey: 'short' });
    expect(log.lines.join('\n')).toMatch(/shorter than 16 bytes/);
  });

  it('limits failing setup calls of one address', async () => {
    const { auth, clock } = await makeAuth();
    const bad = { username: 'admin', commPrefs: { email: 'nobody' } };
    for (let attempt = 0; attempt < 10; attempt++) {
      await expect(auth.setup.run(bad, local)).rejects.toMatchObject({ kind: 'invalid' });
    }
    await expect(auth.setup.run({ username: 'admin' }, local)).rejects.toMatchObject({
      kind: 'too_many_failures',
    });
    clock.now += 60_001;
    await auth.setup.run({ username: 'admin' }, local);
  });

  it('has one installation id, also when servers start together', async () => {
    const state = new MemState();
    const fixtures = await Promise.all([1, 2, 3].map(() => makeAuth({ kv: createMemStore(state) })));
    const ids = await Promise.all(fixtures.map(({ auth }) => auth.installation.id()));
    expect(new Set(ids).size).toBe(1);
    expect(
      (await makeAuth({ fixedInstallationId: 'mine', cacheBus: new LocalCacheBus() })).auth,
    ).toBeDefined();
  });
});

/** Fails every write after the first few, as if the process had died there. */
class DyingStore implements KvStore {
  readonly type = 'mem';
  #kv = createMemStore();
  #left = Number.POSITIVE_INFINITY;

  /** An empty store that takes so many writes. */
  reset(writes: number): void {
    this.#kv = createMemStore();
    this.#left = writes;
  }

  revive(): void {
    this.#left = Number.POSITIVE_INFINITY;
  }

  get: KvStore['get'] = (...args) => this.#kv.get(...args);
  set: KvStore['set'] = async (...args) => this.#writing().set(...args);
  setIf: KvStore['setIf'] = async (...args) => this.#writing().setIf(...args);
  change: KvStore['change'] = async (...args) => this.#writing().change(...args);
  getMany: KvStore['getMany'] = (...args) => this.#kv.getMany(...args);
  setMany: KvStore['setMany'] = async (...args) => this.#writing().setMany(...args);
  deleteMany: KvStore['deleteMany'] = async (...args) => this.#writing().deleteMany(...args);
  maxKeyBytes: KvStore['maxKeyBytes'] = (partition) => this.#kv.maxKeyBytes(partition);
  delete: KvStore['delete'] = async (...args) => this.#writing().delete(...args);
  deleteIf: KvStore['deleteIf'] = async (...args) => this.#writing().deleteIf(...args);
  scan: KvStore['scan'] = (...args) => this.#kv.scan(...args);
  partitions: KvStore['partitions'] = () => this.#kv.partitions();
  close: KvStore['close'] = () => this.#kv.close();

  #writing(): KvStore {
    if (this.#left <= 0) throw new Error('the process died');
    this.#left--;
    return this.#kv;
  }
}
