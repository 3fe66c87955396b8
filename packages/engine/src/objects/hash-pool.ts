import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { AnyDigestName } from './digests.ts';
import type { HashAnswer, HashRequest, HashWorkerData } from './hash-worker.ts';

const slotBytes = 256 * 1024;
const slotCount = 32;

interface Hasher {
  readonly worker: Worker;
  readonly job: number;
}

/**
 * Hashes large bodies in other threads so that the event loop stays free. Chunks are copied into slots of shared
 * memory; a slot is free again when every digest of its body has taken it, and a body waits while none is free.
 */
export class HashPool {
  #memory: SharedArrayBuffer | undefined;
  #free = allSlots();
  readonly #users = new Int32Array(slotCount);
  #waiting: { resolve: (slot: number) => void; reject: (error: Error) => void }[] = [];
  readonly #results = new Map<
    number,
    { resolve: (digest: Buffer) => void; reject: (error: Error) => void }
  >();
  readonly #size: number;
  #workers: Worker[] = [];
  #jobs = 0;
  #turn = 0;
  #closed = false;

  constructor(size = Math.max(1, Math.min(4, availableParallelism()))) {
    this.#size = size;
  }

  /** Starts hashing one body with several digests, each in a thread of its own. */
  open(names: readonly AnyDigestName[]): PooledHash {
    if (this.#closed) throw new Error('hash pool is closed');
    this.#start();
    const hashers = names.map((name): Hasher => {
      const worker = this.#workers[this.#turn % this.#workers.length];
      if (worker === undefined) throw new Error('hash pool has no threads');
      this.#turn += 1;
      this.#jobs += 1;
      post(worker, { kind: 'open', job: this.#jobs, name });
      return { worker, job: this.#jobs };
    });
    return new PooledHash(this, hashers);
  }

  /** Copies as much of `chunk` as one slot holds and hands it to the hashers; returns how much that was. */
  async feed(hashers: readonly Hasher[], chunk: Uint8Array): Promise<number> {
    if (!hashers.every(({ worker }) => this.#workers.includes(worker))) {
      throw new Error('the hashing thread was lost');
    }
    const slot =
      this.#free.pop() ??
      (await new Promise<number>((resolve, reject) => this.#waiting.push({ resolve, reject })));
    const length = Math.min(chunk.length, slotBytes);
    new Uint8Array(this.#sharedMemory(), slot * slotBytes, length).set(
      length === chunk.length ? chunk : chunk.subarray(0, length),
    );
    this.#users[slot] = hashers.length;
    for (const { worker, job } of hashers) post(worker, { kind: 'chunk', job, slot, length });
    return length;
  }

  finish(hasher: Hasher): Promise<Buffer> {
    if (!this.#workers.includes(hasher.worker))
      return Promise.reject(new Error('the hashing thread was lost'));
    return new Promise((resolve, reject) => {
      this.#results.set(hasher.job, { resolve, reject });
      post(hasher.worker, { kind: 'finish', job: hasher.job });
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#abandon(new Error('hash pool is closed'));
  }

  /** Fails every body under way and forgets the threads; the next body starts new ones. */
  async #abandon(reason: Error): Promise<void> {
    const workers = this.#workers;
    const [results, waiting] = [[...this.#results.values()], this.#waiting];
    this.#workers = [];
    this.#results.clear();
    this.#waiting = [];
    this.#free = allSlots();
    this.#users.fill(0);
    for (const { reject } of [...results, ...waiting]) reject(reason);
    await Promise.all(workers.map((worker) => worker.terminate()));
  }

  #start(): void {
    while (this.#workers.length < this.#size) {
      const workerData: HashWorkerData = { memory: this.#sharedMemory(), slotBytes };
      const worker = new Worker(workerEntry(), { workerData });
      worker.on('message', (answer: HashAnswer) => {
        if (this.#workers.includes(worker)) this.#receive(answer);
      });
      // A lost thread takes its share of every slot with it, so all of them start over.
      worker.on('error', (error: Error) => void this.#abandon(error));
      worker.unref();
      this.#workers.push(worker);
    }
  }

  /** Made on first use: many engines never see a large body. */
  #sharedMemory(): SharedArrayBuffer {
    this.#memory ??= new SharedArrayBuffer(slotBytes * slotCount);
    return this.#memory;
  }

  #receive(answer: HashAnswer): void {
    if (answer.kind === 'digest') {
      this.#results.get(answer.job)?.resolve(Buffer.from(answer.digest));
      this.#results.delete(answer.job);
      return;
    }
    const left = (this.#users[answer.slot] ?? 1) - 1;
    this.#users[answer.slot] = left;
    if (left > 0) return;
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(answer.slot);
    else next.resolve(answer.slot);
  }
}

function allSlots(): number[] {
  return Array.from({ length: slotCount }, (_, slot) => slot);
}

function post(worker: Worker, request: HashRequest): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  worker.postMessage(request);
}

/** The digests of one body in the making. */
export class PooledHash {
  readonly #pool: HashPool;
  readonly #hashers: readonly Hasher[];

  constructor(pool: HashPool, hashers: readonly Hasher[]) {
    this.#pool = pool;
    this.#hashers = hashers;
  }

  async update(chunk: Uint8Array): Promise<void> {
    let rest = chunk;
    while (rest.length > 0) rest = rest.subarray(await this.#pool.feed(this.#hashers, rest));
  }

  /** One digest per name given to `open`, in that order. */
  digests(): Promise<Buffer[]> {
    return Promise.all(this.#hashers.map((hasher) => this.#pool.finish(hasher)));
  }

  /** Forgets the body. */
  drop(): void {
    for (const { worker, job } of this.#hashers) post(worker, { kind: 'drop', job });
  }
}

/** Running from sources the entry is a .ts file; the bundle puts it beside itself. */
function workerEntry(): URL {
  const name = import.meta.url.endsWith('.ts') ? './hash-worker.ts' : './hash-worker.js';
  return new URL(name, import.meta.url);
}
