import { readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { getPriority, setPriority } from 'node:os';

/** What a script may use before it must not hold up others any more, and how often that is looked at. */
const usualMs = 100;
const lookMs = 50;
/** The kernel counts processor time in hundredths of a second for everybody who asks. */
const tickMs = 10;
const lowest = 19;

/** The system's number of the calling thread; undefined where a thread has no priority of its own. */
export function ownThreadId(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    return undefined;
  }
}

/**
 * Lets a thread whose script computes for long run only while nobody else in the system wants to: requests are served
 * as if it were not there. Scripts that wait for answers keep their priority.
 */
export class ThreadPriority {
  readonly #thread: number;
  #timer: NodeJS.Timeout | undefined;
  #isLow = false;

  constructor(thread: number) {
    this.#thread = thread;
  }

  /** A script begins. */
  watch(): void {
    let before: number | undefined;
    this.#timer = setInterval(() => {
      const used = this.#usedMs();
      before ??= used;
      if (used === undefined || before === undefined || used - before < usualMs) return;
      clearInterval(this.#timer);
      this.#isLow = this.#set(lowest);
    }, lookMs).unref();
  }

  /** The script is over. False when the thread cannot be given back what was taken from it. */
  restore(): boolean {
    clearInterval(this.#timer);
    if (!this.#isLow) return true;
    // Only the privileged may.
    this.#isLow = !this.#set(getPriority(process.pid));
    return !this.#isLow;
  }

  #usedMs(): number | undefined {
    try {
      const text = readFileSync(`/proc/self/task/${this.#thread}/stat`, 'latin1');
      // The name of the thread, in parentheses, may hold spaces.
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return (Number(fields[11]) + Number(fields[12])) * tickMs;
    } catch {
      return undefined;
    }
  }

  #set(priority: number): boolean {
    try {
      setPriority(this.#thread, priority);
      return true;
    } catch {
      return false;
    }
  }
}
