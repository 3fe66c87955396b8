import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.ts';
import type { NextRequest } from './http-load.ts';
import { Latencies } from './latencies.ts';

export interface OpenLoadOptions {
  readonly endpoint: URL;
  readonly connections: number;
  readonly perSecond: number;
  /** The load ends after this long, or when it is told to. */
  readonly seconds?: number;
  readonly signal?: AbortSignal;
}

export interface OpenLoadResult {
  readonly latencies: Latencies;
  readonly errors: number;
}

/**
 * Requests that come at a steady rate, whether earlier ones have been answered or not, and wait for a free connection:
 * a server that stands still for a while is seen by all who would have asked meanwhile. Kinds take turns.
 */
export async function runOpenLoad(
  options: OpenLoadOptions,
  kinds: readonly NextRequest[],
): Promise<OpenLoadResult[]> {
  const tallies = kinds.map(() => ({ latencies: new Latencies(), errors: 0 }));
  const waiting: { readonly kind: number; readonly request: string | Buffer; readonly cameAt: number }[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const answered = (connection: Connection, status: number): void => {
    const tally = tallies[connection.kind];
    if (tally !== undefined) {
      tally.latencies.record(performance.now() - connection.sentAt);
      if (status >= 400) tally.errors += 1;
    }
    free.push(connection);
    send();
  };
  const all = await Promise.all(
    Array.from({ length: options.connections }, () =>
      Connection.open(options.endpoint, answered, failed.reject),
    ),
  );
  const free = [...all];

  function send(): void {
    while (waiting.length > 0 && free.length > 0) {
      const next = waiting.shift();
      const connection = free.pop();
      if (next === undefined || connection === undefined) return;
      connection.kind = next.kind;
      connection.sentAt = next.cameAt;
      connection.send(next.request);
    }
  }

  async function pace(): Promise<void> {
    const started = performance.now();
    const endsAt = started + (options.seconds ?? Number.POSITIVE_INFINITY) * 1000;
    let made = 0;
    for (let now = started; now < endsAt && options.signal?.aborted !== true; now = performance.now()) {
      // All that are due came now: that this process was late is not the server's fault.
      for (; made < ((now - started) * options.perSecond) / 1000; made += 1) {
        const kind = made % kinds.length;
        waiting.push({ kind, request: kinds[kind]?.(made) ?? '', cameAt: now });
      }
      send();
      await delay(1);
    }
    while (waiting.length > 0 || free.length < all.length) await delay(1);
  }

  try {
    await Promise.race([pace(), failed.promise]);
  } finally {
    for (const connection of all) connection.close();
  }
  return tallies;
}
