import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;

beforeAll(async () => {
  attacked = await AttackedServer.start();
  const statement = [
    {
      effect: 'allow',
      action: ['fs:ReadObject', 'fs:ListObjects'],
      resource: '["arn:svc:fs:::repository/victim","arn:svc:fs:::repository/victim/object/public/*"]',
      principal: ['anonymous'],
    },
  ];
  await attacked.target.manage('POST', '/auth/policies', { id: 'public', statement });
  await attacked.remember();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const gateway = 's3.svc.localhost';

/** The status of a request without credentials, as the bytes are. */
async function statusOf(method: string, target: string, head = '', host = gateway): Promise<number> {
  const bytes = `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${head}\r\n`;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await attacked.raw(bytes))?.[1]);
}

test('what is public is read without credentials, and nothing beside it', async () => {
  expect(await statusOf('GET', '/victim/main/public/a')).toBe(200);
  expect(await statusOf('GET', '/main/public/a', '', `victim.${gateway}`)).toBe(200);
  for (const target of [
    '/victim/main/secret/plan',
    '/victim/main/public/../secret/plan',
    '/victim/main/public/%2e%2e/secret/plan',
    '/victim/main/public%2F..%2Fsecret/plan',
    '/victim/main//secret/plan',
    '/victim//main/secret/plan',
    '/victim/main/public/\\..\\secret\\plan',
    '/victim/main/secret/plan?prefix=public/',
    '/hers/main/public/a',
    '/victim/../hers/main/public/a',
    '/',
  ])
    expect([target, await statusOf('GET', target)]).not.toEqual([target, 200]);
});

test('nothing is written without credentials', async () => {
  for (const method of ['PUT', 'POST', 'DELETE', 'PATCH'])
    for (const target of [
      '/victim/main/public/a',
      '/victim/main/public/new',
      '/victim/main/public/a?tagging',
      '/victim/main/public/a?uploads',
      '/victim?delete',
    ])
      for (const head of [
        '',
        'X-Amz-Copy-Source: /victim/main/public/a\r\n',
        'X-HTTP-Method-Override: GET\r\n',
      ])
        expect([method, target, await statusOf(method, target, `Content-Length: 0\r\n${head}`)]).toEqual([
          method,
          target,
          403,
        ]);
});

test('the API knows no anonymous callers', async () => {
  for (const path of [
    '/repositories/victim',
    '/repositories/victim/refs/main/objects?path=public%2Fa',
    '/repositories/victim/refs/main/objects/ls',
    '/auth/policies/public',
  ])
    for (const headers of [{}, { host: gateway }, { host: `victim.${gateway}` }])
      expect([path, (await attacked.call('GET', path, { headers })).status]).not.toEqual([path, 200]);
});

test('only whoever may attach policies can publish', async () => {
  const statement = [
    {
      effect: 'allow',
      action: ['auth:CreatePolicy'],
      resource: '*',
    },
  ];
  const { manage } = attacked.target;
  await manage('PUT', '/auth/policies/of-mallory', { id: 'of-mallory', statement });
  await attacked.remember();
  const secret = {
    effect: 'allow',
    action: ['fs:ReadObject'],
    resource: 'arn:svc:fs:::repository/victim/object/*',
    principal: ['anonymous'],
  };
  const body = { id: 'published', statement: [secret] };
  expect((await attacked.call('POST', '/auth/policies', { as: attacked.mallory, body })).status).toBe(401);
  expect(await statusOf('GET', '/victim/main/secret/plan')).toBe(403);
});
