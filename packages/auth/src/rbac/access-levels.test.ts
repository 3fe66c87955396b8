import { describe, expect, it } from 'vitest';
import { actor, local, makeAuth } from '../../test/make-auth.ts';
import type { Auth } from '../auth.ts';
import { arn, one, type Requirement } from '../requirement.ts';

const allowAll = { effect: 'allow', action: ['fs:*'], resource: '*' };

async function decide(auth: Auth, username: string, requirement: Requirement): Promise<boolean> {
  const user = await auth.users.get(username);
  return (await auth.authorize({ user, method: 'basic' }, requirement, local)).allowed;
}

async function ids<T>(page: Promise<{ readonly results: readonly T[] }>, name: keyof T): Promise<unknown[]> {
  return (await page).results.map((item) => item[name]);
}

describe('access levels', () => {
  it('are set and read by name', async () => {
    const { auth } = await makeAuth({ mode: 'simplified' });
    await auth.setup.run({ username: 'admin' });
    expect(await auth.groups.acl('Viewers')).toBe('Read');
    expect(await auth.groups.acl('Admins')).toBe('Admin');
    expect(await ids(auth.groups.policies('SuperUsers'), 'id')).toStrictEqual(['ACL(_-_)SuperUsers']);
    await auth.groups.create({ id: 'g' }, actor);
    expect(await auth.groups.acl('g')).toBe('');
    await expect(auth.groups.setAcl('g', 'write', actor)).rejects.toMatchObject({
      kind: 'invalid',
      message: 'validation error: Bad ACL permission "write"',
    });
    await expect(auth.groups.setAcl('nowhere', 'write', actor)).rejects.toThrow('group not found');
    await auth.groups.setAcl('g', 'Write', actor);
    expect(await auth.groups.acl('g')).toBe('Write');
    await auth.policies.create({ id: 'p', statement: [allowAll] }, actor);
    await auth.groups.attachPolicy('g', 'p', actor);
    await expect(auth.groups.acl('g')).rejects.toMatchObject({ kind: 'no_acl' });
    await auth.groups.setAcl('g', 'Super', actor);
    expect(await auth.groups.acl('g')).toBe('Super');
    expect(await ids(auth.groups.policies('g'), 'id')).toStrictEqual(['ACL(_-_)g']);
    await auth.groups.create({ id: 'h' }, actor);
    await auth.groups.attachPolicy('h', 'p', actor);
    await expect(auth.groups.acl('h')).rejects.toMatchObject({ kind: 'no_acl' });
  });

  it('form a ladder', async () => {
    const { auth } = await makeAuth({ mode: 'simplified' });
    await auth.setup.run({ username: 'admin' });
    const groups = ['Viewers', 'Developers', 'SuperUsers', 'Admins'];
    for (const group of groups) {
      await auth.users.create({ username: `of-${group}` }, actor);
      await auth.groups.addMember(group, `of-${group}`, actor);
    }
    const rungs: [string, string, number][] = [
      ['fs:ReadObject', arn.object('r', 'k'), 0],
      ['fs:ListRepositories', '*', 0],
      ['fs:ReadConfig', '*', 0],
      ['fs:WriteObject', arn.object('r', 'k'), 1],
      ['fs:CreateBranch', arn.branch('r', 'b'), 1],
      ['fs:CreateCommit', arn.branch('r', 'b'), 1],
      ['fs:CreateTag', arn.tag('r', 't'), 1],
      ['ci:ReadAction', arn.repository('r'), 1],
      ['fs:ImportFromStorage', arn.namespace('s3://b/p'), 2],
      ['fs:AttachStorageNamespace', arn.namespace('s3://b/p'), 2],
      ['fs:DeleteRepository', arn.repository('r'), 2],
      ['auth:CreateUser', arn.user('x'), 3],
      ['branches:SetBranchProtectionRules', arn.repository('r'), 3],
    ];
    for (const [action, resource, from] of rungs) {
      for (const [level, group] of groups.entries()) {
        const allowed = await decide(auth, `of-${group}`, one(action, resource));
        expect([action, group, allowed]).toStrictEqual([action, group, level >= from]);
      }
    }
    for (const group of groups) {
      expect(await decide(auth, `of-${group}`, one('auth:CreateCredentials', arn.user(`of-${group}`)))).toBe(
        true,
      );
    }
    expect(await decide(auth, 'of-Viewers', one('auth:CreateCredentials', arn.user('admin')))).toBe(false);
  });
});

describe('the base groups', () => {
  it('may do what their policies say', async () => {
    const { auth } = await makeAuth();
    await auth.setup.run({ username: 'admin' });
    for (const group of ['Viewers', 'Developers', 'SuperUsers']) {
      await auth.users.create({ username: group }, actor);
      await auth.groups.addMember(group, group, actor);
    }
    expect(await decide(auth, 'Viewers', one('fs:ListTags', arn.repository('r')))).toBe(true);
    expect(await decide(auth, 'Viewers', one('fs:ReadConfig', '*'))).toBe(true);
    expect(await decide(auth, 'Viewers', one('fs:CreateBranch', arn.branch('r', 'b')))).toBe(false);
    expect(await decide(auth, 'Developers', one('fs:CreateBranch', arn.branch('r', 'b')))).toBe(true);
    expect(await decide(auth, 'Developers', one('fs:ListTags', arn.repository('r')))).toBe(false);
    expect(await decide(auth, 'Developers', one('fs:DeleteRepository', arn.repository('r')))).toBe(false);
    expect(await decide(auth, 'admin', one('branches:SetBranchProtectionRules', arn.repository('r')))).toBe(
      true,
    );
    expect(await decide(auth, 'admin', one('pr:WritePullRequest', arn.repository('r')))).toBe(true);
  });
});
