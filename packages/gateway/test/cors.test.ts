import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

const origin = 'https://app.example.com';

describe('pages of other origins', () => {
  let gateway: TestGateway;
  let closed: TestGateway;
  let s3: S3TestClient;

  beforeAll(async () => {
    gateway = await composeGateway({
      gateway: {
        cors: {
          origins: [origin, 'https://*.example.org'],
          methods: ['GET', 'PUT'],
          headers: ['authorization', 'x-amz-*', 'content-type'],
          exposed: ['ETag'],
          maxAgeSeconds: 600,
        },
      },
    });
    closed = await composeGateway();
    await gateway.createRepository('repo');
    s3 = gateway.client();
  });
  afterAll(async () => {
    await gateway.close();
    await closed.close();
  });

  const ask = (to: TestGateway, headers: Record<string, string>) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port: to.port, path: '/repo/main/x', method: 'OPTIONS', headers };
      request(options, (incoming) => {
        let text = '';
        incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
        incoming.on('end', () =>
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text }),
        );
      })
        .on('error', reject)
        .end();
    });
  const preflight = (from: string, method: string, headers = 'authorization,x-amz-date') =>
    ask(gateway, {
      origin: from,
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    });

  it('are told what they may send, on any host', async () => {
    expect(await preflight(origin, 'PUT')).toMatchObject({
      status: 200,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, PUT',
        'access-control-allow-headers': 'authorization, x-amz-date',
        'access-control-expose-headers': 'ETag',
        'access-control-max-age': '600',
      },
    });
    expect((await preflight('https://a.example.org', 'GET')).status).toBe(200);
  });

  it.each([
    ['https://evil.example', 'GET', 'authorization'],
    ['https://app.example.com.evil.example', 'GET', 'authorization'],
    [origin, 'DELETE', 'authorization'],
    [origin, 'GET', 'authorization,x-other'],
  ])('are refused: %s %s %s', async (from, method, headers) => {
    const reply = await preflight(from, method, headers);
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('<Code>AccessForbidden</Code>');
    expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('read answers, refusals too, but never with cookies', async () => {
    await s3.put('/repo/main/x', 'content');
    for (const path of ['/repo/main/x', '/repo/main/none']) {
      const { headers } = await s3.get(path, { headers: { origin } });
      expect(headers).toMatchObject({
        'access-control-allow-origin': origin,
        vary: 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method',
      });
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    const other = await s3.get('/repo/main/x', { headers: { origin: 'https://evil.example' } });
    expect(other.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('may do nothing where nothing is configured', async () => {
    const headers = {
      host: 's3.svc.localhost',
      origin,
      'access-control-request-method': 'GET',
    };
    const reply = await ask(closed, headers);
    expect(reply.status).toBe(403);
    expect(reply.text).toContain('CORS is not enabled');
  });
});
