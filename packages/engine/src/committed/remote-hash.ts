import { hashBufferSize, type RecordHash } from '@svc/sstable';
import type { Worker } from 'node:worker_threads';
import type { Hasher } from './tree-writer.ts';
import type { FromHasher, ToHasher } from './worker-messages.ts';

/** Pieces on their way to the hashing thread before the writer waits: a few MiB. */
const maxInFlight = 24;
const maxSpares = 8;

/** Hands the hashing of records to another thread. */
export class RemoteHasher implements Hasher {
  readonly #worker: Worker;
  readonly #spares: Buffer[] = [];
  readonly #waiting = new Map<number, (digest: string) => void>();
  readonly #failed: Promise<never>;
  #wake: (() => void) | undefined;
  #next = 0;
  #inFlight = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#failed = new Promise((_, reject) => {
      worker.once('error', reject);
    });
    this.#failed.catch(() => undefined);
    worker.on('message', (message: FromHasher) => this.#receive(message));
  }

  get isBusy(): boolean {
    return this.#inFlight >= maxInFlight;
  }

  async ready(): Promise<void> {
    while (this.isBusy) {
      const less = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await Promise.race([less, this.#failed]);
    }
  }

  newHash(): RecordHash {
    const hash = this.#next++;
    return {
      update: (buffer, start, end) => {
        this.#inFlight++;
        const bytes = buffer.buffer as ArrayBuffer;
        const offset = buffer.byteOffset;
        this.#post({ type: 'update', hash, bytes, start: offset + start, end: offset + end }, [bytes]);
        return this.#spares.pop() ?? Buffer.allocUnsafeSlow(hashBufferSize);
      },
      digest: (last) => {
        const digest = new Promise<string>((resolve) => {
          this.#waiting.set(hash, resolve);
        });
        this.#post({ type: 'digest', hash, last });
        return Promise.race([digest, this.#failed]);
      },
    };
  }

  #receive(message: FromHasher): void {
    if (message.type === 'digest') {
      this.#waiting.get(message.hash)?.(message.digest);
      this.#waiting.delete(message.hash);
      return;
    }
    this.#inFlight--;
    if (this.#spares.length < maxSpares) this.#spares.push(Buffer.from(message.bytes));
    this.#wake?.();
  }

  #post(message: ToHasher, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
