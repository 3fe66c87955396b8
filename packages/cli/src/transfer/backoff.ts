import { setTimeout as pause } from 'node:timers/promises';

const firstMs = 100;
const mostMs = 2000;
const inAllMs = 30_000;

/** Waits between the tries of one transfer: from 100 ms to 2 s, giving up after 30 s in all. */
export class Backoff {
  readonly #started = Date.now();
  #nextMs = firstMs;

  /** Rethrows an error of the file system, or any error once the time is up. */
  async wait(error: unknown, signal: AbortSignal | undefined): Promise<void> {
    const { code = '' } = error as { code?: string };
    const isFileError = /^(ENOSPC|EDQUOT|EIO|EFBIG|EBADF|EROFS|EACCES|EPERM)$/.test(code);
    if (isFileError || Date.now() - this.#started + this.#nextMs > inAllMs) throw error;
    await pause(this.#nextMs, undefined, { signal });
    this.#nextMs = Math.min(this.#nextMs * 2, mostMs);
  }
}
