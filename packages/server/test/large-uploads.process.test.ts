import { presignQuery, SigningKeyCache } from '@svc/encoding';
import { expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc } from './start-server.ts';

const mebibyte = 1024 * 1024;
const uploads = 8;

function s3Target(host: string): string {
  const path = '/load/main/large';
  const query = presignQuery(
    { method: 'PUT', host, path, query: [], expiresSeconds: 600 },
    {
      credentials: quickstartKey,
      region: 'us-east-1',
      service: 's3',
      now: new Date(),
      keys: new SigningKeyCache(),
    },
  );
  return `${path}?${query}`;
}

/** How often V8 has collected the whole heap. */
function wholeCollections(metrics: string): number {
  const counts = metrics.matchAll(/^nodejs_gc_duration_seconds_count\{[^}]*kind="major"[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test.each(['the API', 'S3'])('large uploads by %s do not make V8 collect the whole heap', async (by) => {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
  const created = await server.request('/api/v1/repositories', {
    method: 'POST',
    headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'load', storage_namespace: 'local://load' }),
  });
  expect(created.status).toBe(201);
  const target = s3Target(`127.0.0.1:${server.port}`);
  const upload = (): ReturnType<typeof server.request> => {
    const body = Buffer.alloc(64 * mebibyte, 'x');
    if (by === 'S3') return server.request(target, { method: 'PUT', body });
    const headers = { authorization: quickstartAuth, 'content-type': 'application/octet-stream' };
    const path = '/api/v1/repositories/load/branches/main/objects?path=large';
    return server.request(path, { method: 'POST', headers, body });
  };
  const before = wholeCollections((await server.request('/metrics')).body);
  for (let n = 0; n < uploads; n += 1) expect((await upload()).status).toBeLessThan(300);
  const after = wholeCollections((await server.request('/metrics')).body);
  // Once for every upload and more when left to V8; what grows for other reasons is collected now and then.
  expect(after - before).toBeLessThan(uploads / 2);
  await server.stop();
});
