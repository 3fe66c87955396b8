import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { quickstartAuth, startSvc, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const branches = 40;

interface Told {
  readonly sequence: number;
  readonly subject: string;
}

/** Follows the events of a server and comes back whenever it is cut off. */
class Follower {
  readonly told: Told[] = [];
  readonly #server: RunningSvc;
  readonly #stop = new AbortController();
  #cursor = '0';

  constructor(server: RunningSvc) {
    this.#server = server;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#read();
      } catch {
        // Its worker died or the server stopped.
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  async #read(): Promise<void> {
    const response = await fetch(`${this.#server.url}/api/v1/repositories/told/events?types=svc.branch.*`, {
      headers: { Authorization: quickstartAuth, accept: 'text/event-stream', 'last-event-id': this.#cursor },
      signal: this.#stop.signal,
    });
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('id: ')) this.#cursor = line.slice(4);
        if (!line.startsWith('data: ')) continue;
        const { sequence, subject } = JSON.parse(line.slice(6)) as { sequence: string; subject: string };
        this.told.push({ sequence: Number(sequence), subject });
      }
    }
  }

  stop(): void {
    this.#stop.abort();
  }
}

interface S3Record {
  readonly eventName: string;
  readonly s3: { readonly bucket: { readonly name: string }; readonly object: { readonly key: string } };
}

test('events of a server with several processes reach streams and webhooks, though processes are killed', async () => {
  const received = new Set<string>();
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { subject, Records: records = [] } = JSON.parse(body) as Partial<Told> & { Records?: S3Record[] };
      if (subject !== undefined) received.add(subject);
      for (const { eventName, s3 } of records)
        received.add(`${eventName} ${s3.bucket.name}/${s3.object.key}`);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  const server = await startSvc(['--quickstart'], {
    SVC_SERVER_WORKERS: '2',
    SVC_EVENTS_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  });
  const post = (path: string, body: object) =>
    server.request(`/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect((await post('/repositories', { name: 'told', storage_namespace: 'local://told' })).status).toBe(201);
  const made = await post('/events/subscriptions', {
    url: `http://127.0.0.1:${port}/`,
    types: ['svc.branch.created'],
  });
  expect(made.status, made.body).toBe(201);
  const forObjects = { url: `http://127.0.0.1:${port}/`, types: ['svc.branch.moved'], format: 's3' };
  expect((await post('/events/subscriptions', forObjects)).status).toBe(201);
  await post('/repositories/told/branches/main/objects?path=a%20b', {});
  expect((await post('/repositories/told/branches/main/commits', { message: 'one' })).status).toBe(201);
  const follower = new Follower(server);
  const subjects: string[] = ['branch/main', 'branch/main'];
  for (let count = 0; count < branches; count += 1) {
    const name = `b${String(count).padStart(2, '0')}`;
    // A request whose worker dies is sent again; a branch that is there by then was made.
    await waitUntil(
      async () =>
        [201, 409].includes(
          (await post('/repositories/told/branches', { name, source: 'main' }).catch(() => ({ status: 0 })))
            .status,
        ),
      { what: `branch ${name}` },
    );
    subjects.push(`branch/${name}`);
    if (count % 15 !== 7) continue;
    const children = server.childPids();
    process.kill(children[count % children.length] ?? 0, 'SIGKILL');
  }
  await waitUntil(() => follower.told.length >= subjects.length, { what: 'all events in the stream' });
  follower.stop();
  expect(follower.told.map(({ subject }) => subject)).toEqual(subjects);
  const numbers = follower.told.map(({ sequence }) => sequence);
  expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
  // Webhooks come at least once; those that came are ours.
  const hooked = [...subjects.slice(2), 'ObjectCreated:Put told/main/a+b'];
  await waitUntil(() => hooked.every((subject) => received.has(subject)), {
    what: 'all webhooks',
  });
  const metrics = (await server.request('/metrics')).body;
  expect(metrics).toMatch(/svc_webhook_deliveries_total\{outcome="delivered"\} \d+/);
  receiver.close();
  receiver.closeAllConnections();
});
