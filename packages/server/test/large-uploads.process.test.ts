import { presignQuery, SigningKeyCache } from '@svc/encoding';
import { beforeAll, expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc, type RunningSvc } from './start-server.ts';

const size = 64 * 1024 * 1024;
const uploads = 5;
let server: RunningSvc;

beforeAll(async () => {
  server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
  const created = await server.request('/api/v1/repositories', {
    method: 'POST',
    headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'load', storage_namespace: 'local://load' }),
  });
  expect(created.status).toBe(201);
});

function s3Target(): string {
  const path = '/load/main/large';
  const host = `127.0.0.1:${server.port}`;
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
async function wholeCollections(): Promise<number> {
  const { body } = await server.request('/metrics');
  const counts = body.matchAll(/^nodejs_gc_duration_seconds_count\{[^}]*kind="major"[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

test.each(['the API', 'S3'])('large uploads by %s do not make V8 collect the whole heap', async (by) => {
  const body = Buffer.alloc(size, 'x');
  const headers = { authorization: quickstartAuth, 'content-type': 'application/octet-stream' };
  const before = await wholeCollections();
  for (let n = 0; n < uploads; n += 1) {
    const { status } =
      by === 'S3'
        ? await server.request(s3Target(), { method: 'PUT', body })
        : await server.request('/api/v1/repositories/load/branches/main/objects?path=large', {
            method: 'POST',
            headers,
            body,
          });
    expect(status).toBeLessThan(300);
  }
  // V8 by itself does it for each of them, and more often. Other growth is collected now and then.
  expect((await wholeCollections()) - before).toBeLessThan(uploads / 2);
});
