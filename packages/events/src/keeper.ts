import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Lease, type HeldLease, type KvStore } from '@svc/kv';
import { KeeperTerm } from './keeper-term.ts';
import { ServerHints } from './server-hints.ts';
import type { EventsLogger, EventSource } from './source.ts';

const renewMs = 3000;
const termMs = 10_000;
/** Without a hint a round comes this often. */
const idleRoundMs = 1000;
/** How often every outbox is looked into, for what nobody hinted at. */
const wholeRoundMs = 60_000;
/** Busy logs are written in larger pieces. */
const busyEventsPerSecond = 2000;
const busyRoundMs = 100;
/** Each round flushes the store, which everybody else waits for: after it they have the store to themselves. */
const restPerRound = 2;
const leastRestMs = 5;
const mostRestMs = 20;
const otherServersMs = 50;
/** While nobody reads along, what happens is put in order so often: each round takes the store and the cores from others. */
const unfollowedMs = 100;
/** Whoever reads along says so more often. */
const followedMs = 10_000;
/** Whoever begins to read waits no longer for what happened before. */
const catchUpMs = 250;
/** Whoever fills an outbox tells of it so often, not of every entry. */
export const hintEveryMs = 500;
/** Where something happened more is likely to: without other servers, looking is cheaper than being told. */
const watchedMs = 2 * hintEveryMs;
const lookMs = 5;
/** A look at many outboxes must not become all that is done. */
const restPerLook = 4;
/** Clearing outboxes can wait for company. */
const clearAfterMs = 250;
/** Where repositories are made and deleted. */
const repositories = 'graveler';
/** More partitions are forgotten, and looked for once more. */
const mostThere = 10_000;

export interface KeeperOptions {
  readonly kv: KvStore;
  readonly source: EventSource;
  readonly logger: EventsLogger;
  /** Other servers may use the store. */
  readonly isShared: boolean;
  /** Told after each segment: the number of the event that comes next. */
  readonly onAppended: (next: number) => void;
  /** Told while this server keeps the log and when it no longer does. */
  readonly onKeeping?: ((isKeeping: boolean) => void) | undefined;
  /** Whether somebody waits for events beside those who `follow` them; without it somebody always does. */
  readonly isFollowed?: (() => boolean) | undefined;
  readonly observer?: KeeperObserver | undefined;
  readonly clock?: (() => number) | undefined;
}

export interface KeeperObserver {
  /** So many waited in the outboxes that a round looked into, as far as one round takes them. */
  found(count: number): void;
  /** So many at once, the oldest of which had waited so long. */
  sequenced(count: number, lagMs: number): void;
}

