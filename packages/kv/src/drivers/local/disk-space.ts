import { statfs } from 'node:fs/promises';
import { KvError } from '../../errors.ts';

/** Writes stop while less than this is free: LMDB may bring the process down when a write of its own fails. */
const reserveBytes = 64 * 1024 * 1024;
const refreshMs = 1000;

export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Refuses writes on a disk that is about to be full. Looks at the disk at most once a second, beside the writes. */
export class DiskSpace {
  readonly #path: string;
  readonly #readFree: (path: string) => Promise<number>;
  readonly #now: () => number;
  #full = false;
  #nextLook = 0;

  constructor(path: string, readFree = freeBytes, now: () => number = Date.now) {
    this.#path = path;
    this.#readFree = readFree;
    this.#now = now;
  }

  /** Throws while the disk is known to be full. */
  require(): void {
    const now = this.#now();
    if (now >= this.#nextLook) {
      this.#nextLook = now + refreshMs;
      void this.look();
    }
    if (this.#full) throw this.#refusal();
  }

  /** After a write has failed: the refusal when that is because the disk is full. */
  async whenFull(): Promise<KvError | undefined> {
    await this.look();
    return this.#full ? this.#refusal() : undefined;
  }

  #refusal(): KvError {
    return new KvError(
      'no_space',
      `key-value store ${this.#path}: the disk is full (less than 64 MiB free) and nothing was written; ` +
        'free some space and try again',
    );
  }

  async look(): Promise<void> {
    try {
      this.#full = (await this.#readFree(this.#path)) < reserveBytes;
    } catch {
      // A folder that cannot be asked tells more when it is written to.
      this.#full = false;
    }
  }
}
