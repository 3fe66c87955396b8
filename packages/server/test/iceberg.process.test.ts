import { S3Client, GetObjectCommand } from '@aws-sdk/client-s3';
import { chattyLogging } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc } from './start-server.ts';

interface Loaded {
  readonly 'metadata-location': string;
  readonly config: Readonly<Record<string, string>>;
}

// Whatever the server logs at its chattiest is searched for the keys it has given out.
test('serves tables beside the API and the gateway, and logs no key it gives out', async () => {
  const server = await startSvc(['--quickstart'], chattyLogging);
  const json = { 'Content-Type': 'application/json' };
  const send = async (path: string, headers: Record<string, string>, body?: object): Promise<unknown> => {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await server.request(path, {
      method,
      headers: { ...headers, ...json },
      body: JSON.stringify(body),
    });
    expect([path, answer.status < 300]).toEqual([path, true]);
    return JSON.parse(answer.body);
  };
  const repository = { name: 'lake', storage_namespace: 'local://lake' };
  await send('/api/v1/repositories', { Authorization: quickstartAuth }, repository);
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: quickstartKey.accessKeyId,
    client_secret: quickstartKey.secretAccessKey,
  });
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const given = await server.request('/iceberg/v1/oauth/tokens', {
    method: 'POST',
    headers,
    body: String(form),
  });
  const { access_token: token = '' } = JSON.parse(given.body) as { access_token?: string };
  const schema = { type: 'struct', fields: [{ id: 1, name: 'n', required: false, type: 'long' }] };
  const table = (await send(
    '/iceberg/v1/namespaces/lake%1Fmain/tables',
    { Authorization: `Bearer ${token}` },
    { name: 't', schema },
  )) as Loaded;
  const s3 = new S3Client({
    endpoint: table.config['s3.endpoint'] ?? '',
    region: table.config['s3.region'] ?? '',
    forcePathStyle: true,
    credentials: {
      accessKeyId: table.config['s3.access-key-id'] ?? '',
      secretAccessKey: table.config['s3.secret-access-key'] ?? '',
      sessionToken: table.config['s3.session-token'] ?? '',
    },
  });
  const Key = table['metadata-location'].replace('s3://lake/', '');
  const metadata = await s3.send(new GetObjectCommand({ Bucket: 'lake', Key }));
  expect(await metadata.Body?.transformToString()).toContain('"location":"s3://lake/t"');
  s3.destroy();
  expect((await server.stop()).code).toBe(0);
});
