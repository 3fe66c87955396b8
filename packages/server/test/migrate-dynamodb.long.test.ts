import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir, testServerOrSkip } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const [postgres, dynamodb] = await Promise.all([testServerOrSkip('postgres'), testServerOrSkip('dynamodb')]);
const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };

async function contentOf(server: RunningSvc): Promise<string[]> {
  const paths = ['main/objects?path=committed', 'main/objects?path=staged', 'v1/objects?path=committed'];
  return Promise.all(
    paths.map(async (path) => {
      const { status, body } = await server.request(`/api/v1/repositories/lake/refs/${path}`, { headers });
      return `${status} ${body}`;
    }),
  );
}

test.runIf(postgres !== undefined && dynamodb !== undefined)(
  'an installation moves from the embedded store to DynamoDB, to PostgreSQL, to DynamoDB and back',
  async () => {
    const home = tempDir();
    const configFor = (name: string, database: object): string => {
      const file = join(home, `${name}.yaml`);
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
    };
    const connection = new URL(postgres?.connectionString ?? '');
    connection.searchParams.set('svckv_table', `kv_${randomUUID().slice(0, 8)}`);
    const dynamo = (name: string): string =>
      configFor(name, {
        type: 'dynamodb',
        dynamodb: {
          table_name: `svc-${randomUUID()}`,
          endpoint: dynamodb?.endpoint,
          aws_region: dynamodb?.region,
          aws_access_key_id: dynamodb?.accessKeyId,
          aws_secret_access_key: dynamodb?.secretAccessKey,
        },
      });
    const local = (name: string): string =>
      configFor(name, { type: 'local', local: { path: join(home, name) } });
    const first = local('first');
    const way = [
      dynamo('second'),
      configFor('third', { type: 'postgres', postgres: { connection_string: connection.href } }),
      dynamo('fourth'),
      local('fifth'),
    ];

    const { accessKeyId, secretAccessKey } = quickstartKey;
    const keys = ['--access-key-id', accessKeyId, '--secret-access-key', secretAccessKey];
    expect((await runSvc(['-c', first, 'setup', '--user-name', 'admin', ...keys], {}, home)).code).toBe(0);
    const server = await startSvc(['-c', first], {}, home);
    const post = async (path: string, body: object | string): Promise<void> => {
      const isObject = typeof body === 'object';
      const answer = await server.request(`/api/v1/repositories${path}`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': isObject ? 'application/json' : 'application/octet-stream' },
        body: isObject ? JSON.stringify(body) : body,
      });
      expect(answer.status, answer.body).toBe(201);
    };
    await post('', { name: 'lake', storage_namespace: 'local://lake' });
    await post('/lake/branches/main/objects?path=committed', 'one');
    await post('/lake/branches/main/commits', { message: 'first' });
    await post('/lake/tags', { id: 'v1', ref: 'main' });
    await post('/lake/branches/main/objects?path=staged', 'two');
    const content = await contentOf(server);
    expect(content).toEqual(['200 one', '200 two', '200 one']);
    await server.stop();

    let from = first;
    for (const to of way) {
      const moved = await runSvc(['-c', from, 'migrate', 'store', '--to', to], {}, home);
      expect(moved.code, moved.stderr).toBe(0);
      expect(`${moved.stdout}${moved.stderr}`).not.toContain(dynamodb?.secretAccessKey);
      from = to;
      const next = await startSvc(['-c', to], {}, home);
      expect(await contentOf(next), to).toEqual(content);
      await next.stop();
    }
    expect((await runSvc(['-c', from, 'verify', '--objects'], {}, home)).code).toBe(0);
  },
  300_000,
);
