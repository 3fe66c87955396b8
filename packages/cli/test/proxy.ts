import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Passes requests on to a server, except those a test takes for itself (`take` answers true). */
export async function startProxy(
  target: string,
  take: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<Proxy> {
  const server = createServer((request, response) => {
    if (take(request, response)) {
      request.resume();
      return;
    }
    const out = forward(new URL(request.url ?? '/', target), {
      method: request.method ?? 'GET',
      headers: request.headers,
    });
    out.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    out.on('error', () => response.destroy());
    request.pipe(out);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
