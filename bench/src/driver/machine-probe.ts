import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { median } from './api.ts';

/** More than the caches of a core hold, so that most reads go to what a machine shares with its neighbours. */
const cells = 4 << 20;
const reads = 100_000;
const everyMs = 600;

/**
 * How fast this machine is at the moment: the processor time of reads that each wait for the one before. Others on the
 * same machine slow memory down without any trace in the statistics of the operating system.
 */
export class MachineProbe {
  readonly #thread = new Worker(new URL(import.meta.url));
  #samples: number[] = [];

  constructor() {
    this.#thread.on('message', (ns: number) => this.#samples.push(ns));
  }

  /** The nanoseconds of processor time that one read has taken since the last call; not a number if nothing was read. */
  nsPerRead(): number {
    const samples = this.#samples;
    this.#samples = [];
    return median(samples);
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}

/** A ring through all cells in an order that no processor foresees. */
function makeRing(): Uint32Array {
  const order = Uint32Array.from({ length: cells }, (_, index) => index);
  for (let index = cells - 1; index > 0; index -= 1) {
    const other = Math.floor(Math.random() * index);
    const kept = order[index] ?? 0;
    order[index] = order[other] ?? 0;
    order[other] = kept;
  }
  return order;
}

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const ring = makeRing();
  let cell = 0;
  setInterval(() => {
    const before = process.threadCpuUsage();
    for (let count = 0; count < reads; count += 1) cell = ring[cell] ?? 0;
    const { user, system } = process.threadCpuUsage(before);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
    port.postMessage(((user + system) * 1000) / reads);
  }, everyMs);
}
