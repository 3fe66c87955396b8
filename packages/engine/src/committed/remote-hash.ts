import { hashBufferSize, LocalRecordHash, type RecordHash } from '@svc/sstable';
import type { Worker } from 'node:worker_threads';
import type { FromHasher, ToHasher } from './worker-messages.ts';

/** Bytes on their way to the hashing thread; past it the caller hashes itself, which keeps memory bounded. */
const maxInFlight = 16;

/** Hands the hashing of records to another thread. */
export class RemoteHasher {
  readonly #worker: Worker;
  readonly #spares: Buffer[] = [];
  readonly #waiting = new Map<number, (digest: string) => void>();
  readonly #failed: Promise<never>;
  #next = 0;
  #inFlight = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#failed = new Promise((_, reject) => worker.once('error', reject));
    this.#failed.catch(() => undefined);
    worker.on('message', (message: FromHasher) => {
      if (message.type === 'spare') {
        this.#inFlight--;
        if (this.#spares.length < 4) this.#spares.push(Buffer.from(message.bytes));
        return;
      }
      this.#waiting.get(message.hash)?.(message.digest);
      this.#waiting.delete(message.hash);
    });
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
        const digest = new Promise<string>((resolve) => this.#waiting.set(hash, resolve));
        this.#post({ type: 'digest', hash, last });
        return Promise.race([digest, this.#failed]);
      },
    };
  }

  /** Too many bytes wait: hash the next range here. */
  get isBusy(): boolean {
    return this.#inFlight >= maxInFlight;
  }

  #post(message: ToHasher, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}

/** Hashes here when the other thread lags behind. */
export function chooseHash(hasher: RemoteHasher | undefined): RecordHash {
  return hasher === undefined || hasher.isBusy ? new LocalRecordHash() : hasher.newHash();
}
