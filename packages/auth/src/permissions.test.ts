import { expect, it } from 'vitest';
import { actor, local, makeAuth } from '../test/make-auth.ts';
import { arn, one } from './requirement.ts';

const allowAll = { effect: 'allow', action: ['fs:*'], resource: '*' } as const;

it('policies are judged by the address of each request, and anew when they change', async () => {
  const { auth } = await makeAuth();
  await auth.users.create({ username: 'anna' }, actor);
  const condition = { IpAddress: { SourceIp: ['10.0.0.0/8'] } };
  await auth.policies.create({ id: 'inside', statement: [{ ...allowAll, condition }] }, actor);
  await auth.users.attachPolicy('anna', 'inside', actor);
  const identity = { user: await auth.users.get('anna'), method: 'basic' } as const;
  const requirement = one('fs:ReadRepository', arn.repository('lake'));
  const mayFrom = async (ip: string): Promise<boolean> =>
    (await auth.permissionsOf(identity, { ...local, ip })).check(requirement).allowed;
  expect(await mayFrom('10.1.2.3')).toBe(true);
  expect(await mayFrom('192.168.1.1')).toBe(false);
  expect(await mayFrom('10.1.2.3')).toBe(true);
  await auth.users.detachPolicy('anna', 'inside', actor);
  expect(await mayFrom('10.1.2.3')).toBe(false);
});
