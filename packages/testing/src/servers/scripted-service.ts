import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServiceCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** `cut` closes the connection instead of answering, `hang` never answers. */
export type ServiceAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: object }
  | 'cut'
  | 'hang';

/** An HTTP service that answers as a function says; it ends with the process. */
export async function scriptedService(
  answer: (call: ServiceCall) => ServiceAnswer | Promise<ServiceAnswer>,
): Promise<string> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url: path = '', headers } = request;
    const given = await answer({ method, path, headers, body });
    if (given === 'hang') return;
    if (given === 'cut') {
      request.socket.destroy();
      return;
    }
    response.writeHead(given.status ?? 200, given.headers);
    response.end(JSON.stringify(given.body ?? {}));
  };
  const server = createServer((request, response) => {
    // A client that is gone needs no answer.
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
