import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '@svc/engine';
import { fillsOutbox, hintEveryMs, type Deliveries, type EventSource, type Keeper } from '@svc/events';
import type { KvStore, KvWrite } from '@svc/kv';
import type { Logger } from '../logging/index.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Exchange } from '../processes/exchange.ts';

/** Partitions with outboxes that are not the engine's. */
const others = ['auth', 'events'];
/** A burst of changes is one hint. */
const gatherMs = 2;
/** Hints that follow each other keep this distance. */
const spacingMs = 5;
/** More are forgotten, and told of once more. */
const mostRemembered = 10_000;

/** Gathers whose outboxes have something new, and tells the keeper of this server now and then. */
export class OutboxHints {
  readonly #tell: (partitions: readonly string[]) => void;
  /** The keeper looks by itself for so long at what it was told of. */
  readonly #quietMs: number;
  readonly #partitions = new Set<string>();
  /** When the keeper was told of a partition. */
  readonly #toldOf = new Map<string, number>();
  /** Changed since, and not told of yet: a keeper that has just begun may not have heard the last hint. */
  readonly #later = new Set<string>();
  #isGathering = false;
  #toldAt = 0;

  constructor(isShared: boolean, tell: (partitions: readonly string[]) => void) {
    this.#quietMs = isShared ? 0 : hintEveryMs;
    this.#tell = tell;
  }

  readonly changed = (partition: Uint8Array, writes: readonly KvWrite[]): void => {
    if (!fillsOutbox(writes)) return;
    const name = Buffer.from(partition).toString();
    const now = performance.now();
    const toldAt = this.#toldOf.get(name);
    if (toldAt === undefined || now >= toldAt + this.#quietMs) {
      this.#partitions.add(name);
      this.#gather();
      return;
    }
    if (this.#later.size === 0) setTimeout(() => this.#tellLater(), this.#quietMs).unref();
    this.#later.add(name);
  };

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    const wait = Math.max(gatherMs, this.#toldAt + spacingMs - performance.now());
    setTimeout(() => this.#flush(), wait).unref();
  }

  #tellLater(): void {
    for (const name of this.#later) this.#partitions.add(name);
    this.#later.clear();
    this.#gather();
  }

  #flush(): void {
    this.#isGathering = false;
    this.#toldAt = performance.now();
    const partitions = [...this.#partitions];
    this.#partitions.clear();
    if (this.#toldOf.size > mostRemembered) this.#toldOf.clear();
    for (const name of partitions) this.#toldOf.set(name, this.#toldAt);
    this.#tell(partitions);
  }
}

/** So often the keeper hears that somebody reads along. */
const followEveryMs = 3000;
/** A process that is busy with something else is not waited for. */
const patienceMs = 500;

/** Tells the keeper that somebody reads events here; what happened before is in the log then. */
export class EventReaders {
  readonly #tell: () => Promise<boolean>;
  #toldAt = Number.NEGATIVE_INFINITY;
  #telling: Promise<void> | undefined;

  /** `tell` answers whether there is a keeper. */
  constructor(tell: () => Promise<boolean>) {
    this.#tell = tell;
  }

  readonly follow = async (): Promise<void> => {
    if (performance.now() < this.#toldAt + followEveryMs) return;
    this.#telling ??= this.#tellNow().finally(() => (this.#telling = undefined));
    await this.#telling;
  };

  async #tellNow(): Promise<void> {
    const began = performance.now();
    const isHeard = await Promise.race([this.#tell(), pause(patienceMs, false, { ref: false })]);
    if (isHeard) this.#toldAt = began;
  }
}

export function eventSource({ outboxes }: Engine): EventSource {
  return {
    async *partitions() {
      yield* others.map((name) => Buffer.from(name));
      yield* outboxes.partitions();
    },
    isThere: async (partition) => others.includes(partition.toString()) || outboxes.isThere(partition),
    retireTokens: (tokens) => outboxes.retireTokens(tokens),
  };
}

interface KeeperParts {
  readonly kv: KvStore;
  readonly engine: Engine;
  readonly logger: Logger;
  readonly exchange: Exchange;
  readonly metrics: Metrics;
  /** Made by whoever keeps the log. */
  readonly deliveries: Deliveries | undefined;
  /** For the streams of this process. */
  readonly onAppended?: ((next: number) => void) | undefined;
}

export interface RunningKeeper extends Pick<Keeper, 'hint' | 'follow'> {
  close(): Promise<void>;
}

/** Only one server opens a store of the other kinds. */
export function isSharedStore({ type }: Pick<KvStore, 'type'>): boolean {
  return type !== 'local' && type !== 'mem';
}

/** Keeps the log of events in this process whenever no other server does. */
export async function startKeeper(parts: KeeperParts): Promise<RunningKeeper> {
  const { kv, engine, logger, exchange, metrics, deliveries } = parts;
  const { Keeper } = await import('@svc/events');
  const keeper = new Keeper({
    kv,
    source: eventSource(engine),
    logger,
    isShared: isSharedStore(kv),
    isFollowed: () => deliveries?.hasReceivers === true,
    onAppended: (next) => {
      parts.onAppended?.(next);
      deliveries?.appended(next);
      exchange.tell('http', 'events-appended', next);
    },
    onKeeping: (isKeeping) => {
      if (isKeeping) deliveries?.start();
      else void deliveries?.stop();
    },
    observer: {
      found: (count) => metrics.outboxEntries.set(count),
      sequenced(count, lagMs) {
        metrics.eventsSequenced.inc(count);
        metrics.eventLag.set(lagMs / 1000);
      },
    },
  });
  exchange.hear('outbox-filled', (payload) => keeper.hint(payload as readonly string[]));
  exchange.hear('subscriptions-changed', () => deliveries?.wake());
  exchange.answer('follow-events', async () => {
    await keeper.follow();
    return true;
  });
  keeper.start();
  return {
    hint: (partitions) => keeper.hint(partitions),
    follow: () => keeper.follow(),
    async close() {
      await deliveries?.stop();
      await keeper.close();
    },
  };
}
