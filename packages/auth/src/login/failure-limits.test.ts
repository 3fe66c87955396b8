import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { basic, bearer, head, local, makeAuth, type AuthFixture } from '../../test/make-auth.ts';
import { loginAs, refused, withAlice } from '../../test/with-alice.ts';

describe('failure limits', () => {
  it('never lock out a correct access key, and never count successes', async () => {
    const fixture = await withAlice();
    for (let attempt = 0; attempt < 50; attempt++) {
      await expect(loginAs(fixture, 'wrong')).rejects.toMatchObject(refused);
    }
    await expect(loginAs(fixture)).resolves.toBeDefined();
    for (let attempt = 0; attempt < 200; attempt++) await loginAs(fixture);
    for (let attempt = 0; attempt < 20; attempt++) {
      await expect(loginAs(fixture, 'wrong', 'NOBODY')).rejects.toMatchObject(refused);
    }
  });

  it('keep little of what strangers send', async () => {
    const { auth, log } = await makeAuth();
    const username = `${'x'.repeat(1_000_000)}@example.com`;
    await expect(auth.login({ username, password: 'p', client: local })).rejects.toMatchObject(refused);
    expect(log.lines.join('').length).toBeLessThan(1000);
  });

  it('slow down an address that fails a hundred times, but let the keys of its neighbours pass', async () => {
    const { auth, clock } = await withAlice();
    for (let attempt = 0; attempt < 100; attempt++) {
      await expect(auth.authenticate(basic(`GUESS${attempt}`, 'x'))).rejects.toMatchObject(refused);
    }
    const limited = { kind: 'too_many_failures', retryAfterSeconds: 60 };
    await expect(auth.authenticate(basic('GUESS', 'x'))).rejects.toMatchObject(limited);
    expect(() => auth.signatureFailed(local, 'GUESS')).toThrow(/too many failed attempts/);
    expect(() => auth.signatureFailed({ ip: '127.0.0.2', secure: false }, 'GUESS')).not.toThrow();
    await expect(auth.authenticate(basic('ALICE', 'alice:secret'))).resolves.toBeDefined();
    clock.now += 60_001;
    await expect(auth.authenticate(basic('GUESS', 'x'))).rejects.toMatchObject(refused);
  });

  it('try no guess of an address that has failed a hundred times, so that none can be right', async () => {
    const fixture = await withAlice();
    const { auth, clock } = fixture;
    const limited = { kind: 'too_many_failures' };
    const right = basic('ALICE', 'alice:secret');
    for (let attempt = 0; attempt < 100; attempt++) {
      await expect(auth.authenticate(basic('ALICE', `${attempt}`))).rejects.toMatchObject(refused);
    }
    await expect(auth.authenticate(right)).rejects.toMatchObject(limited);
    await expect(auth.credentialsFor('ALICE', local)).rejects.toMatchObject(limited);
    await expect(loginAs(fixture)).rejects.toMatchObject(limited);
    const elsewhere = { ip: '127.0.0.2', secure: false };
    await expect(auth.authenticate({ ...right, client: elsewhere })).resolves.toBeDefined();
    await expect(auth.credentialsFor('ALICE', elsewhere)).resolves.toBeDefined();
    clock.now += 60_001;
    await expect(auth.authenticate(right)).resolves.toBeDefined();
    await expect(loginAs(fixture)).resolves.toBeDefined();
  });

  it('let nobody log in from such an address, whatever names it failed with', async () => {
    const fixture = await withAlice();
    for (let attempt = 0; attempt < 100; attempt++) {
      await expect(loginAs(fixture, 'x', `GUESS${attempt}`)).rejects.toMatchObject(refused);
    }
    await expect(loginAs(fixture)).rejects.toMatchObject({ kind: 'too_many_failures' });
    // Waiting is no failure, or the wait would never end.
    fixture.clock.now += 60_001;
    await expect(loginAs(fixture)).resolves.toBeDefined();
  });

  it('stop guessing at one name through other authenticators, on all workers', async () => {
    const tried: string[] = [];
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const directory = {
      source: 'ldap',
      defaultGroup: 'Viewers',
      authenticate: ({ username, password }: { username: string; password: string }) => {
        tried.push(username);
        return Promise.resolve(password === 'right' ? { userId: `cn=${username}` } : undefined);
      },
    };
    const options = { cacheBus, passwordAuthenticators: [directory] };
    const one = await makeAuth({ ...options, kv: createMemStore(state) });
    const two = await makeAuth({ ...options, kv: createMemStore(state) });
    await one.auth.setup.run({ username: 'admin' });
    const attempt = (fixture: AuthFixture, username: string, password: string) =>
      fixture.auth.login({ username, password, client: local });
    for (let count = 0; count < 9; count++) {
      await expect(attempt(count % 2 === 0 ? one : two, 'eve', 'wrong')).rejects.toMatchObject(refused);
    }
    await expect(attempt(one, 'eve', 'right')).resolves.toMatchObject({ username: 'cn=eve' });
    for (let count = 0; count < 10; count++) {
      await expect(attempt(count % 2 === 0 ? one : two, 'eve', 'wrong')).rejects.toMatchObject(refused);
    }
    const asked = tried.length;
    for (const fixture of [one, two]) {
      await expect(attempt(fixture, 'eve', 'right')).rejects.toMatchObject({
        kind: 'too_many_failures',
        retryAfterSeconds: 60,
      });
    }
    expect(tried).toHaveLength(asked);
    await expect(attempt(one, 'bob', 'wrong')).rejects.toMatchObject(refused);
    for (const { clock } of [one, two]) clock.now += 60_001;
    await expect(attempt(two, 'eve', 'right')).resolves.toBeDefined();
  });
});

