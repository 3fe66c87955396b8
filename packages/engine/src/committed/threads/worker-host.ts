import { Worker } from 'node:worker_threads';
import { EngineError } from '../../errors.ts';
import type { MainStore } from '../store/main-store.ts';
import type { Operation, OperationResult } from '../operations/operations.ts';
import { batchSize, PackedBatch, type Packer } from '../operations/packed-changes.ts';
import { Pace } from '../pace.ts';
import { workerEntry } from './worker-entry.ts';
import type { FromWorker, ToWorker, WorkerCall, WorkerSetup } from './worker-messages.ts';

/** Batches on their way at once: enough that neither side waits, few enough to bound memory. */
const maxBatchesInFlight = 6;

interface Job {
  readonly done: (result: OperationResult) => void;
  readonly failed: (error: unknown) => void;
  inFlight: number;
  readonly spares: ArrayBuffer[];
  wake: (() => void) | undefined;
  finished: boolean;
}

/** The main thread's side of a tree worker. */
export class WorkerHost {
  readonly #store: MainStore;
  readonly #setup: WorkerSetup;
  readonly #jobs = new Map<number, Job>();
  /** Errors of calls made for the worker, until the job they belong to fails. */
  readonly #callErrors = new Map<number, unknown>();
  #worker: Worker | undefined;
  #ready = false;
  #nextJob = 0;

  constructor(store: MainStore, setup: WorkerSetup) {
    this.#store = store;
    this.#setup = setup;
  }

  /** True once the thread is up, so that handing it work costs no start-up time. */
  get isReady(): boolean {
    return this.#ready;
  }

  /** Starts the thread unless it runs. It never keeps the process alive while idle. */
  start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(workerEntry(), { workerData: this.#setup, name: 'svc-trees' });
    this.#worker = worker;
    worker.on('message', (message: FromWorker) => this.#receive(worker, message));
    worker.on('error', (error: Error) => this.#lost(worker, error));
    worker.on('exit', () => this.#lost(worker, new Error('the tree worker ended')));
    worker.unref();
    return worker;
  }

  /** Runs an operation; `first` and what `packer` yields after it are its changes. */
  async run(operation: Operation, first?: PackedBatch, packer?: Packer): Promise<OperationResult> {
    const worker = this.start();
    const id = this.#nextJob++;
    const outcome = Promise.withResolvers<OperationResult>();
    // It may fail while changes are still being passed on; it is awaited after that.
    outcome.promise.catch(() => undefined);
    const job: Job = {
      done: outcome.resolve,
      failed: outcome.reject,
      inFlight: 0,
      spares: [],
      wake: undefined,
      finished: false,
    };
    this.#jobs.set(id, job);
    worker.ref();
    try {
      this.#send({ type: 'start', job: id, operation });
      if (first !== undefined) await this.#feed(id, job, first, packer);
      return await outcome.promise;
    } finally {
      job.finished = true;
      this.#jobs.delete(id);
      if (this.#jobs.size === 0) worker.unref();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#ready = false;
    await worker?.terminate();
  }

  async #feed(id: number, job: Job, first: PackedBatch, packer: Packer | undefined): Promise<void> {
    const pace = new Pace();
    let batch = first;
    const pass = async (): Promise<void> => {
      const bytes = batch.bytes.buffer as ArrayBuffer;
      this.#send({ type: 'batch', job: id, bytes, length: batch.length }, [bytes]);
      job.inFlight++;
      while (job.inFlight >= maxBatchesInFlight && !job.finished) {
        await new Promise<void>((resolve) => {
          job.wake = resolve;
        });
      }
      const spare = job.spares.pop();
      batch = new PackedBatch(
        spare === undefined || spare.byteLength < batchSize ? undefined : Buffer.from(spare),
      );
    };
    try {
      const moreToCome = (): boolean => packer !== undefined && !packer.ended && !job.finished;
      while (moreToCome()) {
        await packer?.fillAll(batch, pace, () => job.finished);
        if (moreToCome()) await pass();
      }
      if (batch.length > 0 && !job.finished) await pass();
      this.#send({ type: 'end', job: id });
    } catch (error) {
      this.#send({ type: 'cancel', job: id });
      throw error;
    }
  }

  #send(message: ToWorker, transfer: ArrayBuffer[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }

  #receive(worker: Worker, message: FromWorker): void {
    if (worker !== this.#worker) return;
    switch (message.type) {
      case 'ready':
        this.#ready = true;
        return;
      case 'taken': {
        const job = this.#jobs.get(message.job);
        if (job === undefined) return;
        job.inFlight--;
        job.spares.push(message.bytes);
        job.wake?.();
        return;
      }
      case 'done':
        this.#end(message.job)?.done(message.result);
        return;
      case 'failed':
        this.#end(message.job)?.failed(this.#errorOf(message));
        return;
      case 'damaged':
        this.#store.damaged(message.damage);
        return;
      case 'call':
        void this.#serve(message.call, message.request);
    }
  }

  #end(id: number): Job | undefined {
    const job = this.#jobs.get(id);
    if (job === undefined) return undefined;
    job.finished = true;
    job.wake?.();
    return job;
  }

  async #serve(call: number, request: WorkerCall): Promise<void> {
    try {
      if (request.method === 'publish') await this.#store.publish(request.namespace, request.table);
      else await this.#store.fetch(request.namespace, request.kind, request.id, () => undefined);
      this.#send({ type: 'answer', call, failed: false });
    } catch (error) {
      this.#callErrors.set(call, error);
      this.#send({ type: 'answer', call, failed: true });
    }
  }

  #errorOf(message: Extract<FromWorker, { type: 'failed' }>): unknown {
    if (message.call !== undefined) {
      const error = this.#callErrors.get(message.call);
      this.#callErrors.clear();
      if (error !== undefined) return error;
    }
    if (message.damage) return new EngineError('corrupt', message.message, { subject: 'storage' });
    return new Error(message.message);
  }

  #lost(worker: Worker, error: Error): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#ready = false;
    for (const [id, job] of this.#jobs) {
      job.failed(new Error(`the thread that works on trees ended: ${error.message}`, { cause: error }));
      this.#end(id);
    }
  }
}
