import { arn, one, type Auth, type Requirement } from '@svc/auth';
import type { MayRead } from '@svc/events';
import { expect, it } from 'vitest';
import { eventPermission } from './event-permission.ts';

const event = {
  partition: 'lake-c0000000000000000000',
  subject: 'branch/main',
  type: 'svc.branch.moved',
} as Parameters<MayRead>[0];

async function asked(options?: { showsObjects: boolean }): Promise<Requirement[]> {
  const seen: Requirement[] = [];
  const permissions = {
    check(requirement: Requirement) {
      seen.push(requirement);
      return { allowed: true };
    },
  };
  const auth = { permissionsOf: () => Promise.resolve(permissions) } as unknown as Auth;
  const identity = { user: { username: 'anna' } } as Parameters<typeof eventPermission>[1];
  const mayRead = await eventPermission(auth, identity, { ip: '', secure: true }, options);
  expect(mayRead(event)).toBe(true);
  return seen;
}

it('asks for the branch, and for its objects where they are told of', async () => {
  expect(await asked()).toEqual([one('fs:ReadBranch', arn.branch('lake', 'main'))]);
  const [both] = await asked({ showsObjects: true });
  const text = JSON.stringify(both);
  expect(text).toContain('fs:ReadBranch');
  expect(text).toContain(JSON.stringify(one('fs:ListObjects', arn.repository('lake'))));
});

it('remembers what was decided, but for nobody else', async () => {
  let asks = 0;
  const permissionsOf = (allowed: boolean) => ({
    check: () => {
      asks += 1;
      return { allowed };
    },
  });
  const [annas, bobs] = [permissionsOf(true), permissionsOf(false)];
  const mayRead = async (permissions: typeof annas, showsObjects = false): Promise<boolean> => {
    const auth = { permissionsOf: () => Promise.resolve(permissions) } as unknown as Auth;
    const identity = { user: { username: 'anybody' } } as Parameters<typeof eventPermission>[1];
    return (await eventPermission(auth, identity, { ip: '', secure: true }, { showsObjects }))(event);
  };
  expect([await mayRead(annas), await mayRead(annas)]).toEqual([true, true]);
  expect(asks).toBe(1);
  expect([await mayRead(bobs), await mayRead(annas)]).toEqual([false, true]);
  expect(asks).toBe(2);
  await mayRead(annas, true);
  expect(asks).toBe(3);
});
