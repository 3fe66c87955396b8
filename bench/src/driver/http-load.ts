import { Connection } from './connection.ts';
import { Latencies } from './latencies.ts';

/** Makes the n-th request of a load, whole; in a string each character is one byte. */
export type NextRequest = (sequence: number) => string | Buffer;

export interface LoadOptions {
  readonly endpoint: URL;
  readonly connections: number;
  /** The load ends after this long, or as soon as one of the two below ends it. */
  readonly seconds: number;
  readonly requests?: number;
  readonly signal?: AbortSignal;
}

export interface LoadKind {
  readonly next: NextRequest;
  /** How many of a hundred requests are of this kind. */
  readonly share: number;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly requests: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly megabytesPerSecond: number;
}

/** A closed loop of keep-alive connections, each with one request under way. Answers are counted, not kept. */
export async function runLoad(options: LoadOptions & { readonly next: NextRequest }): Promise<LoadResult> {
  const [result] = await runMix(options, [{ next: options.next, share: 100 }]);
  if (result === undefined) throw new Error('the load had no kind of request');
  return result;
}

/** The same with several kinds of requests, one result for each. */
export async function runMix(options: LoadOptions, kinds: readonly LoadKind[]): Promise<LoadResult[]> {
  const shares = kinds.flatMap(({ share }, kind) => Array.from({ length: share }, () => kind));
  const tallies = kinds.map(({ next }) => ({ next, latencies: new Latencies(), errors: 0, bytes: 0 }));
  const limit = options.requests ?? Number.POSITIVE_INFINITY;
  const finished = Promise.withResolvers<void>();
  const opened = await Promise.allSettled(
    Array.from({ length: options.connections }, () =>
      Connection.open(options.endpoint, answered, finished.reject),
    ),
  );
  const connections = opened.flatMap((open) => (open.status === 'fulfilled' ? [open.value] : []));
  let sequence = 0;
  let underWay = connections.length;
  const started = performance.now();
  const deadline = started + options.seconds * 1000;

  function send(connection: Connection, now: number): void {
    if (now >= deadline || sequence >= limit || options.signal?.aborted === true) {
      underWay -= 1;
      if (underWay === 0) finished.resolve();
      return;
    }
    connection.kind = shares.length === 1 ? 0 : (shares[Math.floor(Math.random() * shares.length)] ?? 0);
    connection.sentAt = now;
    const tally = tallies[connection.kind];
    if (tally !== undefined) connection.send(tally.next(sequence++));
  }

  function answered(connection: Connection, status: number, bytes: number): void {
    const now = performance.now();
    const tally = tallies[connection.kind];
    if (tally !== undefined) {
      tally.latencies.record(now - connection.sentAt);
      tally.bytes += bytes;
      if (status >= 400) tally.errors += 1;
    }
    send(connection, now);
  }

  try {
    for (const open of opened) if (open.status === 'rejected') throw open.reason;
    for (const connection of connections) send(connection, started);
    await finished.promise;
  } finally {
    for (const connection of connections) connection.close();
  }
  const seconds = (performance.now() - started) / 1000;
  return tallies.map(({ latencies, errors, bytes }) => ({
    perSecond: latencies.count / seconds,
    requests: latencies.count,
    errors,
    p50: latencies.percentile(0.5),
    p99: latencies.percentile(0.99),
    max: latencies.max,
    megabytesPerSecond: bytes / 1e6 / seconds,
  }));
}