describe('logout', () => {
  const asCookie = (token: string, headers: Record<string, string> = {}) =>
    head({ cookie: `access_token=${token}`, ...headers });

  it('ends this session of the user on all workers, and leaves the others', async () => {
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const one = await withAlice({ cacheBus, kv: createMemStore(state) });
    const two = await makeAuth({ cacheBus, kv: createMemStore(state) });
    const sessions = [await loginAs(one), await loginAs(two)];
    for (const { token } of sessions)
      for (const { auth } of [one, two])
        await expect(auth.authenticate(bearer(token))).resolves.toBeDefined();
    await one.auth.logout(asCookie(sessions[0]?.token ?? ''));
    for (const { auth } of [one, two]) {
      await expect(auth.authenticate(bearer(sessions[0]?.token ?? ''))).rejects.toMatchObject(refused);
      await expect(auth.authenticate(bearer(sessions[1]?.token ?? ''))).resolves.toBeDefined();
    }
    await expect(two.auth.authenticate(basic('ALICE', 'alice:secret'))).resolves.toBeDefined();
  });

  it('ends also what began in the same second, each time', async () => {
    const fixture = await withAlice();
    for (let round = 0; round < 3; round++) {
      const { token } = await loginAs(fixture);
      await expect(fixture.auth.authenticate(bearer(token))).resolves.toBeDefined();
      await fixture.auth.logout(bearer(token));
      await expect(fixture.auth.authenticate(bearer(token))).rejects.toMatchObject(refused);
    }
  });

  it('is not for strangers, nor for the pages of other sites', async () => {
    const fixture = await withAlice();
    const { token } = await loginAs(fixture);
    await fixture.auth.logout(head({}));
    await fixture.auth.logout(bearer('a.b.c'));
    await fixture.auth.logout(basic('ALICE', 'wrong'));
    await fixture.auth.logout(asCookie(token, { 'sec-fetch-site': 'cross-site' }));
    await fixture.auth.logout(asCookie(token, { origin: 'http://evil.example', host: 'svc.example' }));
    await expect(fixture.auth.authenticate(bearer(token))).resolves.toBeDefined();
  });
});
