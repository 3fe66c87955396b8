import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, bearer, local, makeAuth } from '../../test/make-auth.ts';
import { alice, loginAs, refused, withAlice } from '../../test/with-alice.ts';

describe('sessions', () => {
  it('are listed with where they came from, and hold no token', async () => {
    const { auth, clock } = await withAlice();
    const { accessKeyId: username, secretAccessKey: password } = alice;
    const session = await auth.login({ username, password, client: local, agent: 'a browser' });
    const { results } = await auth.sessions.list('alice');
    expect(results).toStrictEqual([
      {
        id: session.id,
        beganAt: Math.floor(clock.now / 1000),
        expiresAt: session.expiresAt,
        ip: '127.0.0.1',
        agent: 'a browser',
        accessKeyId: 'ALICE',
      },
    ]);
    expect(JSON.stringify(results)).not.toContain(session.token);
  });

  it('end one by one, on every worker, and all at once', async () => {
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const one = await withAlice({ cacheBus, kv: createMemStore(state) });
    const two = await makeAuth({ cacheBus, kv: createMemStore(state) });
    const [first, second, third] = [await loginAs(one), await loginAs(one), await loginAs(two)];
    for (const { token } of [first, second, third])
      for (const { auth } of [one, two]) await auth.authenticate(bearer(token));
    await two.auth.sessions.end('alice', first.id, actor);
    await expect(two.auth.sessions.end('alice', first.id, actor)).rejects.toMatchObject({
      kind: 'not_found',
    });
    for (const { auth } of [one, two]) {
      await expect(auth.authenticate(bearer(first.token))).rejects.toMatchObject(refused);
      await expect(auth.authenticate(bearer(second.token))).resolves.toMatchObject({
        session: { id: second.id },
      });
    }
    await one.auth.sessions.endAll('alice', actor);
    for (const { token } of [second, third])
      for (const { auth } of [one, two])
        await expect(auth.authenticate(bearer(token))).rejects.toMatchObject(refused);
    expect((await one.auth.sessions.list('alice')).results).toStrictEqual([]);
    expect((await loginAs(one)).token).toBeDefined();
  });

  it('are not those of a later user of the same name and key', async () => {
    const fixture = await withAlice();
    const { token } = await loginAs(fixture);
    await fixture.auth.users.delete('alice', actor);
    fixture.clock.now += 60_000;
    await fixture.auth.users.create({ username: 'alice' }, actor);
    await fixture.auth.credentials.create('alice', actor, alice);
    await expect(fixture.auth.authenticate(bearer(token))).rejects.toMatchObject(refused);
    await expect(fixture.auth.authenticate(bearer((await loginAs(fixture)).token))).resolves.toBeDefined();
  });

  it("are nobody else's to end", async () => {
    const fixture = await withAlice();
    await fixture.auth.users.create({ username: 'bob' }, actor);
    const { id, token } = await loginAs(fixture);
    await expect(fixture.auth.sessions.end('bob', id, actor)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(fixture.auth.authenticate(bearer(token))).resolves.toBeDefined();
  });

  it('are listed up to a number, the newest ones, however often a program logs in', async () => {
    const fixture = await withAlice();
    const { auth, clock } = fixture;
    const first = await loginAs(fixture);
    for (let count = 0; count < 1250; count += 1) {
      clock.now += 1000;
      await loginAs(fixture);
    }
    const last = await loginAs(fixture);
    const listed: string[] = [];
    for (let after = '', hasMore = true; hasMore;) {
      const page = await auth.sessions.list('alice', { after, amount: 1000 });
      listed.push(...page.results.map(({ id }) => id));
      ({ hasMore, nextOffset: after } = page);
    }
    expect(listed.length).toBeGreaterThanOrEqual(1000);
    expect(listed.length).toBeLessThan(1100);
    expect(listed).toContain(last.id);
    expect(listed).not.toContain(first.id);
    // A session that is no longer listed still is one, and ends with all the others.
    await expect(auth.authenticate(bearer(first.token))).resolves.toBeDefined();
    await auth.sessions.endAll('alice', actor);
    await expect(auth.authenticate(bearer(first.token))).rejects.toMatchObject(refused);
  });

  it('are forgotten when they have expired', async () => {
    const { auth, clock, kv } = await withAlice();
    const fixture = { auth, clock, kv } as Awaited<ReturnType<typeof withAlice>>;
    const ended = await loginAs(fixture);
    await loginAs(fixture);
    await auth.sessions.end('alice', ended.id, actor);
    const count = async () => {
      let found = 0;
      for await (const page of kv.scan(Buffer.from('auth')))
        found += page.filter(({ key }) => /^u(?:Ended)?Sessions/.test(key.toString())).length;
      return found;
    };
    await auth.sessions.trim(async () => true);
    expect(await count()).toBe(2);
    clock.now += 200 * 3_600_000;
    expect((await auth.sessions.list('alice')).results).toStrictEqual([]);
    await auth.sessions.trim(async () => true);
    expect(await count()).toBe(0);
  });
});
