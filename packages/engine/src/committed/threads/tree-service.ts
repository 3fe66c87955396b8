import { CorruptTableError } from '@svc/sstable';
import { type MessagePort, Worker } from 'node:worker_threads';
import { runOperation } from '../operations/operations.ts';
import { RemoteHasher } from './remote-hash.ts';
import { isDamage } from '../store/table-damage.ts';
import { workerEntry } from './worker-entry.ts';
import type { FromWorker, ToWorker, WorkerCall, WorkerSetup } from './worker-messages.ts';
import { WorkerStore } from './worker-store.ts';

/** A call to the main thread failed; the main thread knows why. */
class CallFailed extends Error {
  override readonly name = 'CallFailed';
  readonly call: number;

  constructor(call: number) {
    super('the main thread could not do its part');
    this.call = call;
  }
}

/** Batches of one job, in order, as they arrive. */
class BatchQueue {
  readonly #batches: { bytes: ArrayBuffer; length: number }[] = [];
  #current: ArrayBuffer | undefined;
  #ended = false;
  #cancelled = false;
  #wake: (() => void) | undefined;
  readonly #giveBack: (bytes: ArrayBuffer) => void;

  constructor(giveBack: (bytes: ArrayBuffer) => void) {
    this.#giveBack = giveBack;
  }

  push(bytes: ArrayBuffer, length: number): void {
    this.#batches.push({ bytes, length });
    this.#wake?.();
  }

  end(cancelled: boolean): void {
    this.#ended = true;
    this.#cancelled ||= cancelled;
    this.#wake?.();
  }

  async next(): Promise<Buffer | undefined> {
    if (this.#current !== undefined) this.#giveBack(this.#current);
    this.#current = undefined;
    while (this.#batches.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#cancelled) throw new Error('the source of changes failed');
    const batch = this.#batches.shift();
    if (batch === undefined) return undefined;
    this.#current = batch.bytes;
    return Buffer.from(batch.bytes, 0, batch.length);
  }
}

/** Runs operations the main thread sends; several take turns, slice by slice. */
export function serveTrees(port: MessagePort, setup: WorkerSetup): void {
  const send = (message: FromWorker, transfer: ArrayBuffer[] = []): void =>
    port.postMessage(message, transfer);
  const calls = new Map<number, (failed: boolean) => void>();
  const queues = new Map<number, BatchQueue>();
  let nextCall = 0;

  const call = (request: WorkerCall): Promise<void> =>
    new Promise((resolve, reject) => {
      const id = nextCall++;
      calls.set(id, (failed) => (failed ? reject(new CallFailed(id)) : resolve()));
      send({ type: 'call', call: id, request });
    });
  const store = new WorkerStore({ ...setup, call, damaged: (damage) => send({ type: 'damaged', damage }) });
  const hashing = new Worker(workerEntry(), { workerData: { ...setup, role: 'hash' }, name: 'svc-hash' });
  hashing.unref();
  const site = { store, split: setup.split, hasher: new RemoteHasher(hashing) };

  const start = async (job: number, operation: Parameters<typeof runOperation>[1]): Promise<void> => {
    const queue = new BatchQueue((bytes) => send({ type: 'taken', job, bytes }, [bytes]));
    queues.set(job, queue);
    try {
      const result = await runOperation(site, operation, { nextBatch: () => queue.next() });
      send({ type: 'done', job, result });
    } catch (error) {
      send({
        type: 'failed',
        job,
        call: error instanceof CallFailed ? error.call : undefined,
        damage: isDamage(error) || error instanceof CorruptTableError,
        message: (error as Error).message,
      });
    } finally {
      queues.delete(job);
    }
  };

  port.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'start':
        void start(message.job, message.operation);
        break;
      case 'batch':
        queues.get(message.job)?.push(message.bytes, message.length);
        break;
      case 'end':
        queues.get(message.job)?.end(false);
        break;
      case 'cancel':
        queues.get(message.job)?.end(true);
        break;
      case 'answer':
        calls.get(message.call)?.(message.failed);
        calls.delete(message.call);
        break;
    }
  });
  send({ type: 'ready' });
}
