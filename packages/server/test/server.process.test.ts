import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { connect as tlsConnect } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { svcBundle, tempDir, waitUntil } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keepAliveAgent, quickstartAuth, runSvc, startSvc } from './start-server.ts';
import type { RunningSvc } from './start-server.ts';

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

function readyProcesses(server: RunningSvc): number {
  return server.stdout.split('worker process is ready').length - 1;
}

describe('a running server', () => {
  let server: RunningSvc;
  beforeAll(async () => {
    server = await startSvc(['--quickstart'], {
      SVC_LOGGING_LEVEL: 'TRACE',
      SVC_LOGGING_FORMAT: 'json',
      SVC_SERVER_WORKERS: '2',
    });
    await waitUntil(() => readyProcesses(server) === 3, { what: 'two workers and the background process' });
  });
  afterAll(async () => {
    expect((await server.stop()).code).toBe(0);
  });

  test('health, readiness, API health', async () => {
    const health = await server.request('/_health', { method: 'POST' });
    expect(health).toMatchObject({
      status: 200,
      body: expect.stringMatching(new RegExp(`^alive! ${uuid.source}$`)),
    });
    expect(health.headers['content-type']).toContain('text/plain');
    expect(await server.request('/_ready')).toMatchObject({ status: 200 });
    expect(await server.request('/api/v1/healthcheck')).toMatchObject({ status: 204 });
    expect(await server.request('/openapi.json')).toMatchObject({
      status: 200,
      body: expect.stringContaining('"openapi"'),
    });
    expect(await server.request('/')).toMatchObject({
      status: 200,
      body: expect.stringMatching(/<html/i),
    });
    expect(await server.request('/_pprof/')).toMatchObject({ status: 404 });
    expect(await server.request('/api/v1/nothing')).toMatchObject({
      status: 404,
      headers: { 'content-type': expect.stringContaining('json') },
    });
    expect(await server.request('/logout')).toMatchObject({
      status: 303,
      headers: { location: '/auth/login' },
    });
  });

  test('a request signed for S3 reaches the gateway, whatever its path and content type', async () => {
    const answer = await server.request('/repo/main/%zz', {
      method: 'PUT',
      headers: { Authorization: 'AWS4-HMAC-SHA256 x', 'Content-Type': 'weird' },
      body: 'x',
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).toContain('<Error>');
    const byHost = await server.request('/', { headers: { Host: 'repo.s3.svc.localhost:8000' } });
    expect(byHost.body).toContain('<Error>');
  });

  test('request ids are fresh, whatever the caller sends', async () => {
    const ask = () =>
      server.request('/api/v1/user', { headers: { 'X-Request-ID': 'mine', Authorization: quickstartAuth } });
    const [one, two] = await Promise.all([ask(), ask()]);
    expect(one.headers['x-request-id']).toMatch(uuid);
    expect(two.headers['x-request-id']).toMatch(uuid);
    expect(one.headers['x-request-id']).not.toBe(two.headers['x-request-id']);
    expect(one.headers['x-request-id']).not.toBe('mine');
  });

  test.runIf(process.platform === 'linux')('every worker shares few arenas of memory', () => {
    const settings = server
      .childPids()
      .map((pid) => /MALLOC_ARENA_MAX=\d+/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[0]);
    expect(settings).toEqual(['MALLOC_ARENA_MAX=2', 'MALLOC_ARENA_MAX=2', 'MALLOC_ARENA_MAX=2']);
  });

  test('100 KiB of headers are accepted', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 25 }, (_, n) => [`x-amz-meta-${n}`, 'v'.repeat(4096)]),
    );
    expect(await server.request('/_health', { headers })).toMatchObject({ status: 200 });
  });

  test('metrics are summed over the workers', async () => {
    // A connection each: round robin gives every worker its share.
    for (let n = 0; n < 10; n++) {
      expect(
        await server.request('/api/v1/repositories', { headers: { Authorization: quickstartAuth } }),
      ).toMatchObject({ status: 200 });
    }
    for (let n = 0; n < 2; n++) {
      const { body } = await server.request('/metrics');
      expect(
        Number(/^api_requests_total\{code="200",method="get"\} (\d+)$/m.exec(body)?.[1]),
      ).toBeGreaterThanOrEqual(10);
      expect(body).toContain(
        'api_request_duration_seconds_count{code="200",operation="listRepositories"} 10',
      );
      expect(body).toMatch(/^process_resident_memory_bytes \d/m);
      expect(body).toContain('svc_events_total{class="api_server",name="listRepositories"} 10');
    }
  });

  test('every call counts in the usage report, whichever worker served it', async () => {
    const headers = { Authorization: quickstartAuth };
    const total = async (): Promise<number> => {
      const { body } = await server.request('/api/v1/usage-report/summary', { headers });
      return (JSON.parse(body) as { reports: { count: number }[] }).reports.reduce(
        (sum, { count }) => sum + count,
        0,
      );
    };
    const before = await total();
    for (let n = 0; n < 6; n++) await server.request('/api/v1/repositories', { headers });
    expect(await total()).toBeGreaterThanOrEqual(before + 6);
  });

  test('the log names every setting, masks secrets, and no secret is anywhere even at trace', async () => {
    const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    const login = JSON.stringify({ access_key_id: 'AKIAIOSFOLQUICKSTART', secret_access_key: secret });
    const answer = await server.request('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: login,
    });
    expect(answer.status).toBe(200);
    const { token } = JSON.parse(answer.body) as { token: string };
    await waitUntil(() => server.stdout.includes('"operation_id":"login"'), {
      what: 'the audit line of the login',
    });
    expect(server.stdout).toContain('"auth.encrypt.secret_key":"******"');
    expect(server.stdout).not.toContain('svc development secret');
    expect(server.stdout).not.toContain(token);
    expect(server.stdout).not.toContain(secret);
    const audit = server.stdout
      .split('\n')
      .filter((line) => line.includes('HTTP call ended') && line.includes('listRepositories'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)[0];
    expect(audit).toMatchObject({
      level: 'debug',
      log_audit: true,
      service_name: 'rest_api',
      operation_id: 'listRepositories',
      user: 'quickstart',
      method: 'GET',
      status_code: 200,
      path: '/api/v1/repositories',
      request_id: expect.stringMatching(uuid),
      source_ip: expect.stringContaining('127.0.0.1:'),
    });
    expect(audit?.['took']).toBeTypeOf('number');
  });

  test('a second server on the same store is refused, naming the folder and the first one', async () => {
    const second = await runSvc(['run', '--quickstart'], { SVC_LISTEN_ADDRESS: '127.0.0.1:0' }, server.home);
    expect(second.code).toBe(1);
    expect(second.stderr).toContain(join(server.home, 'svc/metadata'));
    expect(second.stderr).toContain(`pid ${server.pid}`);
  });

  test('the death of a worker is not noticed by a client that retries once, after a moment', async () => {
    const agents = [keepAliveAgent(), keepAliveAgent(), keepAliveAgent(), keepAliveAgent()];
    expect(server.stderr + server.stdout).not.toContain('worker process died');
    const victim = server.childPids()[0]!;
    let served = 0;
    const failures: string[] = [];
    const state = { running: true };
    const client = async (n: number): Promise<void> => {
      while (state.running) {
        const ask = () =>
          server.request('/api/v1/user', { agent: agents[n]!, headers: { Authorization: quickstartAuth } });
        try {
          // At once, the kernel may still queue the connection for the worker whose sockets it is closing.
          const answer = await ask().catch(() => delay(100).then(ask));
          if (answer.status === 200) served++;
          else failures.push(`${answer.status} ${answer.body}`);
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    const clients = agents.map((_, n) => client(n));
    await waitUntil(() => served > 20);
    process.kill(victim, 'SIGKILL');
    await waitUntil(() => readyProcesses(server) === 4, { what: 'the new worker' });
    const then = served;
    await waitUntil(() => served > then + 20);
    state.running = false;
    await Promise.all(clients);
    for (const agent of agents) agent.destroy();
    const deaths = server.stdout
      .split('\n')
      .filter((line) => line.includes('worker process died; starting it again'));
    expect({ failures, deaths }).toEqual({ failures: [], deaths: [expect.stringContaining('SIGKILL')] });
    const { body } = await server.request('/metrics');
    // What the dead worker had counted at the last scrape is still there.
    expect(Number(/name="listRepositories"\} (\d+)/.exec(body)?.[1])).toBeGreaterThanOrEqual(10);
  });
});

