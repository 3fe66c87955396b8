import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '@svc/kv';
import { noteSecret, tempDir, testServerOrSkip } from '@svc/testing';
import { expect, test } from 'vitest';
import { aliceKey, writeLakefs, type LakefsCommit } from './lakefs-writer.ts';
import { quickstartAuth, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const postgres = await testServerOrSkip('postgres');
const lake = '/api/v1/repositories/lake';
const secretKey = 'the secret of lakeFS';
const secret = 'q7BVgcoNoXvFeUwAGX0sVXqBqKUWVMVHT2tjhYzr';
const sealedSecret =
  '00010203040506076465666768696a6b6c6d6e6f707172737475767778797a7b32e55e0d323c25ddc4b2777ddea32421d387233d80646af9e3929908bc70c8474b3712f1628af808fa4f87ed8297bfe56ae315370f51167e';

interface Asked {
  readonly status: number;
  readonly json: () => unknown;
  readonly body: string;
}

async function ask(
  server: RunningSvc,
  authorization: string,
  method: string,
  path: string,
  body?: string,
): Promise<Asked> {
  const answer = await server.request(path, {
    method,
    headers: {
      Authorization: authorization,
      'Content-Type': path.includes('/objects?') ? 'application/octet-stream' : 'application/json',
    },
    ...(body !== undefined && { body }),
  });
  return { ...answer, json: () => JSON.parse(answer.body) as unknown };
}

/** A namespace whose tables lie where lakeFS puts them; tables of both are the same bytes. */
async function makeNamespace(home: string): Promise<{ commits: LakefsCommit[]; address: string }> {
  const maker = await startSvc(
    ['--quickstart'],
    {
      SVC_SERVER_WORKERS: '1',
      SVC_COMMITTED_BLOCK_STORAGE_PREFIX: '_lakefs',
      SVC_BLOCKSTORE_LOCAL_PATH: join(home, 'block'),
    },
    join(home, 'maker'),
  );
  const call = (method: string, path: string, body?: string): Promise<Asked> =>
    ask(maker, quickstartAuth, method, path, body);
  const made = JSON.stringify({ name: 'lake', storage_namespace: 'local://lake' });
  expect((await call('POST', '/api/v1/repositories', made)).status).toBe(201);
  for (const path of ['kept', 'gone'])
    await call('POST', `${lake}/branches/main/objects?path=${path}`, `content of ${path}`);
  await call('POST', `${lake}/branches/main/commits`, JSON.stringify({ message: 'first' }));
  await call('POST', `${lake}/branches/main/objects?path=staged`, 'not committed');
  const stat = await call('GET', `${lake}/refs/main/objects/stat?path=staged`);
  const { physical_address: full } = stat.json() as { physical_address: string };
  const log = await call('GET', `${lake}/refs/main/commits`);
  const { results } = log.json() as { results: LakefsCommit[] };
  await maker.stop();
  const rules = join(home, 'block', 'lake', '_lakefs', 'retention', 'gc', 'rules');
  mkdirSync(rules, { recursive: true });
  writeFileSync(join(rules, 'config.json'), Buffer.from('081512070a03646576100912080a046d61696e101c', 'hex'));
  return { commits: results, address: full.slice(full.indexOf('data/')) };
}

test.runIf(postgres !== undefined)(
  'a lakeFS installation on PostgreSQL is taken over: refs, uncommitted changes, rules, runs, users and their keys',
  async () => {
    const home = tempDir();
    mkdirSync(join(home, 'maker'));
    noteSecret('the secret of an adopted key', secret);
    const { commits, address } = await makeNamespace(home);
    const connection = new URL(postgres?.connectionString ?? '');
    connection.searchParams.set('lakefskv_table', `kv_${randomUUID().slice(0, 8)}`);
    const source = await openStore({
      type: 'postgres',
      connectionString: connection.href,
      maxOpenConnections: 2,
      maxIdleConnections: 1,
      connectionMaxLifetimeMs: 0,
      scanPageSize: 1000,
    });
    const staged = { path: 'staged', address, size: 13, etag: 'd41d8cd98f00b204e9800998ecf8427e' };
    await writeLakefs(source, { commits, staged, sealedSecret });
    await source.close();

    const block = { type: 'local', local: { path: join(home, 'block') } };
    const old = join(home, 'lakefs.yaml');
    writeFileSync(
      old,
      JSON.stringify({
        database: { type: 'postgres', postgres: { connection_string: connection.href } },
        blockstore: block,
        auth: { encrypt: { secret_key: secretKey } },
      }),
    );
    const config = join(home, 'svc.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        database: { type: 'local', local: { path: join(home, 'kv') } },
        blockstore: { ...block, signing: { secret_key: 'a secret for signing, 32 letters' } },
        auth: { encrypt: { secret_key: 'another secret than that of lakeFS' } },
        committed: { local_cache: { dir: join(home, 'cache') } },
        server: { workers: 1 },
      }),
    );
    const imported = await runSvc(['-c', config, 'import-installation', '--from', old], {}, home);
    expect(imported).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('imported 1 repositories, 1 users and 1 access keys') as string,
    });
    expect(imported.stdout).toContain('1 users had a password');
    expect(await runSvc(['-c', config, 'verify'], {}, home)).toMatchObject({ code: 0, stdout: '' });
    expect(await runSvc(['-c', config, 'import-installation', '--from', old], {}, home)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not empty') as string,
    });

    const server = await startSvc(['-c', config], {}, home);
    const alice = `Basic ${Buffer.from(`${aliceKey}:${secret}`).toString('base64')}`;
    const call = (method: string, path: string, body?: string): Promise<Asked> =>
      ask(server, alice, method, path, body);
    expect((await server.request('/_health')).body).toBe('alive! 5f3f1f7e-0f5c-4b62-9c44-1f5d0d6c7a10');
    expect((await call('GET', '/api/v1/user')).json()).toMatchObject({ user: { id: 'alice' } });
    expect(await call('GET', '/api/v1/auth/users/alice/groups')).toMatchObject({
      body: expect.stringContaining('"Admins"') as string,
    });
    expect((await call('GET', `${lake}/refs/v1/objects?path=kept`)).body).toBe('content of kept');
    expect((await call('GET', `${lake}/refs/v1/objects?path=gone`)).body).toBe('content of gone');
    expect((await call('GET', `${lake}/refs/main/objects?path=staged`)).body).toBe('not committed');
    expect((await call('GET', `${lake}/refs/main/objects?path=gone`)).status).toBe(404);
    const diff = await call('GET', `${lake}/branches/main/diff`);
    expect(diff.json()).toMatchObject({
      results: [
        { path: 'gone', type: 'removed' },
        { path: 'staged', type: 'added' },
      ],
    });
    const log = (await call('GET', `${lake}/refs/main/commits`)).json() as { results: LakefsCommit[] };
    expect(log.results.map(({ id }) => id)).toEqual(commits.map(({ id }) => id));
    expect((await call('GET', `${lake}/settings/branch_protection`)).body).toContain('main');
    expect((await call('GET', `${lake}/settings/gc_rules`)).json()).toMatchObject({
      default_retention_days: 21,
    });
    expect((await call('GET', `${lake}/actions/runs`)).json()).toMatchObject({
      results: [{ run_id: '5fgam05anf614d2mf280', event_type: 'pre-commit' }],
    });
    const refused = await call('POST', `${lake}/branches/main/commits`, JSON.stringify({ message: 'no' }));
    expect(refused.status).toBe(403);

    const tables = join(home, 'block', 'lake', '_lakefs');
    const before = readdirSync(tables).length;
    await call('POST', `${lake}/branches/dev/objects?path=new`, 'written here');
    const committed = await call('POST', `${lake}/branches/dev/commits`, JSON.stringify({ message: 'here' }));
    expect(committed.status).toBe(201);
    expect(readdirSync(tables).length).toBeGreaterThan(before);
    expect(existsSync(join(home, 'block', 'lake', '_svc'))).toBe(false);
    const again = JSON.stringify({ name: 'lake2', storage_namespace: 'local://lake' });
    expect((await call('POST', '/api/v1/repositories', again)).status).toBe(400);
    await server.stop();

    // With another secret the keys cannot be opened: that is told, and the rest is there.
    const wrong = join(home, 'wrong.yaml');
    writeFileSync(
      wrong,
      JSON.stringify({
        database: { type: 'postgres', postgres: { connection_string: connection.href } },
        blockstore: block,
        auth: { encrypt: { secret_key: 'not the secret of lakeFS' } },
      }),
    );
    const other = { SVC_DATABASE_LOCAL_PATH: join(home, 'kv2') };
    const lost = await runSvc(['-c', config, 'import-installation', '--from', wrong], other, home);
    expect(lost).toMatchObject({ code: 1, stdout: expect.stringContaining(aliceKey) as string });
  },
);
