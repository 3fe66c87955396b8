import { eventHintsMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { eventsPartition, hintsKey, hintsPrefix } from './keys.ts';

/** A hint is repeated for so long, should the one before it be overwritten unread. */
const keptMs = 5000;
const mostPartitions = 1000;
const beatMs = 5000;
/** A server silent for longer is gone. */
const goneMs = 15_000;
/** How often others are looked for while none is known. */
const lookMs = 1000;

/** How servers on one store tell the one that keeps the log whose outboxes have something new. */
export class ServerHints {
  readonly #kv: KvStore;
  readonly #server: string;
  readonly #clock: () => number;
  readonly #own = new Map<string, number>();
  readonly #seen = new Map<string, Buffer>();
  #isNew = false;
  #beatAt = 0;
  #lookAt = 0;
  #seesOthers = false;

  constructor(kv: KvStore, server: string, clock: () => number) {
    this.#kv = kv;
    this.#server = server;
    this.#clock = clock;
  }

  get seesOthers(): boolean {
    return this.#seesOthers;
  }

  add(partitions: readonly string[]): void {
    for (const partition of partitions) this.#own.set(partition, this.#clock());
    this.#isNew = true;
  }

  /** Leaves what is new for the keeper, and a sign of life now and then. */
  async write(): Promise<void> {
    const now = this.#clock();
    if (!this.#isNew && now < this.#beatAt) return;
    for (const [partition, at] of this.#own) if (now - at > keptMs) this.#own.delete(partition);
    const all = this.#own.size > mostPartitions;
    const value = eventHintsMessage.encode({ partitions: all ? [] : [...this.#own.keys()], all, beat: now });
    this.#isNew = false;
    this.#beatAt = now + beatMs;
    await this.#kv.set(eventsPartition, hintsKey(this.#server), value);
  }

  /** What other servers left since the last look. */
  async read(): Promise<{ readonly partitions: readonly string[]; readonly all: boolean }> {
    const now = this.#clock();
    if (!this.#seesOthers && now < this.#lookAt) return { partitions: [], all: false };
    this.#lookAt = now + lookMs;
    const partitions: string[] = [];
    let seesOthers = false;
    let all = false;
    for await (const page of this.#kv.scan(eventsPartition, { prefix: hintsPrefix })) {
      for (const { key, value } of page) {
        if (key.equals(hintsKey(this.#server))) continue;
        const hints = eventHintsMessage.decode(value);
        if (now - hints.beat > goneMs) {
          await this.#kv.delete(eventsPartition, key);
          this.#seen.delete(key.toString());
          continue;
        }
        seesOthers = true;
        if (this.#seen.get(key.toString())?.equals(value) === true) continue;
        this.#seen.set(key.toString(), value);
        partitions.push(...hints.partitions);
        all ||= hints.all;
      }
    }
    this.#seesOthers = seesOthers;
    return { partitions, all };
  }

  async remove(): Promise<void> {
    await this.#kv.delete(eventsPartition, hintsKey(this.#server));
  }
}