describe('stopping', () => {
  test('a request in flight finishes, health says 503, new connections are refused, exit 0', async () => {
    const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
    const agent = keepAliveAgent();
    await server.request('/_health', { agent });
    const slow = httpRequest({
      host: '127.0.0.1',
      port: server.port,
      path: '/api/v1/auth/login',
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': 2 },
    });
    slow.write('{');
    const answered = new Promise<number>((resolve, reject) => {
      slow.on('response', (response) => resolve(response.resume().statusCode ?? 0));
      slow.on('error', reject);
    });
    await waitUntil(async () => {
      const { body } = await server.request('/metrics', { agent });
      return body.includes('svc_concurrent_requests{service="api",operation="login"} 1');
    });
    server.signal('SIGTERM');
    await waitUntil(() =>
      server.request('/_health').then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
    );
    expect(await server.request('/_health', { agent })).toMatchObject({
      status: 503,
      headers: { connection: 'close' },
    });
    slow.end('}');
    expect(await answered).toBe(400);
    const finished = await server.finished;
    expect(finished.code).toBe(0);
    expect(finished.stderr).toContain('Shutting down...');
    agent.destroy();
  });

  test('a signal while it starts ends everything with exit 0', async () => {
    const child = spawn(process.execPath, [join(svcBundle(), 'svc.js'), 'run', '--quickstart'], {
      cwd: tempDir(),
      env: { HOME: tempDir(), SVC_LISTEN_ADDRESS: '127.0.0.1:0', SVC_SERVER_WORKERS: '2' },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'exit');
    // The first worker process works on the stores and does not listen yet.
    await waitUntil(() => output.includes('user created'), { what: 'the first user' });
    child.kill('SIGTERM');
    const code = await Promise.race([
      ended.then(([status]) => status as number),
      delay(60_000, 'still running'),
    ]);
    child.kill('SIGKILL');
    expect(code, output.slice(-2000)).toBe(0);
  });

  test('a second signal ends everything at once with exit 1', async () => {
    const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
    const slow = httpRequest({
      host: '127.0.0.1',
      port: server.port,
      path: '/api/v1/auth/login',
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': 2 },
    });
    slow.on('error', () => {});
    slow.write('{');
    await waitUntil(async () =>
      (await server.request('/metrics')).body.includes(
        'svc_concurrent_requests{service="api",operation="login"} 1',
      ),
    );
    const children = server.childPids();
    server.signal('SIGINT');
    await waitUntil(() => server.stderr.includes('Shutting down...'));
    server.signal('SIGINT');
    expect((await server.finished).code).toBe(1);
    await waitUntil(() => children.every((pid) => !isAlive(pid)));
  });

  test('workers do not outlive a primary that was killed', async () => {
    const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
    await waitUntil(() => server.childPids().length === 2);
    const children = server.childPids();
    server.signal('SIGKILL');
    await server.finished;
    await waitUntil(() => children.every((pid) => !isAlive(pid)));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('changes while running', () => {
  test('the log level of the file, and only that', async () => {
    const home = tempDir();
    const file = join(home, 'config.yaml');
    writeFileSync(file, 'logging: {level: WARN, format: json}\n');
    const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, home);
    await server.request('/api/v1/healthcheck');
    expect(server.stdout).not.toContain('HTTP call ended');
    writeFileSync(file, 'logging: {level: [broken\n');
    await waitUntil(() => server.stdout.includes('the changed configuration file is ignored'));
    await delay(20);
    writeFileSync(file, 'logging: {level: DEBUG, format: json}\nlisten_address: 127.0.0.1:1\n');
    await waitUntil(async () => {
      await server.request('/api/v1/healthcheck');
      return server.stdout.includes('HTTP call ended');
    });
    expect((await server.stop()).code).toBe(0);
  });

  test('TLS certificates are reloaded; a pair that does not match is not used', async () => {
    const home = tempDir();
    const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name);
    const use = (cert: string, key: string) => {
      copyFileSync(fixture(`tls-${cert}-cert.pem`), join(home, 'cert.pem'));
      copyFileSync(fixture(`tls-${key}-key.pem`), join(home, 'key.pem'));
    };
    use('one', 'one');
    const env = {
      SVC_SERVER_WORKERS: '1',
      SVC_TLS_ENABLED: 'true',
      SVC_TLS_CERT_FILE: join(home, 'cert.pem'),
      SVC_TLS_KEY_FILE: join(home, 'key.pem'),
    };
    const server = await startSvc(['--quickstart'], env, home);
    expect(server.url).toMatch(/^https:/);
    const subject = () =>
      new Promise<string>((resolve, reject) => {
        const socket = tlsConnect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
          resolve(String(socket.getPeerCertificate().subject.CN));
          socket.destroy();
        });
        socket.on('error', reject);
      });
    expect(await subject()).toBe('one.svc.test');
    use('two', 'two');
    await waitUntil(async () => (await subject()) === 'two.svc.test');
    use('one', 'two');
    await waitUntil(() => server.stdout.includes('the changed TLS files cannot be used'));
    expect(await subject()).toBe('two.svc.test');
    expect((await server.stop()).code).toBe(0);

    const mismatched = await runSvc(
      ['run', '--quickstart'],
      { ...env, SVC_LISTEN_ADDRESS: '127.0.0.1:0' },
      home,
    );
    expect(mismatched).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be used together') });
  });

  test('log files are written by one process and rotated', async () => {
    const home = tempDir();
    const log = join(home, 'logs', 'svc.log');
    const env = {
      SVC_LOGGING_OUTPUT: log,
      SVC_LOGGING_LEVEL: 'DEBUG',
      SVC_LOGGING_FORMAT: 'json',
      SVC_SERVER_WORKERS: '2',
    };
    const server = await startSvc(['--quickstart'], env, home);
    await Promise.all(Array.from({ length: 40 }, () => server.request('/api/v1/healthcheck')));
    expect((await server.stop()).code).toBe(0);
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    const records = lines.map((line) => JSON.parse(line) as { msg: string });
    expect(records.filter(({ msg }) => msg === 'HTTP call ended')).toHaveLength(40);
    expect(server.stdout).toBe('');
  });
});
