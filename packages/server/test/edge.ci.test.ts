import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, truncateSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { tempDir, waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickstartAuth, runSvc, startSvc, type RunningSvc } from './start-server.ts';

const root = join(import.meta.dirname, '../../..');
const json = { 'Content-Type': 'application/json' };
const key = {
  access_key_id: 'AKIAIOSFOLQUICKSTART',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

/** Everything the server says to these bytes until it closes, or until it has said `wanted`. */
function raw(port: number, bytes: string | Buffer, wanted?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (wanted?.test(text) === true) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}

function head(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');
}

describe('a running server', () => {
  let server: RunningSvc;
  const login = (body: string | Buffer = JSON.stringify(key)) =>
    server.request('/api/v1/auth/login', { method: 'POST', headers: json, body });

  beforeAll(async () => {
    server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2' });
  });

  afterAll(async () => {
    // No worker has died of anything that was done to it.
    expect(server.stderr + server.stdout).not.toContain('worker process died');
    expect((await server.stop()).code).toBe(0);
  });

  it('does not wait for the bodies of hundreds of strangers, and hears others meanwhile', async () => {
    const announced = [...Array(300).keys()].map((n) =>
      raw(
        server.port,
        n % 2 === 0
          ? head('POST /api/v1/auth/login', 'Content-Type: application/json', 'Content-Length: 33554432')
          : head('POST /api/v1/repositories', 'Content-Type: application/json', 'Content-Length: 33554432'),
        /\r\n\r\n\{.*\}/,
      ),
    );
    const stalled = [...Array(200).keys()].map(() => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.write(
        head('POST /api/v1/auth/login', 'Content-Type: application/json', 'Content-Length: 60000'),
      );
      socket.write('{"access_key_id":"');
      return socket;
    });
    for (const [n, answer] of (await Promise.all(announced)).entries())
      expect(answer).toMatch(n % 2 === 0 ? /^HTTP\/1\.1 413 / : /^HTTP\/1\.1 401 /);
    expect((await login()).status).toBe(200);
    for (const socket of stalled) socket.destroy();
  });

  it.each([
    ['a login of 33 MB', '/api/v1/auth/login', () => `{"a":"${'x'.repeat(33_000_000)}"}`, 413],
    ['deep lists', '/api/v1/repositories', () => '['.repeat(8_000_000), 400],
    ['many names', '/api/v1/repositories', () => `{${'"a":1,'.repeat(1_000_000)}"b":1}`, 400],
    ['a long name', '/api/v1/repositories', () => `{"name":"${'a'.repeat(8_000_000)}"}`, 400],
  ] as const)('answers %s at once', async (_, path, body, status) => {
    const headers = { ...json, Authorization: quickstartAuth };
    const answer = await server.request(path, { method: 'POST', headers, body: body() });
    expect(answer.status).toBe(status);
    expect((await server.request('/_health')).status).toBe(200);
  });

  it.each([
    ['a long path', head(`GET /api/v1/${'a/'.repeat(100_000)}`, 'Connection: close'), /^HTTP\/1\.1 404 /],
    [
      'a long query',
      head(`GET /api/v1/repositories?${'a=b&'.repeat(50_000)}`, 'Connection: close'),
      /^HTTP\/1\.1 4/,
    ],
    [
      'long cookies',
      head('GET /api/v1/user', `Cookie: ${'a=b;'.repeat(50_000)}`, 'Connection: close'),
      /^HTTP\/1\.1 401 /,
    ],
    ['a head without end', head('GET /', `X: ${'x'.repeat(2_000_000)}`), /^HTTP\/1\.1 431 /],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 400 /],
    [
      'an upgrade',
      head(
        'GET /api/v1/healthcheck',
        'Connection: Upgrade, close',
        'Upgrade: websocket',
        'Sec-WebSocket-Key: eA==',
      ),
      /^HTTP\/1\.1 204 /,
    ],
    [
      'an encoded body',
      `${head('POST /api/v1/auth/login', 'Content-Type: application/json', 'Content-Encoding: gzip', 'Content-Length: 2', 'Connection: close')}\x1f\x8b`,
      /^HTTP\/1\.1 400 /,
    ],
  ])('answers %s', async (_, bytes, expected) => {
    expect(await raw(server.port, bytes)).toMatch(expected);
    expect((await server.request('/_health')).status).toBe(200);
  });

  it('answers a hundred requests sent at once, in order', async () => {
    const requests =
      head('GET /api/v1/healthcheck').repeat(99) + head('GET /api/v1/nothing', 'Connection: close');
    const answer = await raw(server.port, requests);
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]);
    expect(statuses).toEqual([...Array.from({ length: 99 }, () => '204'), '404']);
  });

  it('tells a client that waits to send nothing when it will be refused', async () => {
    const expecting = ['Content-Type: application/json', 'Content-Length: 10', 'Expect: 100-continue'];
    const refused = await raw(server.port, head('POST /api/v1/repositories', ...expecting));
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    const wanted = await raw(
      server.port,
      head('POST /api/v1/repositories', `Authorization: ${quickstartAuth}`, ...expecting),
      /100 Continue/,
    );
    expect(wanted).toMatch(/^HTTP\/1\.1 100 /);
  });

  it('ends sessions at logout, on every worker', async () => {
    const { token } = JSON.parse((await login()).body) as { token: string };
    const askMany = () =>
      Promise.all(
        [...Array(16).keys()].map(async () => {
          const { status } = await server.request('/api/v1/user', {
            headers: { Authorization: `Bearer ${token}` },
          });
          return status;
        }),
      );
    expect(new Set(await askMany())).toEqual(new Set([200]));
    const answer = await server.request('/logout', { headers: { Cookie: `access_token=${token}` } });
    expect(answer.status).toBe(303);
    expect(new Set(await askMany())).toEqual(new Set([401]));
    expect((await login()).status).toBe(200);
  });

  it('makes no metrics of what clients make up', async () => {
    const events = Array.from({ length: 200 }, (_, n) => ({
      class: `made-up-${n}`,
      name: `made-up-${n}`,
      count: 1,
    }));
    const headers = { ...json, Authorization: quickstartAuth };
    const body = JSON.stringify({ events });
    expect((await server.request('/api/v1/statistics', { method: 'POST', headers, body })).status).toBe(204);
    const metrics = (await server.request('/metrics')).body;
    expect(metrics).not.toContain('made-up');
    expect(metrics).toContain('svc_events_total{class="other",name="other"} 200');
  });
});

