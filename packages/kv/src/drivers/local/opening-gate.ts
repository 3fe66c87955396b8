import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KvError } from '../../errors.ts';
import { openFileLock, type FileLock } from './file-lock.ts';

/** How often a process that writes looks whether another wants to open the store. */
const lookMs = 20;
const retryMs = 2;
const patienceMs = 30_000;

/**
 * Keeps all processes from writing while one opens the store. LMDB does not do that itself: opening reads the number
 * of the last transaction from the data file and stores it in the memory that all processes share. A transaction that
 * another process commits between these two steps would be forgotten, and the next one would overwrite its pages.
 *
 * Whoever opens holds `opening.lock` from the moment it wants to, which tells the writers to finish, and `writing.lock`
 * once they have. Writers share `writing.lock` as long as they are busy.
 */
export class OpeningGate {
  readonly #path: string;
  readonly #opening: FileLock;
  readonly #writing: FileLock;
  /** Present while this process shares `writing.lock`. */
  #looks: NodeJS.Timeout | undefined;
  #inside = 0;
  #entered = false;
  #leaving = false;
  #waiting: Promise<void> | undefined;
  #closed = false;

  constructor(path: string, opening: FileLock, writing: FileLock) {
    this.#path = path;
    this.#opening = opening;
    this.#writing = writing;
  }

  /** Runs `open` while no process writes and no other opens. */
  async whileOpening<T>(open: () => T | Promise<T>): Promise<T> {
    await this.#until(
      () => this.#opening.tryExclusive(),
      'connect_failed',
      'another process has been opening it',
    );
    try {
      await this.#until(
        () => this.#writing.tryExclusive(),
        'connect_failed',
        'a process that uses it has not paused its writes',
      );
      try {
        return await open();
      } finally {
        this.#writing.release();
      }
    } finally {
      this.#opening.release();
    }
  }

  /** Before a write. False when it has to wait, with `enter`. */
  tryEnter(): boolean {
    this.#check();
    if (this.#looks === undefined) {
      if (!this.#opening.isFree() || !this.#writing.tryShared()) return false;
      this.#looks = setInterval(() => this.#look(), lookMs).unref();
    } else if (this.#leaving) {
      return false;
    }
    this.#inside++;
    this.#entered = true;
    return true;
  }

  async enter(): Promise<void> {
    while (!this.tryEnter()) {
      this.#waiting ??= this.#until(
        () => this.#free(),
        'unavailable',
        'another process has been opening it',
      ).finally(() => (this.#waiting = undefined));
      await this.#waiting;
    }
  }

  /** After a write, whether it succeeded or not. */
  leave(): void {
    this.#inside--;
    if (this.#leaving) this.#releaseWhenEmpty();
  }

  close(): void {
    this.#closed = true;
    this.#leaving = false;
    clearInterval(this.#looks);
    this.#opening.close();
    this.#writing.close();
  }

  #check(): void {
    if (this.#closed) throw new KvError('closed', `key-value store ${this.#path} is closed`);
  }

  #look(): void {
    if (!this.#entered || !this.#opening.isFree()) this.#leaving = true;
    this.#entered = this.#inside > 0;
    if (this.#leaving) this.#releaseWhenEmpty();
  }

  #releaseWhenEmpty(): void {
    if (this.#inside > 0) return;
    this.#writing.release();
    clearInterval(this.#looks);
    this.#looks = undefined;
    this.#leaving = false;
  }

  /** Whether `tryEnter` is worth another try. Others may have entered since: under load somebody is always inside. */
  #free(): boolean {
    this.#check();
    return this.#looks === undefined ? this.#opening.isFree() : !this.#leaving;
  }

  async #until(done: () => boolean, kind: 'connect_failed' | 'unavailable', reason: string): Promise<void> {
    const giveUp = performance.now() + patienceMs;
    while (!done()) {
      if (performance.now() > giveUp) {
        throw new KvError(
          kind,
          `key-value store ${this.#path}: ${reason} for ${patienceMs / 1000} seconds; ` +
            'look for a process of this machine that hangs, and stop it',
        );
      }
      await delay(retryMs);
    }
  }
}

export async function openGate(path: string): Promise<OpeningGate> {
  const [opening, writing] = await Promise.all([
    openFileLock(join(path, 'opening.lock')),
    openFileLock(join(path, 'writing.lock')),
  ]);
  return new OpeningGate(path, opening, writing);
}
