import type { SubscriptionData } from '@svc/encoding';
import { DeliveryRun, type DeliveryParts } from './delivery-run.ts';

/** How often subscriptions are looked at, should nobody tell that they changed. */
const lookMs = 1000;

/** Delivers the events of all subscriptions, in the process that keeps the log. */
export class Deliveries {
  readonly #parts: DeliveryParts;
  readonly #runs = new Map<string, { readonly run: DeliveryRun; readonly name: string }>();
  #running: Promise<void> | undefined;
  #stop = new AbortController();
  #isWoken = false;
  #wakeUp: (() => void) | undefined;
  /** When subscriptions and requests are read again, at the latest. */
  #lookAt = 0;
  /** The number of the event that comes next, as far as is known. */
  #tail = 0;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  /** Subscriptions changed, or somebody asks for something. */
  readonly wake = (): void => {
    this.#lookAt = 0;
    this.#goOn();
  };

  /** Somebody waits for events. */
  get hasReceivers(): boolean {
    return this.#runs.size > 0;
  }

  /** Events up to this number (exclusive) are in the log. */
  appended(next: number): void {
    this.#tail = Math.max(this.#tail, next);
    this.#goOn();
  }

  readonly #goOn = (): void => {
    this.#isWoken = true;
    this.#wakeUp?.();
  };

  start(): void {
    if (this.#running !== undefined) return;
    this.#stop = new AbortController();
    this.#lookAt = 0;
    this.#running = this.#run();
  }

  /** Waits for requests under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wakeUp?.();
    await this.#running;
    this.#running = undefined;
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      let nextAt: number | undefined;
      this.#isWoken = false;
      try {
        nextAt = await this.#round();
      } catch (error) {
        this.#parts.logger.warn({ error }, 'webhooks could not be delivered; trying again');
      }
      await this.#rest(nextAt);
    }
    const runs = [...this.#runs.values()];
    this.#runs.clear();
    await Promise.all(
      runs.map(({ run }) =>
        run.end().catch((error: unknown) => {
          this.#parts.logger.warn({ error }, 'how far webhooks are was not stored; some come again');
        }),
      ),
    );
  }

  async #round(): Promise<number | undefined> {
    if (performance.now() >= this.#lookAt) await this.#look();
    let nextAt: number | undefined;
    for (const { run } of this.#runs.values()) {
      const at = await run.step(this.#tail);
      if (at !== undefined) nextAt = Math.min(nextAt ?? at, at);
    }
    return nextAt;
  }

  /** Not in every round: a round comes with every answer of a receiver. */
  async #look(): Promise<void> {
    const { store, log } = this.#parts;
    this.#lookAt = performance.now() + lookMs;
    const subscriptions = await store.list();
    await this.#adjust(subscriptions.filter(({ enabled }) => enabled));
    if (this.#runs.size === 0) return;
    for (const request of await store.requests()) {
      await this.#runs.get(request.subscription)?.run.handle(request);
      await store.removeRequest(request);
    }
    this.#tail = Math.max(this.#tail, (await log.tail()).next);
  }

  async #adjust(subscriptions: readonly SubscriptionData[]): Promise<void> {
    const wanted = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
    for (const [id, { run, name }] of this.#runs) {
      const subscription = wanted.get(id);
      if (subscription !== undefined && !run.isOver && name === nameOf(subscription)) run.use(subscription);
      else {
        this.#runs.delete(id);
        await run.end();
      }
    }
    for (const [id, subscription] of wanted) {
      if (this.#runs.has(id)) continue;
      const run = await DeliveryRun.begin(this.#parts, subscription, this.#goOn);
      if (run !== undefined) this.#runs.set(id, { run, name: nameOf(subscription) });
    }
  }

  async #rest(nextAt: number | undefined): Promise<void> {
    if (this.#isWoken || this.#stop.signal.aborted) return;
    const ms = Math.max(0, Math.min(lookMs, (nextAt ?? Infinity) - this.#parts.clock()));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wakeUp = resolve;
    const timer = setTimeout(resolve, ms).unref();
    await promise;
    clearTimeout(timer);
    this.#wakeUp = undefined;
  }
}

/** A run is for these choices; with others a new one begins. */
function nameOf({ repository, types, subject, ordering, owner }: SubscriptionData): string {
  return JSON.stringify([repository, types, subject, ordering, owner]);
}
