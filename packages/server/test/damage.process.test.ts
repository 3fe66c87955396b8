import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, runSvc, startSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const repository = '/api/v1/repositories/hurt';
const [accessKeyId, secretAccessKey] = Buffer.from(quickstartAuth.slice('Basic '.length), 'base64')
  .toString()
  .split(':') as [string, string];

/** Every copy of a table, in the block store and in the cache. */
function tablesBelow(home: string): string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path.includes('hurt'));
}

function s3Status(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}

test('a damaged range is an error on both interfaces, is counted and logged, and verify tells what it concerns', async () => {
  const home = tempDir();
  const first = await startSvc(['--quickstart'], {}, home);
  const post = (path: string, body: object) =>
    first.request(path, { method: 'POST', headers, body: JSON.stringify(body) });
  await post('/api/v1/repositories', { name: 'hurt', storage_namespace: 'local://hurt' });
  for (let i = 0; i < 40; i++) {
    const upload = await first.request(`${repository}/branches/main/objects?path=k${i}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/octet-stream' },
      body: `content ${i}`,
    });
    expect(upload.status).toBe(201);
  }
  const committed = await post(`${repository}/branches/main/commits`, { message: 'all' });
  expect(committed.status).toBe(201);
  const { id: commit } = JSON.parse(committed.body) as { id: string };
  expect((await first.stop()).code).toBe(0);

  const sound = await runSvc(['verify', '--quickstart'], {}, home);
  expect(sound.stderr).toContain('nothing is damaged');
  expect(sound).toMatchObject({ code: 0, stdout: '' });

  // The range is larger than the metarange.
  const tables = tablesBelow(home).toSorted((a, b) => readFileSync(b).length - readFileSync(a).length);
  const id = tables[0]!.slice(-64);
  const bytes = readFileSync(tables[0]!);
  bytes[200]! ^= 1;
  for (const copy of tables.filter((path) => path.endsWith(id))) writeFileSync(copy, bytes);

  const server = await startSvc(
    ['--quickstart'],
    { SVC_SERVER_WORKERS: '1', SVC_LOGGING_LEVEL: 'INFO' },
    home,
  );
  const s3 = new S3Client({
    endpoint: server.url,
    region: 'us-east-1',
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId, secretAccessKey },
  });
  const key = { Bucket: 'hurt', Key: 'main/k10' };
  // More than once: the first reader of a damaged table must not leave the second one an empty one.
  for (let round = 0; round < 3; round++) {
    const path = `${repository}/refs/main/objects`;
    for (const [method, url] of [
      ['GET', `${path}?path=k10`],
      ['HEAD', `${path}?path=k10`],
      ['GET', `${path}/stat?path=k10`],
      ['GET', `${path}/ls`],
      ['GET', `${path}/stat?path=k10absent`],
    ] as const) {
      const answer = await server.request(url, { method, headers });
      expect(answer.status, `${method} ${url}`).toBe(500);
      expect(answer.headers['x-request-id']).toBeDefined();
    }
    const put = await server.request(`${repository}/branches/main/objects?path=k10`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/octet-stream', 'If-None-Match': '*' },
      body: 'overwritten',
    });
    expect(put.status).toBe(500);
    for (const command of [
      () => s3.send(new GetObjectCommand(key)),
      () => s3.send(new HeadObjectCommand(key)),
      () => s3.send(new PutObjectCommand({ ...key, Body: 'overwritten', IfNoneMatch: '*' })),
    ]) {
      const error: unknown = await command().then(
        () => undefined,
        (failed: unknown) => failed,
      );
      expect(s3Status(error)).toBe(500);
    }
  }
  s3.destroy();
  const metrics = await server.request('/metrics', {});
  expect(metrics.body).toMatch(/^svc_damaged_tables_total\{kind="range"\} [1-9]/m);
  const merged = await server.request(`${repository}/branches/main/commits`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ message: 'nothing was staged' }),
  });
  expect(merged.status).toBe(400);
  await server.stop();
  expect(server.stdout + server.stderr).toContain(id);

  const found = await runSvc(['verify', 'hurt', '--json', '--quickstart'], {}, home);
  expect(found.code).toBe(1);
  const lines = found.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toMatchObject([
    { type: 'damage', kind: 'range', id, problem: 'damaged', first_key: 'k0', last_key: 'k9' },
    { type: 'concerned', kind: 'commit', id: commit, tables: [id] },
    { type: 'concerned', kind: 'branch', id: 'main', commit_id: commit },
    { type: 'summary', repositories: 1, ranges: 1, damages: 1 },
  ]);
  const shown = await runSvc(['verify', '--quickstart'], {}, home);
  expect(shown.code).toBe(1);
  expect(shown.stdout).toContain(`hurt: damaged: range "${id}"`);
  expect(shown.stdout).toContain('hurt: concerned: branch "main"');

  const unknown = await runSvc(['verify', 'nowhere', '--quickstart'], {}, home);
  expect(unknown.code).toBe(2);
});