/** Keeps the log of events whenever no other server does. */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #clock: () => number;
  readonly #lease: Lease;
  readonly #serverHints: ServerHints | undefined;
  readonly #hinted = new Set<string>();
  /** Looked into in every round, until when. */
  readonly #watched = new Map<string, number>();
  /** Partitions found to be there in this term. */
  readonly #there = new Set<string>();
  /** Repositories that are being made, and since when they are waited for. */
  readonly #notYet = new Map<string, number>();
  readonly #stop = new AbortController();
  #wake: (() => void) | undefined;
  #waking: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isKeeping = false;
  #followedUntil = Number.NEGATIVE_INFINITY;
  /** Rounds that have begun and ended, and who waits for the end of one. */
  #begun = 0;
  #ended = 0;
  readonly #catchingUp = new Set<{ readonly round: number; readonly resolve: () => void }>();

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    const owner = `${hostname()}:${process.pid}`;
    this.#lease = new Lease(options.kv, { name: 'events', owner, termMs, clock: options.clock });
    this.#serverHints = options.isShared
      ? new ServerHints(options.kv, `${owner}:${randomUUID()}`, this.#clock)
      : undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something happened in these partitions. */
  hint(partitions: readonly string[]): void {
    for (const partition of partitions) {
      this.#hinted.add(partition);
      if (this.#serverHints === undefined) this.#watched.set(partition, this.#clock() + watchedMs);
    }
    if (!this.#isKeeping) this.#serverHints?.add(partitions);
    else if (this.#isFollowed()) this.#wake?.();
    else this.#waking ??= setTimeout(() => this.#wakeNow(), unfollowedMs).unref();
  }

  /** Somebody reads along for a while. Resolves when what was hinted at before is in the log, or will not be soon. */
  async follow(): Promise<void> {
    this.#followedUntil = this.#clock() + followedMs;
    if (!this.#isKeeping) return;
    const isMoreToTake = this.#hinted.size > 0 || this.#watched.size > 0;
    const round = isMoreToTake ? this.#begun + 1 : this.#begun;
    if (round <= this.#ended) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = { round, resolve };
    this.#catchingUp.add(waiting);
    const timer = setTimeout(resolve, catchUpMs).unref();
    this.#wakeNow();
    await promise;
    clearTimeout(timer);
    this.#catchingUp.delete(waiting);
  }

  #isFollowed(): boolean {
    const { isFollowed } = this.#options;
    return (
      isFollowed === undefined ||
      this.#clock() < this.#followedUntil ||
      this.#serverHints?.seesOthers === true ||
      isFollowed()
    );
  }

  #wakeNow(): void {
    clearTimeout(this.#waking);
    this.#waking = undefined;
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const held = await this.#lease.acquire();
        if (held === undefined) await this.#beIdle();
        else await this.#keep(held);
      } catch (error) {
        this.#options.logger.warn({ error }, 'the log of events could not be kept; trying again');
        await this.#rest(idleRoundMs);
      }
    }
  }

  /** Another server keeps the log: it is told what happens here. */
  async #beIdle(): Promise<void> {
    const until = this.#clock() + renewMs;
    this.#hinted.clear();
    while (this.#clock() < until && !this.#stop.signal.aborted) {
      await this.#serverHints?.write();
      await this.#rest(this.#serverHints === undefined ? renewMs : otherServersMs);
    }
  }

  async #keep(held: HeldLease): Promise<void> {
    const { kv, source, logger, observer, onAppended, onKeeping } = this.#options;
    const lost = new AbortController();
    const renewal = setInterval(() => {
      held.renew().then(
        (renewed) => {
          if (!renewed) lost.abort();
        },
        () => undefined,
      );
    }, renewMs).unref();
    let term: KeeperTerm | undefined;
    try {
      term = await KeeperTerm.begin({
        kv,
        source,
        logger,
        onAppended,
        clock: this.#clock,
        clearAfterMs,
      });
      logger.debug({ next: term.next }, 'this server keeps the log of events');
      this.#there.clear();
      // Whoever reads already says so again soon.
      this.#followedUntil = this.#clock() + followedMs;
      this.#isKeeping = true;
      onKeeping?.(true);
      let wholeAt = 0;
      const rate = new Rate(this.#clock);
      while (!lost.signal.aborted && !this.#stop.signal.aborted) {
        const others = await this.#serverHints?.read();
        for (const partition of others?.partitions ?? []) this.#hinted.add(partition);
        if (this.#clock() >= wholeAt || others?.all === true) {
          wholeAt = this.#clock() + wholeRoundMs;
          for await (const partition of source.partitions()) this.#hinted.add(partition.toString());
        }
        const began = performance.now();
        this.#begun += 1;
        const round = await term.round(await this.#takeHinted());
        if (round === undefined) return;
        this.#endRound();
        const took = performance.now() - began;
        observer?.found(round.found);
        for (const partition of round.unfinished) this.#hinted.add(partition);
        if (round.appended > 0) {
          rate.add(round.appended);
          observer?.sequenced(round.appended, round.lagMs);
          const isBusy = rate.perSecond() > busyEventsPerSecond;
          if (round.unfinished.length === 0 && !this.#isFollowed()) await this.#rest(unfollowedMs);
          else
            await this.#pause(
              isBusy ? busyRoundMs : Math.min(mostRestMs, Math.max(leastRestMs, restPerRound * took)),
            );
        } else await this.#rest(this.#restNow(took));
      }
    } finally {
      clearInterval(renewal);
      this.#isKeeping = false;
      for (const { resolve } of this.#catchingUp) resolve();
      onKeeping?.(false);
      await term?.clear().catch(() => undefined);
      await held.release().catch(() => undefined);
    }
  }

  #endRound(): void {
    this.#ended = this.#begun;
    for (const { round, resolve } of this.#catchingUp) if (round <= this.#ended) resolve();
  }

  #restNow(took: number): number {
    const isMoreToTake = this.#hinted.size > 0 || this.#watched.size > 0;
    if (isMoreToTake && !this.#isFollowed()) return unfollowedMs;
    if (this.#hinted.size > 0) return 0;
    if (this.#watched.size > 0) return Math.max(lookMs, restPerLook * took);
    return this.#serverHints?.seesOthers === true ? otherServersMs : idleRoundMs;
  }

  /** The hinted partitions that are there. */
  async #takeHinted(): Promise<string[]> {
    for (const name of this.#notYet.keys()) this.#hinted.add(name);
    const names = this.#withWatched();
    this.#hinted.clear();
    const there: string[] = [];
    let looksAtRepositories = false;
    for (const name of names) {
      if (name === repositories) {
        looksAtRepositories = true;
        continue;
      }
      if (this.#there.has(name)) {
        there.push(name);
        continue;
      }
      if (await this.#options.source.isThere(Buffer.from(name))) {
        there.push(name);
        this.#notYet.delete(name);
        if (this.#there.size >= mostThere) this.#there.clear();
        this.#there.add(name);
        looksAtRepositories = true;
        continue;
      }
      const since = this.#notYet.get(name) ?? this.#clock();
      if (this.#clock() - since > wholeRoundMs) this.#notYet.delete(name);
      else this.#notYet.set(name, since);
    }
    // A repository that is found to be there was made in this partition: told of first.
    return looksAtRepositories ? [repositories, ...there] : there;
  }

  /** What was hinted at, and what was not long ago. */
  #withWatched(): string[] {
    const now = this.#clock();
    for (const [name, until] of this.#watched) {
      this.#hinted.add(name);
      if (now >= until) this.#watched.delete(name);
    }
    return [...this.#hinted];
  }

  /** Until something is hinted at, or so long. */
  async #rest(ms: number): Promise<void> {
    const isAwaited = this.#isKeeping && this.#hinted.size > 0 && this.#isFollowed();
    if (this.#stop.signal.aborted || (ms > 0 && isAwaited)) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await this.#pause(ms, woken.signal);
    this.#wake = undefined;
  }

  async #pause(ms: number, woken?: AbortSignal): Promise<void> {
    const stopped = this.#stop.signal;
    const signal = woken === undefined ? stopped : AbortSignal.any([woken, stopped]);
    await pause(ms, undefined, { signal, ref: false }).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#serverHints?.remove().catch(() => undefined);
  }
}

/** Events of about the last second. */
class Rate {
  readonly #clock: () => number;
  #since: number;
  #count = 0;
  #last = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
    this.#since = clock();
  }

  add(count: number): void {
    this.#roll();
    this.#count += count;
  }

  perSecond(): number {
    this.#roll();
    return Math.max(this.#last, this.#count);
  }

  #roll(): void {
    const now = this.#clock();
    if (now - this.#since < 1000) return;
    this.#last = now - this.#since < 2000 ? this.#count : 0;
    this.#count = 0;
    this.#since = now;
  }
}
