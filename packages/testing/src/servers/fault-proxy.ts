import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';

/** What becomes of one request on its way to the store. */
export type Fate =
  | 'pass'
  /** The connection ends before an answer. */
  | 'drop'
  /** The store has done what it was asked to; only its answer is lost. */
  | 'lose-answer'
  /** The answer ends in the middle of its body. */
  | 'cut-answer'
  /** Nobody answers. */
  | 'silence'
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> };

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

export interface FaultProxy {
  readonly endpoint: string;
  readonly seen: SeenRequest[];
  close(): Promise<void>;
}

/** A proxy in front of a store that lets some requests fail. `decide` gets each request and how many came before. */
export async function startFaultProxy(
  target: string,
  decide: (request: SeenRequest, before: number) => Fate,
): Promise<FaultProxy> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const entry = { method: request.method ?? '', url: request.url ?? '', headers: request.headers };
    const fate = decide(entry, seen.length);
    seen.push(entry);
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    if (fate === 'silence') return;
    if (fate === 'drop') return void request.socket.destroy();
    if (typeof fate === 'object') {
      request.resume();
      request.on('end', () => response.writeHead(fate.status, fate.headers).end(fate.body ?? ''));
      return;
    }
    forward(target, request, response, fate);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function forward(
  target: string,
  request: IncomingMessage,
  response: ServerResponse,
  fate: 'pass' | 'lose-answer' | 'cut-answer',
): void {
  const url = new URL(request.url ?? '', target);
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const onward = open(
    url,
    { method: request.method, headers: request.headers, rejectUnauthorized: false, agent: false },
    (answer) => {
      if (fate === 'lose-answer') {
        answer.resume();
        answer.on('end', () => response.destroy());
        return;
      }
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (fate === 'pass') return void answer.pipe(response);
      answer.once('data', (chunk: Buffer) => {
        response.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => response.destroy());
        answer.destroy();
      });
    },
  );
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
