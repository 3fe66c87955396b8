import { readdirSync, readFileSync } from 'node:fs';

/** Anonymous memory of a server's processes, in MB: what it holds, without the mapped pages of its files. And their time. */
export class ServerMemory {
  readonly #root: number;

  constructor(root: number) {
    this.#root = root;
  }

  now(): number {
    return sum(this.#processes().map(anonymousMegabytes));
  }

  /** Processor time of all of them so far, in ms. */
  processorMs(): number {
    return sum(this.#processes().map(processorMs));
  }

  /** The largest of the processes that answer requests. */
  largestWorker(): number {
    const workers = this.#processes().filter((pid) => pid !== this.#root);
    return Math.max(...workers.map(anonymousMegabytes));
  }

  /** The most seen while `work` ran, looking every 100 ms. */
  async peakDuring<T>(work: () => Promise<T>): Promise<{ peak: number; result: T }> {
    const processes = this.#processes();
    const look = (): number => sum(processes.map(anonymousMegabytes));
    let peak = look();
    const timer = setInterval(() => {
      peak = Math.max(peak, look());
    }, 100);
    try {
      const result = await work();
      return { peak: Math.max(peak, look()), result };
    } finally {
      clearInterval(timer);
    }
  }

  #processes(): number[] {
    const children = readdirSync('/proc').filter(
      (name) => /^\d+$/.test(name) && parentOf(name) === this.#root,
    );
    return [this.#root, ...children.map(Number)];
  }
}

function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    // The process ended while we looked.
    return 0;
  }
}

/** A tick of the kernel's accounts. */
const tickMs = 10;

function processorMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return 0;
  }
}

function anonymousMegabytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
