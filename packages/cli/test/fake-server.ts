import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeTransport, type NodeTransport } from '../src/http/transport.ts';
import { Log } from '../src/log.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | object;
  /** Close the connection in the middle of the body. */
  readonly cutAfter?: number;
  /** Close it without an answer. */
  readonly hangUp?: boolean;
}

/** A server that answers as a function says and remembers what it was asked. */
export class FakeServer {
  readonly seen: Seen[] = [];
  /** What was counted; kept apart because it comes beside every command. */
  readonly statistics: string[] = [];
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, seen: Seen[], statistics: string[]) {
    this.statistics = statistics;
    this.#server = server;
    this.seen = seen;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(answer: (seen: Seen, count: number) => Reply): Promise<FakeServer> {
    const seen: Seen[] = [];
    const statistics: string[] = [];
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const url = new URL(request.url ?? '', 'http://x');
        const one: Seen = {
          method: request.method ?? '',
          path: url.pathname,
          query: url.searchParams,
          headers: request.headers,
          body: Buffer.concat(chunks),
        };
        if (one.path === '/api/v1/statistics') {
          statistics.push(one.body.toString('utf8'));
          response.writeHead(204).end();
          return;
        }
        seen.push(one);
        const reply = answer(one, seen.length);
        if (reply.hangUp === true) {
          request.socket.destroy();
          return;
        }
        const isJson = typeof reply.body === 'object' && !Buffer.isBuffer(reply.body);
        const body = isJson
          ? Buffer.from(JSON.stringify(reply.body))
          : Buffer.from((reply.body as string) ?? '');
        response.writeHead(reply.status, {
          ...(isJson && { 'content-type': 'application/json' }),
          ...(reply.status !== 204 && { 'content-length': String(body.length) }),
          ...reply.headers,
        });
        if (reply.cutAfter === undefined) response.end(body);
        else response.write(body.subarray(0, reply.cutAfter), () => request.socket.destroy());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FakeServer(server, seen, statistics);
  }

  transport(attempts = 5): NodeTransport {
    return createNodeTransport(
      {
        endpoint: this.url,
        credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
        retry: { attempts, minWaitMs: 1, maxWaitMs: 4 },
      },
      new Log({}),
    );
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
