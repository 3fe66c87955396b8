import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, startSvc } from './start-server.ts';

test('the example that copies events into a broker loses none, whoever stops', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bridge-'));
  const published: { key: string | undefined; subject: string }[] = [];
  let isUp = true;
  const broker = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { subject = '' } = JSON.parse(body) as { subject?: string };
      if (isUp) published.push({ key: request.headers['idempotency-key'] as string | undefined, subject });
      response.writeHead(isUp ? 204 : 503).end();
    });
  });
  await new Promise<void>((resolve) => broker.listen(0, '127.0.0.1', resolve));
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
  const [accessKeyId, secret] = Buffer.from(quickstartAuth.slice('Basic '.length), 'base64')
    .toString()
    .split(':');
  const start = () =>
    spawn(process.execPath, [join(import.meta.dirname, '../../../examples/events-bridge.ts')], {
      env: {
        ...process.env,
        SVC_ENDPOINT: server.url,
        SVC_ACCESS_KEY_ID: accessKeyId,
        SVC_SECRET_ACCESS_KEY: secret,
        PUBLISH_URL: `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`,
        CURSOR_FILE: join(folder, 'cursor'),
      },
      stdio: 'ignore',
    });
  const post = async (path: string, body: object): Promise<void> => {
    const answer = await server.request(`/api/v1/repositories${path}`, {
      method: 'POST',
      headers: { authorization: quickstartAuth, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status, answer.body).toBe(201);
  };
  const create = (name: string): Promise<void> => post('/told/branches', { name, source: 'main' });
  const has = (name: string): boolean => published.some(({ subject }) => subject === `branch/${name}`);
  await post('', { name: 'told', storage_namespace: 'local://told' });
  let bridge = start();
  try {
    await create('one');
    await waitUntil(() => has('one'), { what: 'the first event' });
    isUp = false;
    await create('two');
    bridge.kill('SIGKILL');
    await create('three');
    isUp = true;
    bridge = start();
    await waitUntil(() => has('three'), { what: 'the events that nobody took' });
    const named = published.map(({ subject }) => subject).filter((subject) => /one|two|three/.test(subject));
    expect([...new Set(named)]).toEqual(['branch/one', 'branch/two', 'branch/three']);
    const keys = new Set(published.map(({ key, subject }) => `${key} ${subject}`));
    expect(keys.size).toBe(new Set(published.map(({ key }) => key)).size);
  } finally {
    bridge.kill('SIGKILL');
    broker.close();
    broker.closeAllConnections();
    rmSync(folder, { recursive: true, force: true });
  }
});
