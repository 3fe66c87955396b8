import type { Timestamp } from '@svc/encoding';
import type { Repository } from '@svc/engine';
import type { KvStore, KvWrite } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import type { KeptEvent } from '../runs/kept-event.ts';
import type { Task } from '../runs/run.ts';

/** In the partition of a repository: its events whose hooks are still to be run. */
const prefix = 'hooks/';
/** Which repositories may have some. */
const queuesPartition = Buffer.from('actions');
const queuesPrefix = 'queues/';

/** A hook that was called. */
export type BegunTask = Pick<Task, 'hookRunId' | 'hookId' | 'actionName' | 'startTime'>;

/** An event whose hooks are still to be run, or were being run when somebody looked last. */
export interface QueuedEvent extends KeptEvent {
  readonly runId: string;
  readonly queuedAt: Timestamp;
  readonly depth: number;
  readonly begun: readonly BegunTask[];
  readonly ended: readonly Task[];
  /** Who took it last: nobody else may go on with it. */
  readonly holder?: string | undefined;
}

/** Where an event waits. */
export interface Waiting {
  /** The partition of its repository. */
  readonly queue: string;
  readonly runId: string;
}

/** Somebody else goes on with the event. */
export class EventTaken extends Error {
  override readonly name = 'EventTaken';
}

const takenMessage = 'another server goes on with the hooks of this event';

/**
 * Events on their way to their hooks. They lie in the partitions of their repositories, so that one change makes an
 * event happen and puts it on record.
 */
export class EventQueue {
  readonly #kv: KvStore;
  /** Queues that are known to be listed. */
  readonly #listed = new LRUCache<string, true>({ maxSize: 10_000, sizeCalculation: () => 1 });

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  /** The write that puts an event on record; the queue of its repository is found from now on. */
  async plan(queued: QueuedEvent): Promise<KvWrite> {
    await this.#list(queueOf(queued.event.repository));
    return { type: 'put', key: keyOf(queued.runId), value: bytesOf(queued) };
  }

  async #list(queue: string): Promise<void> {
    if (this.#listed.has(queue)) return;
    const key = Buffer.from(`${queuesPrefix}${queue}`);
    if ((await this.#kv.get(queuesPartition, key)) === undefined)
      await this.#kv.set(queuesPartition, key, Buffer.alloc(0));
    this.#listed.set(queue, true);
  }

  /** Puts an event on record that is over. */
  async put(queued: QueuedEvent): Promise<void> {
    await this.#list(queueOf(queued.event.repository));
    const partition = Buffer.from(queueOf(queued.event.repository));
    await this.#kv.set(partition, keyOf(queued.runId), bytesOf(queued));
  }

  async get({ queue, runId }: Waiting): Promise<QueuedEvent | undefined> {
    const found = await this.#kv.get(Buffer.from(queue), keyOf(runId));
    return found === undefined ? undefined : eventOf(found.value);
  }

  /** What waits or runs in a queue; the newest first. */
  async *list(queue: string): AsyncGenerator<QueuedEvent> {
    for await (const page of this.#kv.scan(Buffer.from(queue), { prefix: Buffer.from(prefix) })) {
      for (const { value } of page) yield eventOf(value);
    }
  }

  /** What is to be gone on with, from now on by this holder alone; undefined when it is over. */
  async take({ queue, runId }: Waiting, holder: string): Promise<QueuedEvent | undefined> {
    const partition = Buffer.from(queue);
    for (;;) {
      const found = await this.#kv.get(partition, keyOf(runId));
      if (found === undefined) return undefined;
      const taken = { ...eventOf(found.value), holder };
      if (await this.#kv.setIf(partition, keyOf(runId), bytesOf(taken), found.predicate)) return taken;
    }
  }

  /** Rejects with `EventTaken` when somebody else has it. */
  async check({ runId, holder, event }: QueuedEvent): Promise<void> {
    const found = await this.get({ queue: queueOf(event.repository), runId });
    if (found?.holder !== holder) throw new EventTaken(takenMessage);
  }

  /** Notes how far its holder came. Rejects with `EventTaken` when somebody else has it. */
  async note(queued: QueuedEvent): Promise<void> {
    const partition = Buffer.from(queueOf(queued.event.repository));
    const key = keyOf(queued.runId);
    const found = await this.#kv.get(partition, key);
    const isHeld = found !== undefined && eventOf(found.value).holder === queued.holder;
    if (!isHeld || !(await this.#kv.setIf(partition, key, bytesOf(queued), found.predicate)))
      throw new EventTaken(takenMessage);
  }

  async remove({ queue, runId }: Waiting): Promise<void> {
    await this.#kv.delete(Buffer.from(queue), keyOf(runId));
  }

  /** What waits in one queue, or in all of them; the newest of each first. */
  async *waiting(only?: string): AsyncGenerator<Waiting> {
    if (only !== undefined) return yield* this.#waitingIn(only);
    for await (const page of this.#kv.scan(queuesPartition, { prefix: Buffer.from(queuesPrefix) })) {
      for (const { key } of page) yield* this.#waitingIn(key.toString().slice(queuesPrefix.length));
    }
  }

  async *#waitingIn(queue: string): AsyncGenerator<Waiting> {
    for await (const page of this.#kv.scan(Buffer.from(queue), { prefix: Buffer.from(prefix) })) {
      for (const { key } of page) yield { queue, runId: key.toString().slice(prefix.length) };
    }
  }
}

/** The queue of a repository is named like its partition. */
export function queueOf({ id, instanceUid }: Pick<Repository, 'id' | 'instanceUid'>): string {
  return `${id}-${instanceUid}`;
}

function eventOf(value: Buffer): QueuedEvent {
  return JSON.parse(value.toString()) as QueuedEvent;
}

function bytesOf(queued: QueuedEvent): Buffer {
  return Buffer.from(JSON.stringify(queued));
}

function keyOf(runId: string): Buffer {
  return Buffer.from(`${prefix}${runId}`);
}
