import { createHash, randomUUID } from 'node:crypto';
import type { Logger } from '../logging/index.ts';

/** One thing that was done. Only class and name are ever kept in the clear. */
export interface StatisticsEvent {
  readonly class: string;
  readonly name: string;
  readonly repository?: string | undefined;
  readonly ref?: string | undefined;
  readonly source_ref?: string | undefined;
  readonly user_id?: string | undefined;
  readonly client?: string | undefined;
}

export interface Statistics {
  /** Whether fields beyond class and name are used; if not, nobody needs to gather them. */
  readonly detailed: boolean;
  count(event: StatisticsEvent, value?: number): void;
  close(): Promise<void>;
}

interface EventCounter {
  inc(by?: number): void;
}

interface StatisticsOptions {
  /** Shown in `/metrics`. */
  readonly events: { labels(labels: { class: string; name: string }): EventCounter };
  /** Where counters are posted; undefined keeps them here. */
  readonly sender?: StatisticsSender | undefined;
}

/** Counts what the service is used for. Without a sender nothing leaves the process. */
export function createStatistics(options: StatisticsOptions): Statistics {
  const counters = new Map<string, Map<string, EventCounter>>();
  const counterOf = (event: StatisticsEvent): EventCounter => {
    const names = counters.get(event.class) ?? new Map<string, EventCounter>();
    counters.set(event.class, names);
    const counter = options.events.labels({ class: event.class, name: event.name });
    names.set(event.name, counter);
    return counter;
  };
  return {
    detailed: options.sender !== undefined,
    count(event, value = 1) {
      (counters.get(event.class)?.get(event.name) ?? counterOf(event)).inc(value);
      options.sender?.add(event, value);
    },
    close: async () => {
      await options.sender?.close();
    },
  };
}

export const noStatistics: Statistics = { detailed: false, count() {}, close: () => Promise.resolve() };

interface SenderOptions {
  readonly address: string;
  readonly installationId: () => string | undefined;
  readonly flushIntervalMs: number;
  readonly flushSize: number;
  /** Optional fields are sent hashed instead of blanked. */
  readonly extended: boolean;
  readonly logger: Pick<Logger, 'debug'>;
  readonly send?: typeof fetch;
}

const retries = 2;
const heartbeatMs = 3_600_000;
/** Counters kept while they cannot be sent. Callers choose names and refs, so their number needs a bound. */
const mostKept = 10_000;

/** Posts counters to the configured address; what could not be sent is kept for the next time. */
export class StatisticsSender {
  readonly #options: SenderOptions;
  readonly #processId = randomUUID();
  readonly #timers: NodeJS.Timeout[];
  #counts = new Map<string, number>();
  #sending: Promise<void> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#timers = [
      setInterval(() => void this.flush(), options.flushIntervalMs).unref(),
      setInterval(() => this.add({ class: 'global', name: 'heartbeat' }, 1), heartbeatMs).unref(),
    ];
  }

  add(event: StatisticsEvent, value: number): void {
    let key = JSON.stringify(this.#shown(event));
    if (this.#counts.size >= mostKept && !this.#counts.has(key)) {
      key = JSON.stringify({ class: event.class, name: event.name });
    }
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + value);
    if (this.#counts.size >= this.#options.flushSize) void this.flush();
  }

  #shown(event: StatisticsEvent): StatisticsEvent {
    const { class: kind, name, client, ...scope } = event;
    if (!this.#options.extended) {
      return { class: kind, name, ...(client?.startsWith('lakefs-') === true ? { client } : {}) };
    }
    const hashed = Object.entries({ ...scope, client })
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([field, value]) => [field, hash(String(value))]);
    return { class: kind, name, ...(Object.fromEntries(hashed) as Record<string, string>) };
  }

  flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #send(): Promise<void> {
    if (this.#counts.size === 0) return;
    const counts = this.#counts;
    this.#counts = new Map();
    const body = JSON.stringify({
      installation_id: this.#options.installationId() ?? '',
      process_id: this.#processId,
      time: new Date().toISOString(),
      metrics: [...counts].map(([key, value]) => ({ ...(JSON.parse(key) as StatisticsEvent), value })),
    });
    for (let attempt = 0; attempt <= retries; attempt++) {
      if (await this.#post(body)) return;
    }
    for (const [key, value] of counts) this.#counts.set(key, (this.#counts.get(key) ?? 0) + value);
  }

  async #post(body: string): Promise<boolean> {
    const send = this.#options.send ?? fetch;
    try {
      const answer = await send(`${this.#options.address.replace(/\/$/, '')}/events`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        signal: AbortSignal.timeout(10_000),
      });
      await answer.body?.cancel();
      if (answer.ok) return true;
      this.#options.logger.debug({ status: answer.status }, 'statistics were refused');
    } catch (error) {
      this.#options.logger.debug({ error }, 'statistics could not be sent');
    }
    return false;
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.flush();
  }
}

/** Short and not reversible; equal names stay equal. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
