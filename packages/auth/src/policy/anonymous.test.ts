import { createMemStore, LocalCacheBus, MemState } from '@svc/kv';
import { describe, expect, it } from 'vitest';
import { actor, local, makeAuth } from '../../test/make-auth.ts';
import { policyMessage } from '@svc/encoding';
import { anonymousIdentity } from '../identity.ts';
import type { Statement } from '../model.ts';
import { arn, one } from '../requirement.ts';
import { AuthStore } from '../store/auth-store.ts';
import { keys } from '../store/keys.ts';
import { policyData, storedTime } from '../store/records.ts';

const object = 'arn:svc:fs:::repository/r1/object/*';
const read = one('fs:ReadObject', arn.object('r1', 'a'));
const statement: Statement = {
  effect: 'allow',
  action: ['fs:ReadObject'],
  resource: object,
  principal: ['anonymous'],
};

describe('a statement about anonymous requests', () => {
  it('is stored and returned with its principal', async () => {
    const { auth } = await makeAuth();
    await auth.policies.create({ id: 'p', statement: [statement] }, actor);
    expect((await auth.policies.get('p')).statement).toStrictEqual([statement]);
  });

  it.each([
    [{ principal: [] }, /principal must be/],
    [{ principal: ['alice'] }, /principal must be/],
    [{ principal: ['*'] }, /principal must be/],
    [{ principal: ['anonymous', 'anonymous'] }, /principal must be/],
    [{ action: ['fs:ReadObject', 'fs:WriteObject'] }, /cannot be allowed "fs:WriteObject"/],
    [{ action: ['fs:*'] }, /cannot be allowed "fs:\*"/],
    [{ action: ['fs:ListRepositories'] }, /cannot be allowed/],
    [{ action: ['auth:ReadUser'] }, /cannot be allowed/],
    [{ resource: '*' }, /must name the repository/],
    [{ resource: 'arn:svc:fs:::*' }, /must name the repository/],
    [{ resource: 'arn:svc:fs:::repository/*' }, /must name the repository/],
    [{ resource: 'arn:svc:fs:::repository/r*' }, /must name the repository/],
    [{ resource: 'arn:svc:fs:::repository/${user}/object/*' }, /must name the repository/],
    [{ resource: `["${object}","arn:svc:fs:::repository/?/object/a"]` }, /must name the repository/],
    [{ resource: 'arn:svc:auth:::repository/r1' }, /must name the repository/],
  ] satisfies [Partial<Statement>, RegExp][])('is refused with %j', async (change, reason) => {
    const { auth } = await makeAuth();
    const policy = { id: 'p', statement: [{ ...statement, ...change }] };
    await expect(auth.policies.create(policy, actor)).rejects.toMatchObject({
      kind: 'invalid',
      message: expect.stringMatching(reason) as string,
    });
    await auth.policies.create({ id: 'p', statement: [statement] }, actor);
    await expect(auth.policies.update('p', policy, actor)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('may deny anything', async () => {
    const { auth } = await makeAuth();
    const ban = { ...statement, effect: 'deny', action: ['fs:*', 'auth:*'], resource: '*' };
    await auth.policies.create({ id: 'p', statement: [statement] }, actor);
    await auth.policies.create({ id: 'ban', statement: [ban] }, actor);
    expect((await auth.authorize(anonymousIdentity, read, local)).allowed).toBe(false);
  });

  it('is in force on every worker once a change is acknowledged', async () => {
    const state = new MemState();
    const cacheBus = new LocalCacheBus();
    const [one, other] = await Promise.all(
      [0, 1].map(async () => (await makeAuth({ kv: createMemStore(state), cacheBus })).auth),
    );
    if (one === undefined || other === undefined) throw new Error('two workers were made');
    const allowed = async () => (await other.authorize(anonymousIdentity, read, local)).allowed;
    expect([await allowed(), await other.allowsAnonymous()]).toStrictEqual([false, false]);
    await one.policies.create({ id: 'p', statement: [statement] }, actor);
    expect([await allowed(), await other.allowsAnonymous()]).toStrictEqual([true, true]);
    const elsewhere = { ...statement, resource: 'arn:svc:fs:::repository/r2/object/*' };
    await one.policies.update('p', { id: 'p', statement: [elsewhere] }, actor);
    expect(await allowed()).toBe(false);
    await one.policies.update('p', { id: 'p', statement: [statement] }, actor);
    expect(await allowed()).toBe(true);
    await one.policies.delete('p', actor);
    expect([await allowed(), await other.allowsAnonymous()]).toStrictEqual([false, false]);
  });

  it('allows nothing but reads, whatever was stored', async () => {
    const { auth, kv, clock } = await makeAuth();
    const wide = { ...statement, action: ['*', 'fs:*', 'fs:WriteObject', 'auth:*'], resource: '*' };
    const data = policyData({ id: 'p', statement: [wide] }, storedTime(clock.read));
    await new AuthStore(kv).create(policyMessage, keys.policy('p'), data);
    for (const requirement of [
      read,
      one('fs:WriteObject', arn.object('r1', 'a')),
      one('auth:ListUsers', '*'),
    ])
      expect((await auth.authorize(anonymousIdentity, requirement, local)).allowed).toBe(false);
    expect(await auth.allowsAnonymous()).toBe(false);
  });
});
