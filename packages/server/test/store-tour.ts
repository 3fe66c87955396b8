import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { tempDir } from '@svc/testing';
import { expect } from 'vitest';
import { quickstartAuth, quickstartKey, runSvc, startSvc, type Answer } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const repository = '/api/v1/repositories/tour';

/**
 * A short walk through a server on the key-value store that `env` configures: set-up, both protocols, the tools, and
 * everything there again after a restart. Returns the metrics of the first server.
 */
export async function walkOnStore(env: Record<string, string>): Promise<string> {
  const home = tempDir();
  const settings = { SVC_SERVER_WORKERS: '2', ...env };
  const setUp = await runSvc(
    ['setup', '--local-settings', '--user-name', 'admin', ...keyArguments],
    settings,
    home,
  );
  expect(setUp).toMatchObject({ code: 0, stdout: expect.stringContaining('credentials:') as string });
  const server = await startSvc(['--local-settings'], settings, home);
  const ask = async (method: string, path: string, status: number, body?: object): Promise<Answer> => {
    const answer = await server.request(path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect({ path, status: answer.status, body: answer.body }).toMatchObject({ path, status });
    return answer;
  };
  await ask('POST', '/api/v1/repositories', 201, { name: 'tour', storage_namespace: 'local://tour' });
  const s3 = new S3Client({
    endpoint: server.url,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: quickstartKey,
  });
  for (let index = 0; index < 20; index++) {
    await s3.send(new PutObjectCommand({ Bucket: 'tour', Key: `main/data/${index}`, Body: `body ${index}` }));
  }
  await ask('POST', `${repository}/branches/main/commits`, 201, { message: 'twenty' });
  await ask('POST', `${repository}/branches`, 201, { name: 'side', source: 'main' });
  await s3.send(new PutObjectCommand({ Bucket: 'tour', Key: 'side/data/3', Body: 'changed' }));
  await ask('DELETE', `${repository}/branches/side/objects?path=data%2F4`, 204);
  await ask('POST', `${repository}/branches/side/commits`, 201, { message: 'changed' });
  await ask('POST', `${repository}/refs/side/merge/main`, 200, {});
  await ask('POST', `${repository}/tags`, 201, { id: 'v1', ref: 'main' });
  const listed = await s3.send(new ListObjectsV2Command({ Bucket: 'tour', Prefix: 'main/data/' }));
  expect(listed.Contents).toHaveLength(19);
  const body = await s3.send(new GetObjectCommand({ Bucket: 'tour', Key: 'v1/data/3' }));
  expect(await body.Body?.transformToString()).toBe('changed');
  s3.destroy();
  const { body: metrics } = await server.request('/metrics');
  expect((await server.stop()).code).toBe(0);

  const dump = join(home, 'dump.json');
  expect(
    await runSvc(['kv', 'dump', '--local-settings', '--all', '--output', dump], settings, home),
  ).toMatchObject({
    code: 0,
  });
  expect(readFileSync(dump, 'utf8')).toContain('"graveler"');
  const version = await runSvc(['migrate', 'version', '--local-settings'], settings, home);
  expect(version).toMatchObject({ code: 0 });
  const again = await startSvc(['--local-settings'], settings, home);
  const answer = await again.request(`${repository}/refs/main/objects?path=data%2F3`, { headers });
  expect(answer).toMatchObject({ status: 200, body: 'changed' });
  expect((await again.stop()).code).toBe(0);
  return metrics;
}

const keyArguments = [
  '--access-key-id',
  quickstartKey.accessKeyId,
  '--secret-access-key',
  quickstartKey.secretAccessKey,
];
