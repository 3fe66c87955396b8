import { createServer } from 'node:http';
import type {
  IncomingMessage,
  RequestListener,
  Server as PlainServer,
  ServerOptions,
  ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Server as TlsServer } from 'node:https';
import { Server as NetServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { BodyDeadlines } from './body-deadlines.ts';
import { FairTurns } from './fair-turns.ts';
import { PendingHeads } from './pending-heads.ts';
import { attachRecord } from './request-record.ts';

export interface TlsPair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ListenerOptions {
  readonly tls?: TlsPair | undefined;
  readonly serve: RequestListener;
  /** A request that waits for `100 Continue` before it sends its body; by default it is told to go on. */
  readonly serveExpecting?: RequestListener | undefined;
  readonly traces: () => boolean;
  /** Ends requests whose bodies do not come; a test brings its own clock. */
  readonly deadlines?: BodyDeadlines | undefined;
  /** Bounds the memory of heads that are still arriving; a test brings its own bound. */
  readonly heads?: PendingHeads | undefined;
}

/**
 * Long uploads must not be cut, so a request has no time limit of its own; `BodyDeadlines` watches its body. Load
 * balancers and pools reuse connections for longer than Node's default keeps them; S3 metadata makes large heads.
 */
const serverOptions: ServerOptions = {
  headersTimeout: 60_000,
  requestTimeout: 0,
  keepAliveTimeout: 600_000,
  maxHeaderSize: 1024 * 1024,
  noDelay: true,
};

/**
 * The kernel spreads connections over the workers that listen on one port. Handing them out from the primary is
 * more even, but slower, and a connection on its way to a worker that dies then is never answered.
 */
const sharesPorts = process.platform === 'linux' || process.platform === 'freebsd';

/** The one listener of a worker: counts what is being served and knows how to stop without breaking it. */
export class Listener {
  readonly server: PlainServer | TlsServer;
  readonly #options: ListenerOptions;
  readonly #turns = new FairTurns();
  readonly #deadlines: BodyDeadlines;
  readonly #heads: PendingHeads;
  /** Requests that wait for `release`. */
  #held: (() => void)[] | undefined;
  #inFlight = 0;
  #arrivals = 0;
  #draining = false;
  #idle: (() => void) | undefined;
  /** One function for all responses, each of which closes once. */
  readonly #closed: (this: ServerResponse) => void;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#deadlines = options.deadlines ?? new BodyDeadlines();
    this.#heads = options.heads ?? new PendingHeads();
    // oxlint-disable-next-line typescript/no-this-alias
    const listener = this;
    this.#closed = function closed(this: ServerResponse): void {
      listener.#ended(this.req);
    };
    const serve: RequestListener = (request, response) => this.#track(request, response, options.serve);
    this.server =
      options.tls === undefined
        ? createServer(serverOptions, serve)
        : createTlsServer({ ...serverOptions, ...options.tls }, serve);
    this.server.timeout = 0;
    this.server.on('connection', () => this.#turns.connected());
    // With TLS these are the connections that requests belong to.
    this.server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      this.#heads.connected(socket),
    );
    this.server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      this.#track(request, response, options.serveExpecting ?? continueAndServe(options.serve));
    });
  }

  get draining(): boolean {
    return this.#draining;
  }

  get arrivals(): number {
    return this.#arrivals;
  }

  #track(request: IncomingMessage, response: ServerResponse, serve: RequestListener): void {
    if (this.#options.traces()) attachRecord(request, response);
    this.#inFlight++;
    this.#arrivals++;
    this.#heads.arrived(request.socket);
    if (hasBody(request)) this.#deadlines.watch(request, response);
    response.on('close', this.#closed);
    if (this.#draining) response.shouldKeepAlive = false;
    if (this.#held !== undefined) this.#held.push(() => serve(request, response));
    else this.#turns.serve(() => serve(request, response));
  }

  /** From now on requests wait: they are read, and served when they are released. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const serve of held) this.#turns.serve(serve);
  }

  #ended(request: IncomingMessage): void {
    this.#heads.answered(request.socket);
    if (hasBody(request)) this.#deadlines.answered(request);
    this.#inFlight--;
    if (this.#draining && this.#inFlight === 0) this.#idle?.();
  }

  listen(host: string, port: number): Promise<AddressInfo> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ port, reusePort: sharesPorts, ...(host === '' ? {} : { host }) }, () => {
        this.server.off('error', reject);
        resolve(this.server.address() as AddressInfo);
      });
    });
  }

  /**
   * Stops accepting and lets what is being served finish, for at most `limitMs`. Connections that are open stay
   * usable until then, so that a load balancer on one of them sees that we are going. True when all finished.
   */
  async drain(limitMs: number): Promise<boolean> {
    this.#draining = true;
    this.release();
    // Not http's own close: that one would also break idle connections at once.
    NetServer.prototype.close.call(this.server);
    let finished = true;
    if (this.#inFlight > 0) {
      let timer: NodeJS.Timeout | undefined;
      finished = await new Promise<boolean>((resolve) => {
        this.#idle = () => resolve(true);
        timer = setTimeout(() => resolve(false), limitMs);
      });
      clearTimeout(timer);
    }
    this.#deadlines.close();
    this.#heads.close();
    this.server.closeAllConnections();
    return finished;
  }

  /** New connections use the new pair; an unusable pair throws and changes nothing. */
  useTls(pair: TlsPair): void {
    if ('setSecureContext' in this.server) this.server.setSecureContext(pair);
  }
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

function continueAndServe(serve: RequestListener): RequestListener {
  return (request, response) => {
    response.writeContinue();
    serve(request, response);
  };
}
