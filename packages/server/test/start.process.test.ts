import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, startSvc, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };

function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  let sockets = 0;
  for (const name of readdirSync(folder)) {
    try {
      if (readlinkSync(`${folder}/${name}`).startsWith('socket:')) sockets += 1;
    } catch {
      // Closed while we looked.
    }
  }
  return sockets;
}

async function connectTo(server: RunningSvc): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  // Answered, so it has a worker.
  socket.write('GET /_health HTTP/1.1\r\nhost: svc\r\n\r\n');
  await once(socket, 'data');
  return socket;
}

test.runIf(process.platform === 'linux')('the first connections are spread over all workers', async () => {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2' });
  // Each goes to either of them: that all go to one happens once in two thousand million times.
  const sockets = await Promise.all(Array.from({ length: 32 }, () => connectTo(server)));
  const workers = server.childPids();
  const connected = workers.map(openSockets);
  for (const socket of sockets) socket.destroy();
  await waitUntil(() => sum(workers.map(openSockets)) <= sum(connected) - sockets.length, {
    what: 'closed connections',
  });
  const closed = workers.map((pid, index) => (connected[index] ?? 0) - openSockets(pid));
  // The third process serves no requests.
  expect(closed.filter((count) => count > 0)).toHaveLength(2);
  expect((await server.stop()).code).toBe(0);
});

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

test('what a server reads to warm up is told nowhere', async () => {
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '2' });
  const send = async (path: string, body: string): Promise<void> => {
    const { status } = await server.request(`/api/v1/repositories${path}`, { method: 'POST', headers, body });
    expect(status).toBe(201);
  };
  await send('', JSON.stringify({ name: 'warm', storage_namespace: 'local://warm' }));
  await send('/warm/branches/main/objects?path=a', 'content');
  await send('/warm/branches/main/commits', JSON.stringify({ message: 'm' }));
  const usage = async (of: RunningSvc): Promise<number> => {
    const { body } = await of.request('/api/v1/usage-report/summary', { headers });
    const { reports } = JSON.parse(body) as { reports: { count: number }[] };
    return sum(reports.map(({ count }) => count));
  };
  const before = await usage(server);
  expect((await server.stop()).code).toBe(0);

  const again = await startSvc(
    ['--quickstart'],
    {
      SVC_SERVER_WORKERS: '2',
      SVC_LOGGING_LEVEL: 'TRACE',
      SVC_LOGGING_FORMAT: 'json',
      SVC_AUDIT_READS: 'true',
    },
    server.home,
  );
  expect(again.stdout).not.toContain('HTTP call ended');
  const metrics = await again.request('/metrics');
  expect(metrics.body).not.toMatch(
    /^(api_requests_total|svc_events_total|auth_request_duration_seconds_count)\{.*\} [1-9]/m,
  );
  // The summary is counted itself.
  expect(await usage(again)).toBe(before + 1);
  const audit = await again.request('/api/v1/audit?action=statObject', { headers });
  expect(JSON.parse(audit.body)).toMatchObject({ results: [] });
  expect(again.stdout).not.toContain('warm-up');
  expect((await again.stop()).code).toBe(0);
});