describe('an installation', () => {
  it('whose database was emptied is not set up anew', async () => {
    const first = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
    await first.stop();
    truncateSync(join(first.home, 'svc', 'metadata', 'data.mdb'), 0);
    const again = await runSvc(['run', '--quickstart'], { SVC_LISTEN_ADDRESS: '127.0.0.1:0' }, first.home);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/data\.mdb is empty: .*restore it from a backup/),
    });
  });

  it('that other machines reach has secrets of its own', async () => {
    const server = await startSvc(['--quickstart'], {
      SVC_SERVER_WORKERS: '1',
      SVC_LISTEN_ADDRESS: '0.0.0.0:0',
    });
    try {
      expect(server.stderr).toContain('Other machines can connect.');
      const secret = /Secret Access Key: (\S+)/.exec(server.stderr)?.[1] ?? '';
      expect(secret).not.toBe(key.secret_access_key);
      const statusOf = async (authorization: string) =>
        (await server.request('/api/v1/user', { headers: { Authorization: authorization } })).status;
      expect(await statusOf(quickstartAuth)).toBe(401);
      const own = Buffer.from(`${key.access_key_id}:${secret}`).toString('base64');
      expect(await statusOf(`Basic ${own}`)).toBe(200);
    } finally {
      await server.stop();
    }
  });
});

describe('npx', () => {
  it('stops the server it has started', async () => {
    const home = tempDir();
    const child = spawn('npx', ['--no-install', 'svc', 'run', '--quickstart'], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        SVC_LISTEN_ADDRESS: '127.0.0.1:0',
        SVC_SERVER_WORKERS: '1',
      },
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const url = await waitUntil(() => /is serving at (\S+)/.exec(stderr)?.[1], { timeoutMs: 60_000 });
    child.kill('SIGTERM');
    await waitUntil(
      () =>
        fetch(`${url}/_health`).then(
          () => false,
          () => true,
        ),
      { timeoutMs: 60_000 },
    );
    await waitUntil(() => stderr.includes('Shutting down...'), { timeoutMs: 60_000 });
  });

  it.each([
    ['svc', 'packages/server/bin'],
    ['svcctl', 'packages/cli/bin'],
  ])('says how to build %s', async (name, bin) => {
    const clone = tempDir();
    mkdirSync(join(clone, 'packages'), { recursive: true });
    cpSync(join(root, bin), join(clone, bin), { recursive: true });
    const child = spawn(process.execPath, [join(clone, bin, `${name}.js`), '--help']);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [
        expect.stringMatching(new RegExp(`^${name}: this clone is not built yet; run "npm run build" in `)),
        '',
      ],
    ]);
  });
});
