import type { HookEvent, PostEventType } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import type { Task } from '../runs/run.ts';

const partition = Buffer.from('actions');
const prefix = 'queue/';

/** An event whose hooks are still to be run, or were being run when somebody looked last. */
export interface QueuedEvent {
  readonly runId: string;
  readonly event: HookEvent<PostEventType>;
  readonly depth: number;
  readonly begun: readonly string[];
  readonly ended: readonly Task[];
  /** Who took it last: nobody else may go on with it. */
  readonly holder?: string | undefined;
}

/** Somebody else goes on with the event. */
export class EventTaken extends Error {
  override readonly name = 'EventTaken';
}

const takenMessage = 'another server goes on with the hooks of this event';

/** Events on their way to their hooks, kept in the store so that they outlive the process. */
export class EventQueue {
  readonly #kv: KvStore;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  async put(queued: QueuedEvent): Promise<void> {
    await this.#kv.set(partition, keyOf(queued.runId), bytesOf(queued));
  }

  async get(runId: string): Promise<QueuedEvent | undefined> {
    const found = await this.#kv.get(partition, keyOf(runId));
    return found === undefined ? undefined : eventOf(found.value);
  }

  /** What is to be gone on with, from now on by this holder alone; undefined when it is over. */
  async take(runId: string, holder: string): Promise<QueuedEvent | undefined> {
    for (;;) {
      const found = await this.#kv.get(partition, keyOf(runId));
      if (found === undefined) return undefined;
      const taken = { ...eventOf(found.value), holder };
      if (await this.#kv.setIf(partition, keyOf(runId), bytesOf(taken), found.predicate)) return taken;
    }
  }

  /** Rejects with `EventTaken` when somebody else has it. */
  async check({ runId, holder }: QueuedEvent): Promise<void> {
    if ((await this.get(runId))?.holder !== holder) throw new EventTaken(takenMessage);
  }

  /** Notes how far its holder came. Rejects with `EventTaken` when somebody else has it. */
  async note(queued: QueuedEvent): Promise<void> {
    const found = await this.#kv.get(partition, keyOf(queued.runId));
    const isHeld = found !== undefined && eventOf(found.value).holder === queued.holder;
    if (!isHeld || !(await this.#kv.setIf(partition, keyOf(queued.runId), bytesOf(queued), found.predicate)))
      throw new EventTaken(takenMessage);
  }

  async remove(runId: string): Promise<void> {
    await this.#kv.delete(partition, keyOf(runId));
  }

  /** The run ids of what waits; the newest first. */
  async *waiting(): AsyncGenerator<string> {
    for await (const page of this.#kv.scan(partition, { prefix: Buffer.from(prefix) })) {
      for (const { key } of page) yield key.toString().slice(prefix.length);
    }
  }
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
