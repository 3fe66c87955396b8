import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actor, makeAuth } from '../../test/make-auth.ts';
import type { Statement } from '../model.ts';
import { one } from '../requirement.ts';

const sourceIp = '10.1.2.3';
const object = 'arn:svc:fs:::repository/r1/object/a';

function allow(action: string, resource: string, more: Partial<Statement> = {}): Statement {
  return { effect: 'allow', action: [action], resource, ...more };
}

async function withTeam() {
  const fixture = await makeAuth();
  const { users, groups, policies } = fixture.auth;
  await users.create({ username: 'alice' }, actor);
  await groups.create({ id: 'team' }, actor);
  await groups.addMember('team', 'alice', actor);
  await policies.create({ id: 'reads', statement: [allow('ci:*', '*'), allow('fs:Read*', '*')] }, actor);
  await policies.create(
    { id: 'ban', statement: [allow('fs:ReadObject', 'arn:svc:fs:::repository/r2/*', { effect: 'deny' })] },
    actor,
  );
  await groups.attachPolicy('team', 'reads', actor);
  await users.attachPolicy('alice', 'reads', actor);
  await users.attachPolicy('alice', 'ban', actor);
  return fixture;
}

describe('simulate', () => {
  it('names the statement that allows, and how its policy came to the user', async () => {
    const { auth } = await withTeam();
    const answer = await auth.simulate({
      username: 'alice',
      action: 'fs:ReadObject',
      resource: object,
      sourceIp,
    });
    expect(answer).toStrictEqual({
      decision: { allowed: true },
      decidedBy: { policyId: 'reads', index: 1, statement: allow('fs:Read*', '*') },
      policies: [
        { id: 'ban', isDirect: true, groups: [] },
        { id: 'reads', isDirect: true, groups: ['team'] },
      ],
    });
  });

  it('names the denial, and nothing where no statement speaks of it', async () => {
    const { auth } = await withTeam();
    const ask = (action: string, resource: string) =>
      auth.simulate({ username: 'alice', action, resource, sourceIp });
    const denied = await ask('fs:ReadObject', 'arn:svc:fs:::repository/r2/object/a');
    expect(denied.decision).toMatchObject({
      allowed: false,
      message: 'insufficient permissions: denied permission to fs:ReadObject',
    });
    expect(denied.decidedBy).toMatchObject({ policyId: 'ban', index: 0 });
    const silent = await ask('fs:WriteObject', object);
    expect(silent.decision).toMatchObject({
      allowed: false,
      message: 'insufficient permissions: not allowed to fs:WriteObject',
    });
    expect(silent.decidedBy).toBeUndefined();
    expect(silent.policies).toHaveLength(2);
  });

  it('tries a draft in place of the policy of its name', async () => {
    const { auth } = await withTeam();
    const ask = (draft: { id: string; statement: Statement[] }) =>
      auth.simulate({ username: 'alice', action: 'fs:WriteObject', resource: object, sourceIp, draft });
    const added = await ask({ id: 'new', statement: [allow('fs:WriteObject', '*')] });
    expect(added.decidedBy).toMatchObject({ policyId: 'new', index: 0 });
    const replaced = await ask({ id: 'reads', statement: [allow('fs:*', '*')] });
    expect(replaced.decision.allowed).toBe(true);
    expect(replaced.policies).toContainEqual({ id: 'reads', isDirect: true, groups: ['team'] });
    expect((await auth.policies.get('reads')).statement).toHaveLength(2);
    await expect(ask({ id: 'x', statement: [allow('s3:Get', '*')] })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it.each([
    { action: 'fs:*', resource: '*' },
    { action: 'ReadObject', resource: '*' },
    { action: 'fs:ReadObject', resource: 'repository/r1' },
  ])('refuses to ask for $action on $resource', async (question) => {
    const { auth } = await withTeam();
    await expect(auth.simulate({ username: 'alice', sourceIp, ...question })).rejects.toMatchObject({
      kind: 'invalid',
    });
  });

  it('does not know users that are not there', async () => {
    const { auth } = await withTeam();
    await expect(
      auth.simulate({ username: 'eve', action: 'fs:ReadObject', resource: '*', sourceIp }),
    ).rejects.toMatchObject({ kind: 'not_found' });
  });

  it('answers as the check does, whatever the policies', async () => {
    const { auth } = await makeAuth();
    const { users, policies } = auth;
    const user = await users.create({ username: 'alice' }, actor);
    for (const id of ['p', 'q']) {
      await policies.create({ id, statement: [allow('ci:Read', '*')] }, actor);
      await users.attachPolicy('alice', id, actor);
    }
    const resource = fc.constantFrom(
      '*',
      object,
      'arn:svc:fs:::repository/r1/*',
      'arn:svc:fs:::repository/${user}/*',
    );
    const statement: fc.Arbitrary<Statement> = fc.record(
      {
        effect: fc.constantFrom('allow', 'allow', 'deny'),
        action: fc.array(fc.constantFrom('fs:ReadObject', 'fs:*', 'fs:List*', 'ci:*'), {
          minLength: 1,
          maxLength: 2,
        }),
        resource,
        condition: fc.constantFrom<NonNullable<Statement['condition']>[]>(
          { IpAddress: { SourceIp: ['10.0.0.0/8'] } },
          { NotIpAddress: { SourceIp: ['10.0.0.0/8'] } },
        ),
      },
      { requiredKeys: ['effect', 'action', 'resource'], noNullPrototype: true },
    );
    const statements = fc.array(statement, { minLength: 1, maxLength: 3 });
    let [allowed, denied] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        statements,
        statements,
        fc.constantFrom('fs:ReadObject', 'fs:ListObjects', 'ci:ReadAction'),
        fc.constantFrom('*', object, 'arn:svc:fs:::repository/alice/object/b'),
        fc.constantFrom('10.1.2.3', '192.0.2.1', 'garbage'),
        async (first, second, action, asked, ip) => {
          await policies.update('p', { id: 'p', statement: first }, actor);
          await policies.update('q', { id: 'q', statement: second }, actor);
          const real = await auth.authorize({ user, method: 'basic' }, one(action, asked), {
            ip,
            secure: false,
          });
          const simulated = await auth.simulate({
            username: 'alice',
            action,
            resource: asked,
            sourceIp: ip,
          });
          expect(simulated.decision).toStrictEqual(real);
          if (!real.allowed && simulated.decidedBy === undefined) return;
          const { policyId = '', index = -1, statement: decided } = simulated.decidedBy ?? {};
          expect(decided).toStrictEqual({ p: first, q: second }[policyId]?.[index]);
          if (real.allowed) {
            allowed++;
            expect(decided?.effect).toBe('allow');
          } else denied++;
        },
      ),
      { numRuns: 400 },
    );
    expect(Math.min(allowed, denied)).toBeGreaterThan(30);
  });
});
