import { LeanConnection, type LeanAnswer, type LeanRequest } from './lean-connection.ts';

/** Shorter than servers keep idle connections: a request should not meet a closing one. */
const idleMs = 4000;
const plainName = /^[\w-]+$/;
const plainValue = /^[\t -~\u0080-\u00ff]*$/;

/**
 * Sends over connections of its own, in a third of the processor time that `node:http` takes for a small object. It
 * knows the plain course of things; where something else happens the answer is undefined, and the caller asks again with
 * a client that knows it all. So it is for requests that may happen twice.
 */
export class LeanClient {
  readonly #idle = new Map<string, { readonly connection: LeanConnection; readonly since: number }[]>();
  readonly #strange = new Set<string>();
  readonly #aborts = new WeakMap<AbortSignal, Set<() => void>>();

  /** Whether it understands a request, and what comes from there. */
  takes({ url, headers }: LeanRequest): boolean {
    if (this.#strange.has(url.origin) || url.username !== '') return false;
    for (const name in headers)
      if (!plainName.test(name) || !plainValue.test(headers[name] ?? '')) return false;
    return true;
  }

  async send(request: LeanRequest, signal: AbortSignal | undefined): Promise<LeanAnswer | undefined> {
    signal?.throwIfAborted();
    const { origin } = request.url;
    const connection = this.#kept(origin) ?? new LeanConnection(request.url);
    const aborts = signal === undefined ? undefined : this.#abortsOf(signal);
    const abort = (): void => connection.end(signal?.reason as Error);
    aborts?.add(abort);
    const answer = await connection.send(request, (reusable) => {
      aborts?.delete(abort);
      if (reusable) this.#keep(origin, connection);
      else connection.end(new Error('the connection is not used again'));
    });
    if (answer === undefined) this.#strange.add(origin);
    return answer;
  }

  #kept(origin: string): LeanConnection | undefined {
    const idle = this.#idle.get(origin);
    for (let kept = idle?.pop(); kept !== undefined; kept = idle?.pop()) {
      if (performance.now() - kept.since < idleMs) {
        kept.connection.wake();
        return kept.connection;
      }
      kept.connection.end(new Error('it rested too long'));
    }
    return undefined;
  }

  #keep(origin: string, connection: LeanConnection): void {
    const idle = this.#idle.get(origin) ?? [];
    this.#idle.set(origin, idle);
    const kept = { connection, since: performance.now() };
    idle.push(kept);
    connection.rest(() => {
      const index = idle.indexOf(kept);
      if (index >= 0) idle.splice(index, 1);
    });
  }

  /** One listener for all requests of a signal: thousands of them come and go. */
  #abortsOf(signal: AbortSignal): Set<() => void> {
    const known = this.#aborts.get(signal);
    if (known !== undefined) return known;
    const aborts = new Set<() => void>();
    this.#aborts.set(signal, aborts);
    signal.addEventListener('abort', () => {
      for (const abort of aborts) abort();
    });
    return aborts;
  }
}
