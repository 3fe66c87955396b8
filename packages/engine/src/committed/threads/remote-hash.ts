import type { RecordHash, TableCheckpoint } from '@svc/sstable';
import type { Worker } from 'node:worker_threads';
import type { Hasher } from '../operations/tree-writer.ts';
import type { FromHasher, ToHasher } from './worker-messages.ts';

/** Pieces on their way to the hashing thread before the writer waits: a few MiB. */
const maxInFlight = 24;
/** Pieces kept to be filled again: as many as can be on their way, since a fresh one costs as much as copying into it. */
const maxSpares = maxInFlight;
/** What most pieces need; a larger one is made to measure. */
const pieceSize = 256 * 1024;
/** Hash states kept over there, half a KiB each: those of some 20 million records. */
const maxStates = 20_000;

interface KeptStates {
  /** The hash that had them. */
  readonly hash: number;
  readonly fileSize: number;
  readonly checkpoints: readonly TableCheckpoint[];
}

/** Hands the hashing of records to another thread. */
export class RemoteHasher implements Hasher {
  readonly #worker: Worker;
  readonly #spares: ArrayBuffer[] = [];
  readonly #waiting = new Map<number, PromiseWithResolvers<string>>();
  /** Of everybody who waits to send: trees are written side by side. */
  #wakes: PromiseWithResolvers<void>[] = [];
  #failure: Error | undefined;
  #next = 0;
  #inFlight = 0;
  /** Tables whose states are kept over there, least recently used first. */
  readonly #kept = new Map<string, KeptStates>();
  #states = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.once('error', (error: Error) => this.#fail(error));
    worker.on('message', (message: FromHasher) => this.#receive(message));
  }

  get isBusy(): boolean {
    return this.#inFlight >= maxInFlight;
  }

  async ready(): Promise<void> {
    while (this.isBusy) {
      if (this.#failure !== undefined) throw this.#failure;
      const turn = Promise.withResolvers<void>();
      this.#wakes.push(turn);
      await turn.promise;
    }
  }

  checkpoints(id: string, fileSize: number): readonly TableCheckpoint[] {
    const known = this.#kept.get(id);
    // Equal records in a file of another size: its blocks were cut by another writer, so the checkpoints do not fit.
    if (known === undefined || known.fileSize !== fileSize) return [];
    this.#kept.delete(id);
    this.#kept.set(id, known);
    return known.checkpoints;
  }

  newHash(after?: { readonly id: string; readonly states: number }): RecordHash {
    const hash = this.#next++;
    const checkpoints: TableCheckpoint[] = [];
    if (after !== undefined) {
      const known = this.#kept.get(after.id);
      if (known === undefined) throw new Error(`no hash states of ${after.id} are kept`);
      checkpoints.push(...known.checkpoints.slice(0, after.states));
      this.#post({ type: 'resume', hash, from: known.hash, states: after.states });
    }
    return {
      update: (input, checkpoint) => {
        this.#inFlight++;
        const keep = checkpoint !== undefined;
        if (keep) checkpoints.push(checkpoint);
        const spare = this.#spares.pop();
        const bytes =
          spare !== undefined && spare.byteLength >= input.length
            ? spare
            : new ArrayBuffer(Math.max(input.length, pieceSize));
        new Uint8Array(bytes).set(input);
        this.#post({ type: 'update', hash, bytes, length: input.length, keep }, [bytes]);
      },
      digest: async (last, fileSize) => {
        if (this.#failure !== undefined) throw this.#failure;
        const digest = Promise.withResolvers<string>();
        this.#waiting.set(hash, digest);
        this.#post({ type: 'digest', hash, last });
        const id = await digest.promise;
        if (checkpoints.length > 0) this.#keep(id, { hash, fileSize, checkpoints });
        return id;
      },
      discard: () => this.#post({ type: 'forget', hash }),
    };
  }

  #keep(id: string, states: KeptStates): void {
    this.#forget(id);
    this.#kept.set(id, states);
    this.#states += states.checkpoints.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#states <= maxStates || oldest === id) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    const known = this.#kept.get(id);
    if (known === undefined) return;
    this.#kept.delete(id);
    this.#states -= known.checkpoints.length;
    this.#post({ type: 'forget', hash: known.hash });
  }

  #receive(message: FromHasher): void {
    if (message.type === 'digest') {
      this.#waiting.get(message.hash)?.resolve(message.digest);
      this.#waiting.delete(message.hash);
      return;
    }
    this.#inFlight--;
    if (this.#spares.length < maxSpares) this.#spares.push(message.bytes);
    const wakes = this.#wakes;
    this.#wakes = [];
    for (const wake of wakes) wake.resolve();
  }

  /** Only those who wait for the thread are told. */
  #fail(error: Error): void {
    this.#failure = error;
    for (const { reject } of [...this.#waiting.values(), ...this.#wakes]) reject(error);
    this.#waiting.clear();
    this.#wakes = [];
  }

  #post(message: ToHasher, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
