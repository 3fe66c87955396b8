import { isPlain, LeanConnection } from './lean-connection.ts';
import type { LeanAnswer, LeanRequest } from './lean-connection.ts';
import { StoreSpeed } from './store-speed.ts';

/** Shorter than servers keep idle connections: a request should not meet a closing one. */
const idleMs = 4000;
/** Of an answer that tells how fast the store is. */
const tellingBytes = 512 * 1024;

export interface LeanClientOptions {
  /** How long the store may be silent. */
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly rejectUnauthorized: boolean;
}

/**
 * Reads objects, and writes small ones, over connections of its own. What is read goes through a few buffers that are used
 * again and again, which takes a third of the processor time of a stream that allocates one for each piece. It knows only
 * the plain course of things: whatever else happens is `undefined`, and the caller asks again with a client that knows it
 * all.
 */
export class LeanClient {
  readonly #options: LeanClientOptions;
  readonly #idle = new Map<string, LeanConnection[]>();
  readonly #busy = new Set<LeanConnection>();
  readonly speed = new StoreSpeed();
  /** Where nothing is written to: every write would be sent a second time. */
  readonly #strange = new Set<string>();
  #closed = false;

  constructor(options: LeanClientOptions) {
    this.#options = options;
  }

  get connectionsInUse(): number {
    return this.#busy.size;
  }

  async send(request: LeanRequest): Promise<LeanAnswer | undefined> {
    if (this.#closed || this.#busy.size >= this.#options.maxConnections || !isPlain(request))
      return undefined;
    if (request.method === 'PUT' && this.#strange.has(request.origin)) return undefined;
    request.signal?.throwIfAborted();
    const connection =
      this.#idle.get(request.origin)?.pop() ?? new LeanConnection(request.origin, this.#options);
    this.#busy.add(connection);
    const answer = await connection.send(request, (reusable) => {
      this.#busy.delete(connection);
      const { bytes, waitedMs } = connection.takeRead();
      if (bytes >= tellingBytes) this.speed.observe(bytes, waitedMs);
      if (reusable && !this.#closed) this.#keep(request.origin, connection);
      else connection.destroy();
    });
    request.signal?.throwIfAborted();
    if (answer !== 'strange') return answer;
    if (request.method === 'PUT') this.#strange.add(request.origin);
    return undefined;
  }

  #keep(origin: string, connection: LeanConnection): void {
    const idle = this.#idle.get(origin) ?? [];
    this.#idle.set(origin, idle);
    idle.push(connection);
    connection.rest(idleMs, () => {
      const index = idle.indexOf(connection);
      if (index >= 0) idle.splice(index, 1);
    });
  }

  close(): void {
    this.#closed = true;
    for (const connection of [...this.#busy, ...[...this.#idle.values()].flat()]) connection.destroy();
    this.#idle.clear();
  }
}
