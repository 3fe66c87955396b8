import { hash } from 'node:crypto';
import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, bearer, head, local, makeAuth, type AuthFixture } from '../../test/make-auth.ts';
import { alice, loginAs, refused, withAlice } from '../../test/with-alice.ts';

const verifier = 'v'.repeat(43);
const start = { challenge: hash('sha256', verifier, 'base64url'), host: 'laptop', client: local };
const callback = { port: 4711, state: 'the state of the program' };
const unknown = { kind: 'not_found' };

/** Alice's browser. */
async function browserOf(fixture: AuthFixture) {
  const session = await loginAs(fixture);
  const identity = await fixture.auth.authenticate(head({ cookie: `access_token=${session.token}` }));
  if (identity === undefined) throw new Error('the browser is not logged in');
  return { identity, session };
}

/** What the browser brings to the program. */
function codeIn(redirect: string | undefined): string {
  return new URL(redirect ?? '').searchParams.get('code') ?? '';
}

describe('the login of a program', () => {
  it('gives a token once, after a person has typed its code and approved it', async () => {
    const fixture = await withAlice();
    const { auth, clock } = fixture;
    const { identity } = await browserOf(fixture);
    const { name, expiresAt } = await auth.cliLogins.begin(start);
    expect(name).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(expiresAt).toBe(Math.floor(clock.now / 1000) + 600);
    await expect(auth.cliLogins.finish(name, { verifier }, local)).resolves.toBeUndefined();
    await expect(auth.cliLogins.get(name, identity)).resolves.toStrictEqual({
      name,
      host: 'laptop',
      ip: '127.0.0.1',
      expiresAt,
    });
    await expect(auth.cliLogins.approve(name, identity)).resolves.toStrictEqual({ redirect: undefined });
    const session = await auth.cliLogins.finish(name, { verifier }, { ip: '10.0.0.9', secure: false });
    expect(session).toMatchObject({
      username: 'alice',
      expiresAt: Math.floor(clock.now / 1000) + 12 * 3600,
    });
    await expect(auth.authenticate(bearer(session?.token ?? ''))).resolves.toMatchObject({
      user: { username: 'alice' },
      accessKeyId: 'ALICE',
    });
    expect((await auth.sessions.list('alice')).results).toContainEqual(
      expect.objectContaining({ id: session?.id, ip: '10.0.0.9', agent: 'svcctl on laptop' }),
    );
    await expect(auth.cliLogins.finish(name, { verifier }, local)).rejects.toMatchObject(unknown);
    await expect(auth.cliLogins.approve(name, identity)).rejects.toMatchObject(unknown);
  });

  it('needs the code that only the approving browser carries, where the program listens for it', async () => {
    const fixture = await withAlice();
    const { cliLogins } = fixture.auth;
    const { identity } = await browserOf(fixture);
    const { name } = await cliLogins.begin({ ...start, callback });
    const { redirect } = await cliLogins.approve(name, identity);
    const url = new URL(redirect ?? '');
    expect(url.origin).toBe('http://127.0.0.1:4711');
    expect(url.searchParams.get('state')).toBe(callback.state);
    for (const code of [undefined, '', 'wrong'])
      await expect(cliLogins.finish(name, { verifier, code }, local)).rejects.toMatchObject(unknown);
    await expect(cliLogins.finish(name, { verifier, code: codeIn(redirect) }, local)).resolves.toMatchObject({
      username: 'alice',
    });
  });

  it('is of no use to whoever has the code but not the verifier', async () => {
    const fixture = await withAlice();
    const { cliLogins } = fixture.auth;
    const { identity } = await browserOf(fixture);
    const { name } = await cliLogins.begin({ ...start, callback });
    const code = codeIn((await cliLogins.approve(name, identity)).redirect);
    for (const wrong of ['', 'w'.repeat(43), start.challenge])
      await expect(cliLogins.finish(name, { verifier: wrong, code }, local)).rejects.toMatchObject(unknown);
    await expect(cliLogins.finish(name, { verifier, code }, local)).resolves.toBeDefined();
  });

  it('is approved by browsers only, and by one person only', async () => {
    const fixture = await withAlice();
    const { cliLogins } = fixture.auth;
    const { identity } = await browserOf(fixture);
    const { name } = await cliLogins.begin(start);
    for (const method of ['bearer', 'basic', 'sig_v4', 'anonymous'] as const) {
      await expect(cliLogins.approve(name, { ...identity, method })).rejects.toMatchObject({
        kind: 'forbidden',
      });
    }
    const bob = { user: { username: 'bob', createdAt: 0, source: 'internal' }, method: 'cookie' } as const;
    const outcomes = await Promise.allSettled([
      cliLogins.approve(name, identity),
      cliLogins.approve(name, bob),
    ]);
    expect(outcomes.map(({ status }) => status).toSorted()).toStrictEqual(['fulfilled', 'rejected']);
  });

  it('is finished once, however many ask at once and on whichever worker', async () => {
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const one = await withAlice({ cacheBus, kv: createMemStore(state) });
    const two = await makeAuth({ cacheBus, kv: createMemStore(state) });
    const { identity } = await browserOf(one);
    const { name } = await one.auth.cliLogins.begin(start);
    await one.auth.cliLogins.approve(name, identity);
    const outcomes = await Promise.allSettled(
      [one, two, one, two].map(({ auth }) => auth.cliLogins.finish(name, { verifier }, local)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('ends after ten minutes, and is then forgotten', async () => {
    const fixture = await withAlice();
    const { auth, clock, kv } = fixture;
    const { identity } = await browserOf(fixture);
    const { name } = await auth.cliLogins.begin(start);
    const approved = await auth.cliLogins.begin(start);
    await auth.cliLogins.approve(approved.name, identity);
    clock.now += 600_000;
    await expect(auth.cliLogins.approve(name, identity)).rejects.toMatchObject(unknown);
    await expect(auth.cliLogins.finish(approved.name, { verifier }, local)).rejects.toMatchObject(unknown);
    await auth.sessions.trim(() => Promise.resolve(true));
    for await (const page of kv.scan(Buffer.from('auth')))
      expect(page.map(({ key }) => key.toString()).filter((key) => key.startsWith('cliLogins/'))).toEqual([]);
  });

  it('never outlives the session, the key or the user it comes from', async () => {
    const fixture = await withAlice({ loginDurationMs: 3_600_000 });
    const { auth } = fixture;
    const { identity, session } = await browserOf(fixture);
    const approved = async (): Promise<string> => {
      const { name } = await auth.cliLogins.begin(start);
      await auth.cliLogins.approve(name, identity);
      return name;
    };
    const token = await auth.cliLogins.finish(await approved(), { verifier }, local);
    expect(token?.expiresAt).toBe(session.expiresAt);

    const late = await approved();
    await auth.sessions.end('alice', session.id, actor);
    await expect(auth.cliLogins.finish(late, { verifier }, local)).rejects.toMatchObject(unknown);

    await auth.credentials.delete('alice', alice.accessKeyId, actor);
    await expect(auth.authenticate(bearer(token?.token ?? ''))).rejects.toMatchObject(refused);
  });

  it('is over with everything else when its person logs out everywhere meanwhile', async () => {
    const fixture = await withAlice();
    const { auth, clock } = fixture;
    const { identity } = await browserOf(fixture);
    const { name } = await auth.cliLogins.begin(start);
    await auth.cliLogins.approve(name, identity);
    clock.now += 2000;
    await auth.sessions.endAll('alice', actor);
    await expect(auth.cliLogins.finish(name, { verifier }, local)).rejects.toMatchObject(unknown);
  });

  it('is not begun, guessed or tried without limit', async () => {
    const fixture = await withAlice();
    const { cliLogins } = fixture.auth;
    const { identity } = await browserOf(fixture);
    const tooMany = { kind: 'too_many_failures' };
    for (let count = 0; count < 10; count += 1)
      await expect(cliLogins.get('BCDF-GHJK', identity)).rejects.toMatchObject(unknown);
    const { name } = await cliLogins.begin(start);
    await expect(cliLogins.get(name, identity)).rejects.toMatchObject(tooMany);
    await expect(cliLogins.approve(name, identity)).rejects.toMatchObject(tooMany);
    for (let count = 1; count < 30; count += 1) await cliLogins.begin(start);
    await expect(cliLogins.begin(start)).rejects.toMatchObject(tooMany);
    await expect(cliLogins.finish(name, { verifier: 'guess' }, local)).rejects.toMatchObject(tooMany);
    // Others who share the address still get what they have begun.
    await expect(cliLogins.finish(name, { verifier }, local)).resolves.toBeUndefined();
    const elsewhere = { ip: '10.0.0.2', secure: false };
    await expect(cliLogins.begin({ ...start, client: elsewhere })).resolves.toBeDefined();
  });
});
