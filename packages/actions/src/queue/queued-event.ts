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
}

/** Events on their way to their hooks, kept in the store so that they outlive the process. */
export class EventQueue {
  readonly #kv: KvStore;

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  async put(queued: QueuedEvent): Promise<void> {
    await this.#kv.set(partition, keyOf(queued.runId), Buffer.from(JSON.stringify(queued)));
  }

  async get(runId: string): Promise<QueuedEvent | undefined> {
    const found = await this.#kv.get(partition, keyOf(runId));
    return found === undefined ? undefined : (JSON.parse(found.value.toString()) as QueuedEvent);
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

function keyOf(runId: string): Buffer {
  return Buffer.from(`${prefix}${runId}`);
}
