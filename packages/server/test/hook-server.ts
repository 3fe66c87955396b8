import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { quickstartAuth, type Answer, type RunningSvc } from './start-server.ts';

const headers = { Authorization: quickstartAuth, 'Content-Type': 'application/json' };
const base = '/api/v1/repositories';

/** A repository of a running server, for tests of hooks. */
export class HookedRepository {
  readonly #server: RunningSvc;

  constructor(server: RunningSvc) {
    this.#server = server;
  }

  create(namespace = 'local://hooked'): Promise<Answer> {
    const body = JSON.stringify({ name: 'hooked', storage_namespace: namespace });
    return this.#server.request(base, { method: 'POST', headers, body });
  }

  put(path: string, body: string): Promise<Answer> {
    return this.#server.request(`${base}/hooked/branches/main/objects?path=${encodeURIComponent(path)}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/octet-stream' },
      body,
    });
  }

  commit(message: string): Promise<Answer> {
    return this.#server.request(`${base}/hooked/branches/main/commits`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message, allow_empty: true }),
    });
  }

  rerun(runId: string): Promise<Answer> {
    return this.#server.request(`${base}/hooked/actions/runs/${runId}/rerun`, { method: 'POST', headers });
  }

  get(path: string): Promise<Answer> {
    return this.#server.request(`${base}/hooked/${path}`, { headers });
  }

  async runs(): Promise<readonly Record<string, string>[]> {
    const { body } = await this.get('actions/runs');
    return (JSON.parse(body) as { results: Record<string, string>[] }).results;
  }
}

/** A receiver of webhooks; `answer` decides when it answers. */
export async function startReceiver(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
