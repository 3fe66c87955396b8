import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a body may keep us waiting before its first byte counts. */
const graceMs = 30_000;
/** Each byte that arrives earns this much more time: below 1 KiB a second a body runs late. */
const msPerByte = 1000 / 1024;
/** However much has arrived before: silence for this long is the end. */
const silenceMs = 60_000;
const lookMs = 1000;

const state = Symbol('awaited body');

/** The body that a connection is sending. */
interface Awaited {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

interface State {
  /** None while nothing is awaited. */
  awaited: Awaited | undefined;
  /** Bytes of the connection before this request's body. */
  firstByte: number;
  bytesRead: number;
  /** Time spent waiting for the client. Time in which the server did not read is not the client's. */
  waitedMs: number;
  silentMs: number;
}

type Watched = Socket & { [state]?: State };

/**
 * Ends requests whose bodies do not come. An upload may be slow, and as long as the store that takes it, but a client
 * that sends nearly nothing must not hold a connection and memory forever.
 *
 * Connections are listed, not requests: a map that changes with each request leaves tables behind that keep finished
 * requests alive until the next full collection.
 */
export class BodyDeadlines {
  readonly #connections = new Set<Watched>();
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #lookedAt: number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#lookedAt = now();
    this.#timer = setInterval(() => this.look(), lookMs).unref();
  }

  /** For a request that has a body. The one before it on its connection has arrived. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    const socket: Watched = request.socket;
    const known = socket[state] ?? this.#connect(socket);
    known.awaited = { request, response };
    known.firstByte = socket.bytesRead;
    known.bytesRead = known.firstByte;
    known.waitedMs = 0;
    known.silentMs = 0;
  }

  #connect(socket: Watched): State {
    const known = { awaited: undefined, firstByte: 0, bytesRead: 0, waitedMs: 0, silentMs: 0 };
    socket[state] = known;
    this.#connections.add(socket);
    socket.once('close', () => this.#connections.delete(socket));
    return known;
  }

  /** When the answer was sent; a body that has still not arrived stays watched. */
  answered(request: IncomingMessage): void {
    const known = (request.socket as Watched)[state];
    if (known?.awaited?.request === request && hasEnded(request)) known.awaited = undefined;
  }

  get size(): number {
    return [...this.#connections].filter((socket) => socket[state]?.awaited !== undefined).length;
  }

  look(): void {
    const now = this.#now();
    const passed = now - this.#lookedAt;
    this.#lookedAt = now;
    for (const socket of this.#connections) {
      const known = socket[state];
      if (known?.awaited === undefined) continue;
      const { request, response } = known.awaited;
      if (hasEnded(request)) known.awaited = undefined;
      else if (this.#isLate(request, known, passed)) {
        known.awaited = undefined;
        end(request, response);
      }
    }
  }

  #isLate(request: IncomingMessage, known: State, passed: number): boolean {
    const { bytesRead } = request.socket;
    const isSilent = bytesRead === known.bytesRead;
    known.bytesRead = bytesRead;
    // The server has not read these bytes yet, so the client is waiting for us.
    if (request.readableLength > 0) {
      known.silentMs = 0;
      return false;
    }
    known.silentMs = isSilent ? known.silentMs + passed : 0;
    known.waitedMs += passed;
    const earnedMs = (bytesRead - known.firstByte) * msPerByte;
    return known.waitedMs > graceMs + earnedMs || known.silentMs > silenceMs;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

function hasEnded(request: IncomingMessage): boolean {
  return request.complete || request.destroyed;
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
