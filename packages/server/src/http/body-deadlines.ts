import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a body may keep us waiting before its first byte counts. */
const graceMs = 30_000;
/** Each byte that arrives earns this much more time: below 1 KiB a second a body runs late. */
const msPerByte = 1000 / 1024;
/** However much has arrived before: silence for this long is the end. */
const silenceMs = 60_000;
const lookMs = 1000;

interface Awaited {
  readonly response: ServerResponse;
  /** Bytes of the connection before this request's body. */
  readonly firstByte: number;
  bytesRead: number;
  /** Time spent waiting for the client. Time in which the server did not read is not the client's. */
  waitedMs: number;
  silentMs: number;
}

/**
 * Ends requests whose bodies do not come. An upload may be slow, and as long as the store that takes it, but a client
 * that sends nearly nothing must not hold a connection and memory forever.
 */
export class BodyDeadlines {
  readonly #awaited = new Map<IncomingMessage, Awaited>();
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #lookedAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lookedAt = now();
    this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  /** For a request that has a body. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const { bytesRead } = request.socket;
    this.#awaited.set(request, { response, firstByte: bytesRead, bytesRead, waitedMs: 0, silentMs: 0 });
  }

  /** When the answer was sent; a body that has still not arrived stays watched. */
  answered(request: IncomingMessage): void {
    if (request.complete || request.destroyed) this.#awaited.delete(request);
  }

  get size(): number {
    return this.#awaited.size;
  }

  look(): void {
    const now = this.#now();
    const passed = now - this.#lookedAt;
    this.#lookedAt = now;
    for (const [request, awaited] of this.#awaited) {
      if (request.complete || request.destroyed) this.#awaited.delete(request);
      else if (this.#isLate(request, awaited, passed)) {
        this.#awaited.delete(request);
        end(request, awaited.response);
      }
    }
  }

  #isLate(request: IncomingMessage, awaited: Awaited, passed: number): boolean {
    const { bytesRead } = request.socket;
    const isSilent = bytesRead === awaited.bytesRead;
    awaited.bytesRead = bytesRead;
    // The server has not read these bytes yet, so the client is waiting for us.
    if (request.readableLength > 0) {
      awaited.silentMs = 0;
      return false;
    }
    awaited.silentMs = isSilent ? awaited.silentMs + passed : 0;
    awaited.waitedMs += passed;
    const earnedMs = (bytesRead - awaited.firstByte) * msPerByte;
    return awaited.waitedMs > graceMs + earnedMs || awaited.silentMs > silenceMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

const message = 'The body of the request did not arrive in time.\n';

function end(request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent) {
    request.destroy();
    return;
  }
  // To the handler it looks as if the client had gone, a case every handler knows.
  response.once('finish', () => request.destroy());
  response.writeHead(408, {
    'Content-Type': 'text/plain',
    'Content-Length': Buffer.byteLength(message),
    Connection: 'close',
  });
  response.end(message);
}
