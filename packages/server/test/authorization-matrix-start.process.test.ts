import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { describe, expect, test } from 'vitest';
import { runSvc, startSvc, type RunningSvc } from './start-server.ts';

/** A server without the quick start's presets, on a folder of its own. */
function settings(home: string, more: Record<string, string> = {}): Record<string, string> {
  return {
    SVC_DATABASE_TYPE: 'local',
    SVC_DATABASE_LOCAL_PATH: join(home, 'metadata'),
    SVC_BLOCKSTORE_TYPE: 'local',
    SVC_BLOCKSTORE_LOCAL_PATH: join(home, 'objects'),
    SVC_AUTH_ENCRYPT_SECRET_KEY: 'the secret key of this installation',
    SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'another secret key of it',
    SVC_SERVER_WORKERS: '1',
    ...more,
  };
}

function basic(accessKeyId: string, secretAccessKey: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}` };
}

async function statusOf(
  server: RunningSvc,
  path: string,
  headers: Record<string, string> = {},
): Promise<number> {
  return (await server.request(`/api/v1${path}`, { headers })).status;
}

describe('the beginnings of an installation', () => {
  test('an administrator from the configuration works at once and only once; another secret key is refused (cases 43 and 44)', async () => {
    const home = tempDir();
    const first = {
      SVC_INSTALLATION_USER_NAME: 'root',
      SVC_INSTALLATION_ACCESS_KEY_ID: 'FIRSTKEY',
      SVC_INSTALLATION_SECRET_ACCESS_KEY: 'the first secret',
    };
    const begun = await startSvc([], settings(home, first), home);
    expect(await statusOf(begun, '/auth/users', basic('FIRSTKEY', 'the first secret'))).toBe(200);
    await begun.stop();

    const changed = {
      SVC_INSTALLATION_USER_NAME: 'other',
      SVC_INSTALLATION_ACCESS_KEY_ID: 'OTHERKEY',
      SVC_INSTALLATION_SECRET_ACCESS_KEY: 'the other secret',
    };
    const again = await startSvc([], settings(home, changed), home);
    expect(await statusOf(again, '/auth/users', basic('FIRSTKEY', 'the first secret'))).toBe(200);
    expect(await statusOf(again, '/auth/users', basic('OTHERKEY', 'the other secret'))).toBe(401);
    await again.stop();

    const refused = await runSvc(
      ['run'],
      settings(home, {
        SVC_AUTH_ENCRYPT_SECRET_KEY: 'not the secret key of it',
        SVC_LISTEN_ADDRESS: '127.0.0.1:0',
      }),
      home,
    );
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('auth.encrypt.secret_key does not match this installation');
  });

  test('setup from the command line, and the calls that access levels replace (cases 42 and 51)', async () => {
    const home = tempDir();
    const env = settings(home, { SVC_AUTH_UI_CONFIG_RBAC: 'simplified' });
    const key = ['--access-key-id', 'SETUPKEY', '--secret-access-key', 'the secret of the setup'];
    const done = await runSvc(['setup', '--user-name', 'root', ...key], env, home);
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'credentials:\n  access_key_id: SETUPKEY\n  secret_access_key: the secret of the setup',
      ),
    });
    const repeated = await runSvc(['setup', '--user-name', 'root', ...key], env, home);
    expect(repeated.code).toBe(1);
    expect(repeated.stdout + repeated.stderr).toContain('Setup is already complete.');
    const second = await runSvc(['superuser', '--user-name', 'second'], env, home);
    expect(second.stdout).toMatch(/access_key_id: AKIAJ[A-Z2-7]{14}Q\n {2}secret_access_key: \S{40}/);

    const server = await startSvc([], env, home);
    const root = basic('SETUPKEY', 'the secret of the setup');
    const setAcl = (permission: string) => {
      const body = JSON.stringify({ permission });
      const headers = { ...root, 'content-type': 'application/json' };
      return server.request('/api/v1/auth/groups/Viewers/acl', { method: 'POST', headers, body });
    };
    expect(await statusOf(server, '/auth/policies')).toBe(501);
    expect(await statusOf(server, '/auth/users/root/policies')).toBe(501);
    expect(await statusOf(server, '/auth/users', root)).toBe(200);
    expect((await setAcl('write')).status).toBe(400);
    expect((await setAcl('Write')).status).toBe(201);
    const acl = await server.request('/api/v1/auth/groups/Viewers/acl', { headers: root });
    expect(JSON.parse(acl.body)).toStrictEqual({ permission: 'Write' });

    const prefs = (email: string) =>
      server.request('/api/v1/setup_comm_prefs', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, featureUpdates: false, securityUpdates: true }),
      });
    expect((await prefs('nobody')).status).toBe(400);
    expect((await prefs('root@example.com')).status).toBe(200);
    expect((await prefs('root@example.com')).status).toBe(409);
    await server.stop();
  });
});
