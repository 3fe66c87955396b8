import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir, testServerOrSkip } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const postgres = await testServerOrSkip('postgres');

function writeConfig(home: string, name: string, database: object): string {
  const file = join(home, name);
  const config = {
    database,
    blockstore: {
      type: 'local',
      local: { path: join(home, 'block') },
      signing: { secret_key: 'a secret for signing, 32 letters' },
    },
    auth: { encrypt: { secret_key: 'a secret for keys, 32 letters ok' } },
    committed: { local_cache: { dir: join(home, 'cache') } },
    server: { workers: 1 },
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

async function read(server: RunningSvc, path: string): Promise<string> {
  const answer = await server.request(`/api/v1/repositories/lake/refs/${path}`, { headers });
  return `${answer.status} ${answer.body}`;
}

test.runIf(postgres !== undefined)(
  'an installation moves from the embedded store to PostgreSQL and back, staged changes and credentials included',
  async () => {
    const home = tempDir();
    const one = writeConfig(home, 'one.yaml', { type: 'local', local: { path: join(home, 'kv') } });
    const connection = new URL(postgres?.connectionString ?? '');
    connection.searchParams.set('svckv_table', `kv_${randomUUID().slice(0, 8)}`);
    const two = writeConfig(home, 'two.yaml', {
      type: 'postgres',
      postgres: { connection_string: connection.href },
    });
    const three = writeConfig(home, 'three.yaml', { type: 'local', local: { path: join(home, 'kv3') } });
    const { accessKeyId, secretAccessKey } = quickstartKey;
    const keys = ['--access-key-id', accessKeyId, '--secret-access-key', secretAccessKey];
    const setUp = await runSvc(['-c', one, 'setup', '--user-name', 'admin', ...keys], {}, home);
    expect(setUp.code).toBe(0);
    const server = await startSvc(['-c', one], {}, home);
    const post = (path: string, body: object) =>
      server.request(`/api/v1/repositories${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const put = (path: string, body: string) =>
      server.request(`/api/v1/repositories/lake/branches/main/objects?path=${path}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/octet-stream' },
        body,
      });
    await post('', { name: 'lake', storage_namespace: 'local://lake' });
    await put('committed', 'one');
    await post('/lake/branches/main/commits', { message: 'first' });
    await put('staged', 'two');

    const busy = await runSvc(['-c', one, 'migrate', 'store', '--to', two], {}, home);
    expect(busy).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('in use by the server') as string,
    });
    await server.stop();
    const same = await runSvc(['-c', one, 'migrate', 'store', '--to', one], {}, home);
    expect(same).toMatchObject({ code: 1, stderr: expect.stringContaining('copied from') as string });

    // A variable that names the source must not name the target as well.
    const env = { SVC_DATABASE_TYPE: 'local', SVC_DATABASE_LOCAL_PATH: join(home, 'kv') };
    const there = await runSvc(['-c', one, 'migrate', 'store', '--to', two], env, home);
    expect(there).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/entries copied from local/) as string,
    });
    expect(there.stdout).not.toContain(connection.password || 'no password');
    const moved = await startSvc(['-c', two], {}, home);
    expect(await read(moved, 'main/objects?path=committed')).toBe('200 one');
    expect(await read(moved, 'main/objects?path=staged')).toBe('200 two');
    await moved.stop();

    const back = await runSvc(['-c', two, 'migrate', 'store', '--to', three], {}, home);
    expect(back.code).toBe(0);
    const last = await startSvc(['-c', three], {}, home);
    expect(await read(last, 'main/objects?path=staged')).toBe('200 two');
    await last.stop();
  },
);
